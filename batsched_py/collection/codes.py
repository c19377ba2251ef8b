"""Codes of what resources answer to requests, and of what becomes of placements (L24, L34)."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """Answers to a request, or to a token that is presented."""

    GRANTED = "granted"
    #: A rule of the resource's own is against it.
    REFUSED_BY_POLICY = "refused-by-policy"
    #: Others have reserved too much of it.
    NO_CAPACITY = "no-capacity"
    #: There is no such resource, or none any more.
    UNKNOWN_RESOURCE = "unknown-resource"
    #: The token was not used in time, or its block is over.
    EXPIRED = "expired"
    #: The resource took its grant back.
    CANCELLED = "cancelled"
    #: The resource granted the reservation, and refuses the start.
    START_REFUSED = "start-refused"
    #: The token is not one of this resource's, belongs to somebody else, or was used up.
    BAD_TOKEN = "bad-token"  # noqa: S105  # no password
    #: The class of the object does not create it there.
    REFUSED_BY_CLASS = "refused-by-class"
    #: Whoever asked for the schedule does not want it.
    DECLINED = "declined"
    #: The block of the token has not begun.
    TOO_EARLY = "too-early"
    #: Nobody was asked: another placement of the schedule had failed, or an earlier schedule succeeded.
    NOT_ASKED = "not-asked"

"""Codes of the answers of resources to requests, and of the outcomes of placements (L24, L34)."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """Answers to a request, or to a token that is presented."""

    GRANTED = "granted"
    #: A policy of the resource refuses it.
    REFUSED_BY_POLICY = "refused-by-policy"
    #: Other reservations leave too little of it.
    NO_CAPACITY = "no-capacity"
    #: The resource does not exist, or does no longer.
    UNKNOWN_RESOURCE = "unknown-resource"
    #: The token was not used in time, or its block is over.
    EXPIRED = "expired"
    #: The resource took its grant back.
    CANCELLED = "cancelled"
    #: The resource granted the reservation, and refuses the start.
    START_REFUSED = "start-refused"
    #: The token was not granted by this resource, belongs to another holder, or was used up.
    BAD_TOKEN = "bad-token"  # noqa: S105  # no password
    #: The class of the object does not create it on this host.
    REFUSED_BY_CLASS = "refused-by-class"
    #: The requester declined the schedule.
    DECLINED = "declined"
    #: The block of the token has not begun.
    TOO_EARLY = "too-early"
    #: No resource was asked: another placement of the schedule had failed, or an earlier schedule succeeded.
    NOT_ASKED = "not-asked"

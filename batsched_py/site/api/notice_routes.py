"""Notices over HTTP: operators publish and remove them, all users read them."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Final, TypeVar

from litestar import Controller, Response
from litestar.params import JSONBody, PathParameter
from msgspec import Meta, Struct

from batsched_py.errors import SiteError
from batsched_py.site.api.handlers import delete, get, post
from batsched_py.site.api.identity import Asking, check_operator
from batsched_py.site.api.lease_requests import read_date
from batsched_py.site.api.member_types import check_types
from batsched_py.site.api.parts import SiteParts, parts
from batsched_py.site.api.problems import refuse
from batsched_py.site.notices import LATEST, LONGEST, MOST, KeptNotice, text_fault
from batsched_py.site.site import Site
from batsched_py.text.display import shown
from batsched_py.traces.lwf_time import read_time

#: The largest number of characters of a time.
_LONGEST_TIME: Final = 100
Number = Annotated[int, PathParameter(ge=1, le=2**53, description="The number of the notice.")]
T = TypeVar("T")


class NoticeRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A notice to publish.

    Attributes:
        text: one line of printable text.
        until: when it ends, on the wall clock: a date and time, in the site's local time unless it has an offset, or
            "+" and seconds or [DD:]HH:MM:SS from now; without it, the notice is shown until it is removed.
    """

    text: Annotated[str, Meta(min_length=1, max_length=LONGEST)]
    until: Annotated[str, Meta(min_length=1, max_length=_LONGEST_TIME)] | None = None


class Notice(Struct, frozen=True):
    """A notice; dates are on the wall clock, in the site's local time with its offset.

    Attributes:
        number: assigned by the site.
        text: one line of printable text.
        by: the operator who published it.
        published: the date at which it was published.
        until: the date at which it ends; None if it is shown until it is removed.
    """

    number: int
    text: str
    by: str
    published: str
    until: str | None


class NoticeController(Controller):
    """The resource /api/notices."""

    path = "/api/notices"
    tags = ("notices",)

    @get("/", summary="List notices")
    async def listed(self, request: Asking) -> list[Notice]:
        """List the notices to all users that have not ended, in the order in which they were published."""
        return [_view(one) for one in parts(request).site.notices.current()]

    @post("/", summary="Publish a notice")
    async def publish(self, data: JSONBody[NoticeRequest], request: Asking) -> Response[Notice]:
        """Publish a notice to all users. Only for operators.

        It is saved before the answer is sent. A site has at most 20 notices.
        """
        check_operator(request)
        await check_types(request, NoticeRequest)
        if fault := text_fault(data.text):
            raise refuse(422, fault, "text")
        until = None if data.until is None else _end(data.until, time.time())
        found = parts(request)
        made = await _changed(found, partial(_add, found.site, data.text, request.user.user, until))
        return Response(_view(made), status_code=201, headers={"Location": f"/api/notices/{made.number}"})

    @delete("/{number:int}", summary="Remove a notice")
    async def remove(self, request: Asking, number: Number) -> None:
        """Remove a notice. Only for operators."""
        check_operator(request)
        found = parts(request)
        if not await _changed(found, partial(found.site.notices.remove, number)):
            raise refuse(404, f"there is no notice {number}, or it has ended")


async def _changed(found: SiteParts, change: Callable[[], T]) -> T:
    """Return the result of a change; if it cannot be written, the site ends. RequestRefusedError, SiteError."""
    try:
        return await found.read(change)
    except SiteError as error:
        raise found.site.inbox.give_up(error) from error


def _add(site: Site, text: str, by: str, until: float | None) -> KeptNotice:
    """Publish a notice; notices are changed by one thread. RequestRefusedError, SiteError."""
    if len(site.notices.current()) >= MOST:
        raise refuse(409, f"the site has {MOST} notices: remove one first")
    return site.notices.add(text, by, until)


def _end(text: str, now: float) -> float:
    """Return the end of a notice in seconds since 1970. RequestRefusedError."""
    try:
        end = now + _seconds(text[1:]) if text.startswith("+") else read_date(text)
    except ValueError as error:
        raise refuse(422, str(error), "until") from None
    if not now < end <= LATEST:
        raise refuse(422, f"must be after now, {_date(now)}, and before the year 9999, not {shown(text)}", "until")
    return end


def _seconds(text: str) -> float:
    """Return a number of seconds, or a time [DD:]HH:MM:SS, in seconds. ValueError."""
    return float(text) if text.isascii() and text.isdecimal() else float(read_time(text))


def _view(kept: KeptNotice) -> Notice:
    until = None if kept.until is None else _date(kept.until)
    return Notice(kept.number, kept.text, kept.by, _date(kept.published), until)


def _date(seconds: float) -> str:
    """Return the date of seconds since 1970, in local time with its offset."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().isoformat(timespec="seconds")

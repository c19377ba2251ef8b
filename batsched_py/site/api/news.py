"""The stream of events of a site: what has changed since the last event that a client has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import msgspec
from litestar.response import ServerSentEventMessage
from msgspec import Struct

from batsched_py.site.api.changes import SiteChange, SiteChanges
from batsched_py.site.api.lease_views import Lease
from batsched_py.site.api.schedule import LeaseBlocks
from batsched_py.site.site import Site

#: Seconds between two checks for changes, and between two events without a change.
_LOOK: Final = 0.2
_ALIVE: Final = 10.0


class ReadableChanges(Struct, frozen=True):
    """The changes of what the caller may read; lists that are only named are to be read anew.

    Attributes:
        leases: leases and jobs that are new or have changed, as in the list of leases. A reason or an estimated start
            that is different is no change.
        schedule: for each changed lease or job of anyone, its blocks.
        experiments: experiments that are new or have changed, as in the list of experiments.
        deleted: numbers of experiments that were deleted.
        queue, hosts, reservations: whether the order of the queue, the hosts in service or any reservation has changed.
    """

    leases: list[Lease]
    schedule: list[LeaseBlocks]
    experiments: list[dict[str, Any]]
    deleted: list[int]
    queue: bool
    hosts: bool
    reservations: bool


async def news(
    site: Site,
    changes: SiteChanges,
    readable: Callable[[SiteChange], ReadableChanges],
    last: str,
    clock: Callable[[], Any],
) -> AsyncIterator[ServerSentEventMessage]:
    """Yield events until the site stops.

    Args:
        site: the site.
        changes: its changes.
        readable: returns what the caller may read of a change.
        last: the id of the last event that the client has; "" for none.
        clock: returns the clock of the site.
    """
    has, noticed, silent = changes.number_of(last), site.notices.current(), 0.0
    first = True
    while site.alive and not site.leaving.is_set():
        notices = site.notices.current()
        changed = first or site.board.snapshot.number != has
        if changed or notices != noticed or silent >= _ALIVE:
            event = "change" if changed else "notice" if notices != noticed else "clock"
            data: dict[str, Any] = {"snapshot": has, "clock": clock()}
            if changed:
                change = changes.since(has)
                has, first = changes.number, False
                seen = None if change is None else readable(change)
                data |= {"snapshot": has, "changes": seen}
            yield ServerSentEventMessage(msgspec.json.encode(data).decode(), event=event, id=changes.name(has or 0))
            noticed, silent = notices, 0.0
        await asyncio.sleep(_LOOK)
        silent += _LOOK

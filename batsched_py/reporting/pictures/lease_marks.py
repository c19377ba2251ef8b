"""Marks of leases in a Gantt chart, in addition to the runs of their machines: overheads, reservations, images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.reporting.pictures.window import Window
from batsched_py.reporting.schedules.lease_tables import RUN, LeaseSpan, LeaseTables
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.lease_rows import KINDS

MarkKind = Literal["suspend", "resume", "migrate", "transfer", "shutdown", "lost", "reservation", "image"]

#: Kind of a mark -> its name in legends, in the order of legends.
MARK_NAMES: Final[Mapping[MarkKind, str]] = {
    "suspend": "suspended",
    "resume": "resumed",
    "migrate": "migrated",
    "transfer": "image transferred",
    "shutdown": "shut down",
    "lost": "work lost",
    "reservation": "reservation, from its request on",
    "image": "image kept",
}
#: Kind of a lease's span -> kind of its mark.
_KINDS: Final[Mapping[str, MarkKind]] = {
    "suspend": "suspend", "resume": "resume", "migrate-disk": "migrate", "migrate-memory": "migrate",
    "transfer": "transfer", "shutdown": "shutdown",
}  # fmt: skip


class LeaseMark(Struct, frozen=True):
    """A mark for the use of hosts by a lease or an image.

    Attributes:
        kind: the kind of the mark.
        lease: the number of the lease; 0 for an image, which belongs to no lease.
        start: the start in seconds.
        finish: the end in seconds.
        hosts: the hosts, as numbers or as places in a window.
        asked: the time of a reservation's request, else the start.
    """

    kind: MarkKind
    lease: int
    start: float
    finish: float
    hosts: HostSet
    asked: float


def lease_marks(leases: LeaseTables) -> list[LeaseMark]:
    """Return the marks of a run, those of a lease in the order of their starts, without empty ones."""
    marks = [mark for span in leases.spans for mark in _of_span(leases, span)]
    end = leases.end
    for image in leases.images:
        until = max(end, image.start) if image.end is None else image.end
        marks.append(LeaseMark("image", 0, image.start, until, HostSet.of(image.host), image.start))
    return [mark for mark in marks if mark.finish > mark.start]


def marks_in(schedule: Schedule, window: Window) -> list[LeaseMark]:
    """Return the marks that are visible in a window, with places instead of hosts."""
    if schedule.leases is None:
        return []
    places = {host: place for place, host in enumerate(window.hosts_of(schedule))}
    found = []
    for mark in lease_marks(schedule.leases):
        hosts = HostSet.from_ids(places[host] for host in mark.hosts if host in places)
        if hosts and mark.asked < window.end and mark.finish > window.begin:
            found.append(LeaseMark(mark.kind, mark.lease, mark.start, mark.finish, hosts, mark.asked))
    return found


def kinds_of(marks: Iterable[LeaseMark]) -> list[MarkKind]:
    """Return the kinds that occur, in the order of legends."""
    there = {mark.kind for mark in marks}
    return [kind for kind in MARK_NAMES if kind in there]


def _of_span(leases: LeaseTables, span: LeaseSpan) -> Iterator[LeaseMark]:
    until = leases.until(span)
    if span.kind != RUN:
        yield LeaseMark(_KINDS[span.kind], span.lease, span.start, until, span.hosts, span.start)
        return
    if span.lost:
        yield LeaseMark("lost", span.lease, span.start, until, span.hosts, span.start)
    lease = leases.leases.get(span.lease)
    if lease is not None and lease.type == KINDS[LeaseKind.ADVANCE]:
        yield LeaseMark("reservation", span.lease, span.start, until, span.hosts, min(lease.submit_time, span.start))

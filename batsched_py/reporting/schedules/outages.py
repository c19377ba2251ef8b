"""Outages: hosts that an external event made unavailable, for a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from msgspec import Struct

from batsched_py.bits import without
from batsched_py.hostset import HostSet


class Outage(Struct, frozen=True):
    """Hosts that were unavailable from `start` to `finish`, in seconds; of a window, places instead of hosts."""

    start: float
    finish: float
    hosts: HostSet


class UnavailableRow(Protocol):
    """The hosts that are unavailable from a time in seconds on: a row of decisions, or of a simulation's result."""

    @property
    def time(self) -> float:
        """Return the time."""

    @property
    def hosts(self) -> HostSet:
        """Return the hosts, all of them."""


def find_outages(rows: Iterable[UnavailableRow], end: float) -> tuple[Outage, ...]:
    """Return the outages of which the rows tell, by their start; what does not come back is out until `end`.

    Hosts that failed together and came back together are one outage.
    """
    found = sorted(_outages(rows, end), key=lambda outage: (outage.start, outage.finish))
    return tuple(outage for outage in found if outage.finish > outage.start)


def _outages(rows: Iterable[UnavailableRow], end: float) -> Iterator[Outage]:
    #: Start -> bits of the hosts that are out since then.
    since: dict[float, int] = {}
    out = 0
    for row in rows:
        now = row.hosts.bits
        for start, hosts in list(since.items()):
            if back := without(hosts, now):
                yield Outage(start, row.time, HostSet(back))
                since[start] = hosts & now
                if not since[start]:
                    del since[start]
        if failed := without(now, out):
            since[row.time] = since.get(row.time, 0) | failed
        out = now
    for start, hosts in since.items():
        yield Outage(start, max(end, start), HostSet(hosts))

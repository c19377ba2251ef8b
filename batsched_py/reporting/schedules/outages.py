"""Outages: intervals in which external events made hosts unavailable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from msgspec import Struct

from batsched_py.bits import without
from batsched_py.hostset import HostSet


class Outage(Struct, frozen=True):
    """Hosts that were unavailable from `start` to `finish`, in seconds; in a window, places instead of hosts."""

    start: float
    finish: float
    hosts: HostSet


class UnavailableRow(Protocol):
    """A row of decisions, or of a simulation's result: a time in seconds, and all unavailable hosts from then on."""

    @property
    def time(self) -> float:
        """Return the time."""

    @property
    def hosts(self) -> HostSet:
        """Return all unavailable hosts."""


def find_outages(rows: Iterable[UnavailableRow], end: float) -> tuple[Outage, ...]:
    """Return the outages in the rows, ordered by start; hosts that do not return are unavailable until `end`.

    Hosts that failed and returned together are one outage.
    """
    found = sorted(_outages(rows, end), key=lambda outage: (outage.start, outage.finish))
    return tuple(outage for outage in found if outage.finish > outage.start)


def _outages(rows: Iterable[UnavailableRow], end: float) -> Iterator[Outage]:
    #: Start -> bits of the hosts that are unavailable since then.
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

"""The future of an availability, cut into slices while that is of use: a copy that every change is made in, too."""

from __future__ import annotations

from batsched_py.planning.future.host_slices import HostSlices
from batsched_py.planning.future.slices import CountSlices


class Copies:
    """Slices by host and by number of hosts; each is None until it is asked for, and when it is not true any more.

    Whatever is not plain throws them away: work that is late, hosts that are taken for two reasons at one time.
    """

    __slots__ = ("by_host", "by_number", "late", "tangled")

    def __init__(self, *, late: bool, tangled: int) -> None:
        self.by_host: HostSlices | None = None
        self.by_number: CountSlices | None = None
        #: True if they were made while something was late: true until the next message, or until that is told.
        self.late = late
        #: Bits of hosts that, somewhere in the slices, are taken twice.
        self.tangled = tangled

    def advance(self, now: float) -> None:
        """Time has come to `now`."""
        if self.by_host is not None:
            self.by_host.advance(now)
        if self.by_number is not None:
            self.by_number.advance(now)

    def take(self, start: float, end: float, hosts: int, *, plain: bool) -> None:
        """These hosts are taken in [start, end); `plain` if all of them were free all the while."""
        if self.by_host is not None and not self.by_host.take(start, end, hosts):
            self.by_host = None
        if self.by_number is not None:
            if plain:
                self.by_number.give(start, end, -hosts.bit_count())
            else:
                self.by_number = None

    def give(self, start: float, end: float, hosts: int, *, plain: bool) -> None:
        """The reverse of `take`; `plain` if nothing else takes any of them then."""
        if hosts & self.tangled:
            self.by_host = self.by_number = None
        if self.by_host is not None:
            self.by_host.give(start, end, hosts)
        if self.by_number is not None:
            if plain:
                self.by_number.give(start, end, hosts.bit_count())
            else:
                self.by_number = None

    def claim(self, start: float, end: float, count: int) -> None:
        """So many hosts are claimed in [start, end); fewer if negative."""
        if self.by_number is not None:
            self.by_number.give(start, end, -count)

    def move(self, before: tuple[float, float, int], after: tuple[float, float, int]) -> None:
        """Hosts that were taken in [start, end), others are taken then instead, not later."""
        self.by_number = None
        if before[2] & self.tangled or (self.by_host is not None and not self.by_host.move(before, after)):
            self.by_host = None

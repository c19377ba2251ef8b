"""Occupancy of a site: which hosts are taken when, as sets of hosts that are the bits of integers."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator


class Occupancy:
    """Step function of time: hosts of which all is taken, and hosts of which a part is, or on which somebody is.

    One integer is one operation for all hosts of the site, where a question to each of them would be a call. What is
    left of a host that is taken in part is not known here.

    Attributes:
        times: where a step begins; somewhere a reservation begins or ends there.
        full, part: hosts during each step; no host is in both.
    """

    __slots__ = ("_uses", "full", "part", "times")

    def __init__(self) -> None:
        self.times: list[float] = [-math.inf]
        self.full: list[int] = [0]
        self.part: list[int] = [0]
        #: How many reservations begin or end where a step begins.
        self._uses = [1]

    def at(self, time: float) -> int:
        """Return the number of the step at an instant."""
        return bisect_right(self.times, time) - 1

    def steps(self, start: float, end: float) -> range:
        """Return the numbers of the steps that have a moment in [start, end)."""
        return range(bisect_right(self.times, start) - 1, bisect_left(self.times, end))

    def busy_at(self, time: float) -> int:
        """Return the hosts on which anybody is at an instant."""
        at = self.at(time)
        return self.full[at] | self.part[at]

    def busy(self, steps: range) -> tuple[int, int]:
        """Return the hosts that are full during some of these steps, and those that are taken in part."""
        full = part = 0
        for at in steps:
            full |= self.full[at]
            part |= self.part[at]
        return full, part

    def open(self, start: float, end: float) -> range:
        """Let steps begin at the start and the end of a reservation; return the numbers of those that it has."""
        return range(self._begin(start), len(self.times) if end == math.inf else self._begin(end))

    def close(self, start: float, end: float) -> None:
        """Join steps that began at the start or the end of a reservation, which is gone, and of no other."""
        for time in (end, start):
            at = bisect_left(self.times, time)
            if time == math.inf:
                continue
            self._uses[at] -= 1
            if not self._uses[at]:
                del self.times[at], self.full[at], self.part[at], self._uses[at]

    def take(self, steps: range, full: int, part: int) -> None:
        """Note hosts on which nobody was during these steps."""
        for at in steps:
            self.full[at] |= full
            self.part[at] |= part

    def free(self, steps: range, hosts: int) -> None:
        """Note that nobody is on these hosts during these steps."""
        for at in steps:
            if self.full[at] & hosts:
                self.full[at] ^= self.full[at] & hosts
            if self.part[at] & hosts:
                self.part[at] ^= self.part[at] & hosts

    def first_taken(self, hosts: int, time: float, seconds: float) -> Iterator[tuple[float, int]]:
        """Yield hosts on which nobody is at an instant, by the time at which somebody will be.

        Those on which nobody will be for so many seconds come last, with infinity.
        """
        times, full, part = self.times, self.full, self.part
        for at in range(self.at(time) + 1, len(times)):
            if times[at] - time >= seconds or not hosts:
                break
            taken = (full[at] | part[at]) & hosts
            if taken:
                yield times[at], taken
                hosts ^= taken
        if hosts:
            yield math.inf, hosts

    def _begin(self, time: float) -> int:
        at = bisect_left(self.times, time)
        if at < len(self.times) and self.times[at] == time:
            self._uses[at] += 1
        else:
            self.times.insert(at, time)
            self.full.insert(at, self.full[at - 1])
            self.part.insert(at, self.part[at - 1])
            self._uses.insert(at, 1)
        return at

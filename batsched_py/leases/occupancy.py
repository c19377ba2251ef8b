"""Occupancy of a site: which hosts are taken when, as sets of hosts that are the bits of integers."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

# Nearly all leases have whole hosts, and all hosts are asked the same question. One timeline for each host made that 64
# calls on a site of 64 hosts, half of the 49 s for 3 000 leases with conservative backfilling; with two integers for
# each step it took 24.7 s, all hosts in one operation (ADR 27). Hosts that are taken in part are few, and their
# timelines are asked one by one, so that leases of whole hosts do not pay for shares.
#
# Between two calls the four lists are equally long, `times` ascends from minus infinity, and `_uses` counts the
# reservations that begin or end at each step. Neighbouring steps may be equal, unlike the slots of `planning.future`: a
# step is removed when no reservation has a border there, which is found by counting and not by comparing. So a plan
# that is tried and undone leaves the same steps.
#
# `take` trusts its caller that no reservation is on these hosts during these steps. Overlaps are the table's business
# (`LeaseTable.put_back`), as only the timelines know amounts.
#
# Kept answers (for each demand and instant the hosts on which it fits) were tried and dropped: to bring them up to date
# cost most of what they saved. Cost: O(log n) to find a step, O(steps covered) for a change and for a question about a
# time span; hosts add only the length of the integers.


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

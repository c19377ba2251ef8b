"""Occupancy of a site: fully and partly occupied hosts over time, as bit sets."""

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
    """A step function of time: fully occupied hosts, and hosts that are otherwise in use.

    Hosts are the bits of integers: one operation handles all hosts of the site, instead of one call for each. The free
    capacity of a partly occupied host is not known here.

    Attributes:
        times: the begins of the steps, at starts and ends of reservations.
        full, part: fully and partly occupied hosts during each step; no host is in both.
    """

    __slots__ = ("_uses", "full", "part", "times")

    def __init__(self) -> None:
        self.times: list[float] = [-math.inf]
        self.full: list[int] = [0]
        self.part: list[int] = [0]
        #: The number of starts and ends of reservations at the begin of each step.
        self._uses = [1]

    def at(self, time: float) -> int:
        """Return the index of the step at an instant."""
        return bisect_right(self.times, time) - 1

    def steps(self, start: float, end: float) -> range:
        """Return the indices of the steps that overlap [start, end)."""
        return range(bisect_right(self.times, start) - 1, bisect_left(self.times, end))

    def busy_at(self, time: float) -> int:
        """Return the hosts that are in use at an instant."""
        at = self.at(time)
        return self.full[at] | self.part[at]

    def busy(self, steps: range) -> tuple[int, int]:
        """Return the hosts that are fully, and those that are partly occupied during any of these steps."""
        full = part = 0
        for at in steps:
            full |= self.full[at]
            part |= self.part[at]
        return full, part

    def open(self, start: float, end: float) -> range:
        """Split steps at the start and the end of a new reservation; return the indices of the steps between."""
        return range(self._begin(start), len(self.times) if end == math.inf else self._begin(end))

    def close(self, start: float, end: float) -> None:
        """Join the steps that were split only for the start or the end of a removed reservation."""
        for time in (end, start):
            at = bisect_left(self.times, time)
            if time == math.inf:
                continue
            self._uses[at] -= 1
            if not self._uses[at]:
                del self.times[at], self.full[at], self.part[at], self._uses[at]

    def take(self, steps: range, full: int, part: int) -> None:
        """Mark unused hosts as fully or partly occupied during these steps."""
        for at in steps:
            self.full[at] |= full
            self.part[at] |= part

    def free(self, steps: range, hosts: int) -> None:
        """Mark hosts as unused during these steps."""
        for at in steps:
            if self.full[at] & hosts:
                self.full[at] ^= self.full[at] & hosts
            if self.part[at] & hosts:
                self.part[at] ^= self.part[at] & hosts

    def first_taken(self, hosts: int, time: float, seconds: float) -> Iterator[tuple[float, int]]:
        """Yield hosts that are unused at an instant, grouped by the time of their next use, in ascending order.

        Hosts that stay unused for at least `seconds` come last, with infinity.
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

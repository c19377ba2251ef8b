"""The search for the first start at which the tasks of a job find places."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable

from batsched_py.bits import bit_runs
from batsched_py.hostset import HostSet
from batsched_py.model.host_room import HostRoom
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.calendar import Changes
from batsched_py.planning.future.promises import RoomSlot
from batsched_py.planning.future.room_future import RoomFuture
from batsched_py.planning.future.room_steps import Amounts
from batsched_py.planning.task_packing import Pack

# A search walks the instants at which something becomes free, and knows at each how many tasks fit on each host for the
# whole duration. From one instant to the next this number changes only on hosts where a use has ended since, and on
# hosts where a promise begins before the end of the window, which moves with the start. So both are walked once, with
# one question to a host for each. The numbers at `now` are kept by demand (`TaskSites`), and only those of changed
# hosts are computed anew: a search of EASY, which has no other promises, begins with the answer of the last one.
#
# The sum of these numbers excludes most instants. It says at least what is possible, never less, so an instant is only
# the result if `pack` finds a place for each task. Of unused hosts with equal capacities `pack` gets only as many as it
# may need, those with the lowest numbers.


class RoomSearch:
    """A search for the first start at which all tasks find places for a while.

    Args:
        future: what is free.
        wanted: what is requested.
        duration: in seconds.
        starts: starts of whole-host reservations.
        among: bits of the eligible hosts.
    """

    __slots__ = ("_among", "_duration", "_fitting", "_future", "_sites", "_starts", "_wanted")

    def __init__(self, future: RoomFuture, wanted: JobDemand, duration: float, starts: Changes, among: int) -> None:
        self._future, self._wanted, self._duration = future, wanted, duration
        self._starts = starts
        self._sites = future.sites(wanted.task)
        self._fitting = future.fitting(wanted)
        self._among = among & self._sites.capable

    def run(self, whole: Iterable[tuple[float, int]], pack: Pack, limit: float = math.inf) -> RoomSlot | None:
        """Return the first slot; None if there is none with a start at or before `limit`.

        `pack` places the tasks on hosts with enough room. `whole` are (instant, bits of the hosts without whole-host
        work or reservations from then on), from now.
        """
        future, duration = self._future, self._duration
        licences = future.licences_of(self._wanted)
        if licences is None:
            return None
        steps = iter(whole)
        time, free = next(steps)
        following = next(steps, None)
        ends = future.ends
        begun = bisect_right(future.starts.numbers, time)  # the first promise that is not yet in a window
        ended = bisect_right(ends.numbers, time)
        while True:
            begun = self._enter(time, begun)
            if self._has_licences(licences, time):
                slot = self._try(time, free, pack)
                if slot is not None:
                    return slot
            time = ends.numbers[ended] if ended < len(ends.numbers) else math.inf
            if following is not None and following[0] <= time:
                (time, free), following = following, next(steps, None)
            if time == math.inf or time > limit:
                return None
            while ended < len(ends.numbers) and ends.numbers[ended] <= time:
                self._renew(ends.items[ended].taken, time, time + duration)
                ended += 1

    def _enter(self, time: float, begun: int) -> int:
        """Count the promises that begin before the end of the window; return the first that does not."""
        starts, end = self._future.starts, time + self._duration
        while begun < len(starts.numbers) and starts.numbers[begun] < end:
            self._renew(starts.items[begun].taken, time, end)
            begun += 1
        return begun

    def _renew(self, hosts: Iterable[int], start: float, end: float) -> None:
        lines, sites, fitting = self._future.lines, self._sites, self._fitting
        for host in hosts:
            fitting.renew(host, sites.of(host, lines[host], start, end))

    def _has_licences(self, wanted: Amounts, time: float) -> bool:
        if not any(wanted):
            return True
        least = self._future.licences.least(time, time + self._duration)
        return all(need <= have for need, have in zip(wanted, least, strict=True))

    def _try(self, time: float, free: int, pack: Pack) -> RoomSlot | None:
        """Return a slot at this instant, if all tasks find places."""
        future, fitting, wanted = self._future, self._fitting, self._wanted
        open_hosts = free & self._among
        if self._starts.times:
            open_hosts &= ~self._starts.between(time, time + self._duration)
        number = fitting.total
        closed = future.lined & self._sites.capable & ~open_hosts
        if closed:
            number -= sum(fitting.on(host) for host in HostSet(closed))
        empty = open_hosts & ~future.lined
        if number < wanted.tasks and empty:
            for bits, each in self._sites.for_empty:
                number += (empty & bits).bit_count() * fitting.limited(each)
        if number < wanted.tasks:
            return None
        places = pack(wanted, self._rooms(time, open_hosts))
        return None if places is None else RoomSlot(time, time + self._duration, places, wanted)

    def _rooms(self, time: float, open_hosts: int) -> dict[int, HostRoom]:
        """Return the rooms of hosts where a task fits, by number; of equal unused hosts as many as there are tasks."""
        future, end = self._future, time + self._duration
        hosts = [host for host, number in self._fitting.counts.items() if number and open_hosts >> host & 1]
        empty = open_hosts & ~future.lined
        for bits, _ in self._sites.for_empty:
            hosts += _lowest(empty & bits, self._wanted.tasks)
        return {host: future.least(host, time, end) for host in sorted(hosts)}


def _lowest(hosts: int, number: int) -> list[int]:
    """Return the lowest of these hosts, at most that number."""
    found: list[int] = []
    for low, high in bit_runs(hosts) if hosts else ():
        found += range(low, min(high, low + number - len(found) - 1) + 1)
        if len(found) >= number:
            break
    return found

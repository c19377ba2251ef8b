"""The search for the first start at which the tasks of a job find places."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable

from batsched_py.bits import bit_runs
from batsched_py.hostset import HostSet
from batsched_py.model.host_room import HostRoom, Places
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.calendar import Changes
from batsched_py.planning.future.promises import RoomSlot
from batsched_py.planning.future.room_future import RoomFuture
from batsched_py.planning.future.room_levels import FEW, RoomLevels
from batsched_py.planning.future.room_steps import Amounts
from batsched_py.planning.task_packing import Pack

# A search walks the instants at which something becomes free. Of most hosts it is known which of them have room now for
# one task, for two, and so on, as sets of bits (`RoomLevels`), and nothing changes there. The others are *touched*: a
# use has ended since, or a promise begins before the end of the window, which moves with the start. Ends and begins are
# both walked once, with one question to a host for each, so that the number of tasks that fit on touched hosts is known
# at each instant.
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
        levels: the hosts on which tasks fit now, or now and for all time.
    """

    __slots__ = (
        *("_among", "_counts", "_duration", "_fit", "_fitting", "_future", "_levels", "_most", "_starts"),
        *("_total", "_touched", "_wanted"),
    )

    def __init__(
        self,
        future: RoomFuture,
        wanted: JobDemand,
        duration: float,
        starts: Changes,
        among: int,
        levels: RoomLevels,
    ) -> None:
        self._future, self._wanted, self._duration, self._starts = future, wanted, duration, starts
        self._levels = levels
        self._among = among & levels.capable(wanted.task)
        self._fit = future.fit(wanted.task)
        #: The largest number of tasks on one host.
        self._most = 1 if wanted.spread else wanted.tasks
        #: Bits of hosts with room for one task now, for two, and so on; only the first if there are many.
        self._fitting: list[int] = []
        #: Touched host -> number of tasks that fit there, their sum, and bits of these hosts.
        self._counts: dict[int, int] = {}
        self._total = self._touched = 0

    def run(
        self, whole: Iterable[tuple[float, int]], pack: Pack, limit: float = math.inf, first: float = -math.inf
    ) -> RoomSlot | None:
        """Return the first slot with a start from `first` to `limit`; None if there is none.

        `pack` places the tasks on hosts with enough room. `whole` are (instant, bits of the hosts without whole-host
        work or reservations from then on), from now.
        """
        future, duration = self._future, self._duration
        licences = future.licences_of(self._wanted)
        if licences is None:
            return None
        self._look_at()
        steps = iter(whole)
        time, free = next(steps)
        following = next(steps, None)
        ends = future.ends
        begun = bisect_right(future.starts.numbers, time)  # the first promise that is not yet in a window
        ended = bisect_right(ends.numbers, time)
        while True:
            begun = self._enter(time, begun)
            if time >= first and self._has_licences(licences, time):
                slot = self._try(time, free, pack)
                if slot is not None:
                    return slot
            before, time = time, ends.numbers[ended] if ended < len(ends.numbers) else math.inf
            if before < first < time and (following is None or first < following[0]):
                time = first
            if following is not None and following[0] <= time:
                (time, free), following = following, next(steps, None)
            if time == math.inf or time > limit:
                return None
            while ended < len(ends.numbers) and ends.numbers[ended] <= time:
                self._renew(ends.items[ended].taken, time, time + duration)
                ended += 1

    def run_now(self, free: int, pack: Pack) -> Places | None:
        """Return the places of all tasks if they may start now, on these hosts without whole-host work or reservations.

        If the levels are those for all time, no question to single hosts is needed.
        """
        future, wanted, now = self._future, self._wanted, self._future.now
        licences = future.licences_of(wanted)
        if licences is None or not self._has_licences(licences, now):
            return None
        self._look_at()
        if self._untouched(free & self._among) < wanted.tasks:
            return None
        if not self._levels.lasting:
            self._enter(now, bisect_right(future.starts.numbers, now))
        slot = self._try(now, free, pack)
        return None if slot is None else slot.places

    def _look_at(self) -> None:
        """Take the hosts with room from the levels."""
        task, levels = self._wanted.task, self._levels
        self._fitting = [levels.fitting(task)]
        if 1 < self._most <= FEW:
            while self._fitting[-1] and len(self._fitting) < self._most:
                self._fitting.append(levels.fitting(task, len(self._fitting) + 1))

    def _enter(self, time: float, begun: int) -> int:
        """Count the promises that begin before the end of the window; return the first that does not."""
        starts, end = self._future.starts, time + self._duration
        while begun < len(starts.numbers) and starts.numbers[begun] < end:
            self._renew(starts.items[begun].taken, time, end)
            begun += 1
        return begun

    def _renew(self, hosts: Iterable[int], start: float, end: float) -> None:
        lines, counts, among, most = self._future.lines, self._counts, self._among, self._most
        for host in hosts:
            if among >> host & 1:
                line = lines[host]
                free = line.least(start, end) if line.promises else line.at(start)
                number = min(self._fit.most(free, line.capacity), most)
                self._total += number - counts.get(host, 0)
                counts[host] = number
                self._touched |= 1 << host

    def _has_licences(self, wanted: Amounts, time: float) -> bool:
        if not any(wanted):
            return True
        least = self._future.licences.least(time, time + self._duration)
        return all(need <= have for need, have in zip(wanted, least, strict=True))

    def _try(self, time: float, free: int, pack: Pack) -> RoomSlot | None:
        """Return a slot at this instant, if all tasks find places."""
        open_hosts = free & self._among
        if self._starts.times:
            open_hosts &= ~self._starts.between(time, time + self._duration)
        number = self._total
        closed = self._touched & ~open_hosts
        if closed:
            number -= sum(self._counts[host] for host in HostSet(closed))
        number += self._untouched(open_hosts & ~self._touched)
        if number < self._wanted.tasks:
            return None
        places = pack(self._wanted, self._rooms(time, open_hosts))
        return None if places is None else RoomSlot(time, time + self._duration, places, self._wanted)

    def _untouched(self, hosts: int) -> int:
        """Return the number of tasks that fit on hosts on which nothing changes."""
        if self._most <= FEW:
            return sum([(hosts & bits).bit_count() for bits in self._fitting])
        fit, levels, most = self._fit, self._levels, self._most
        return sum([min(fit.most(*levels.free(host)), most) for host in HostSet(hosts & self._fitting[0])])

    def _rooms(self, time: float, open_hosts: int) -> dict[int, HostRoom]:
        """Return the rooms of hosts where a task fits, by number; of equal unused hosts as many as there are tasks."""
        future, end = self._future, time + self._duration
        untouched = open_hosts & ~self._touched & self._fitting[0]
        unused = untouched & self._levels.unused & ~future.promised
        hosts = [host for host, number in self._counts.items() if number and open_hosts >> host & 1]
        hosts += HostSet(untouched ^ unused)
        if unused:
            for _, bits in future.classes.values():
                hosts += _lowest(unused & bits, self._wanted.tasks)
        hosts.sort()
        touched, now = self._touched, future.now
        return {host: future.room(host, time if touched >> host & 1 else now, end) for host in hosts}


def _lowest(hosts: int, number: int) -> list[int]:
    """Return the lowest of these hosts, at most that number."""
    found: list[int] = []
    for low, high in bit_runs(hosts) if hosts else ():
        found += range(low, min(high, low + number - len(found) - 1) + 1)
        if len(found) >= number:
            break
    return found

"""The search for the first start at which the tasks of a job find places."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Final

from batsched_py.bits import bit_runs
from batsched_py.hostset import HostSet
from batsched_py.model.host_room import HostRoom, Places
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.calendar import Changes
from batsched_py.planning.future.promises import RoomSlot
from batsched_py.planning.future.room_future import RoomFuture
from batsched_py.planning.future.room_levels import FEW, RoomLevels
from batsched_py.planning.future.room_steps import Amounts
from batsched_py.planning.task_packing import Pack, Packer

# A search walks the instants at which something becomes free. Of most hosts it is known which of them have room now for
# one task, for two, and so on, as sets of bits (`RoomLevels`), and nothing changes there. The others are *touched*: a
# use has ended since, or a promise begins before the end of the window, which moves with the start. Ends and begins are
# both walked once, with one question to a host for each, so that the number of tasks that fit on touched hosts is known
# at each instant.
#
# The sum of these numbers excludes most instants. It says at least what is possible, never less, so an instant is only
# the result if `pack` finds a place for each task. Of unused hosts with equal capacities `pack` gets only as many as it
# may need, those with the lowest numbers.


#: The number of tasks of a host that was not touched.
_UNTOUCHED: Final = -1


class Circumstances:
    """The circumstances of a result, from which `StandingRoom` sees whether it stands.

    Attributes:
        wanted: what was requested.
        before: number of tasks that fit at the last instant before the start that was tried.
        among: bits of the eligible hosts.
        open_before, open_at: bits of those without whole-host work then, and at the start.
        rooms: host -> the room that was offered at the start.
    """

    __slots__ = ("_counts", "_fitting", "_recent", "among", "before", "open_at", "open_before", "rooms", "wanted")

    def __init__(self, wanted: JobDemand, counts: dict[int, int], recent: dict[int, int], fitting: list[int]) -> None:
        self.wanted = wanted
        self.before = self.among = self.open_at = self.open_before = 0
        self.rooms: Mapping[int, HostRoom] = {}
        self._counts, self._recent, self._fitting = counts, recent, fitting

    def opens(self, start: float, whole: Iterable[tuple[float, int]]) -> bool:
        """Return whether these steps open the same hosts before the start, and at the start."""
        before = at = 0
        for time, free in whole:
            if time > start:
                break
            at = free & self.among
            if time < start:
                before = at
        return (before, at) == (self.open_before, self.open_at)

    def number_before(self, host: int) -> int:
        """Return the number of tasks that fit on a host at the last instant before the start."""
        if not self.open_before >> host & 1:
            return 0
        number = self._recent.get(host)
        if number is None:
            number = self._counts.get(host, _UNTOUCHED)
        return sum([bits >> host & 1 for bits in self._fitting]) if number == _UNTOUCHED else number


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
        *("_among", "_counts", "_duration", "_fit", "_fitting", "_levels", "_most", "_number"),
        *(
            "_number_before",
            "_offered",
            "_open",
            "_open_before",
            "_recent",
            "_starts",
            "_total",
            "_touched",
            "_wanted",
            "future",
        ),
    )

    def __init__(
        self,
        future: RoomFuture,
        wanted: JobDemand,
        duration: float,
        starts: Changes,
        among: int,
        *,
        levels: RoomLevels,
    ) -> None:
        self.future, self._wanted, self._duration, self._starts = future, wanted, duration, starts
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
        #: Host -> its number before, for hosts that were touched at the latest instant.
        self._recent: dict[int, int] = {}
        #: The number of tasks that fitted at the latest instant that was tried and at the one before, and bits of the
        #: hosts without whole-host work then.
        self._number = self._number_before = self._open = self._open_before = 0
        #: The rooms that were offered last.
        self._offered: dict[int, HostRoom] = {}

    def found(self) -> Circumstances | None:
        """Return the circumstances of the slot that `run` has just returned; None if they are not simple.

        They are if there are neither promises nor reservations nor licences, and few tasks.
        """
        if self.future.starts.numbers or self._starts.times or self._wanted.licences or self._most > FEW:
            return None
        found = Circumstances(self._wanted, self._counts, self._recent, self._fitting)
        found.before, found.rooms = self._number_before, self._offered
        found.among = self._among
        found.open_before, found.open_at = self._open_before & self._among, self._open & self._among
        return found

    def number_of(self, host: int, free: Amounts) -> int:
        """Return the number of tasks that fit into free amounts of a host, if it can run the task."""
        return min(self._fit.most(free, self._levels.free(host)[1]), self._most)

    def run(
        self, whole: Iterable[tuple[float, int]], pack: Pack, limit: float = math.inf, first: float = -math.inf
    ) -> RoomSlot | None:
        """Return the first slot with a start from `first` to `limit`; None if there is none.

        `pack` places the tasks on hosts with enough room. `whole` are (instant, bits of the hosts without whole-host
        work or reservations from then on), from now.
        """
        future, duration = self.future, self._duration
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
            self._recent.clear()
            while ended < len(ends.numbers) and ends.numbers[ended] <= time:
                self._renew(ends.items[ended].taken, time, time + duration)
                ended += 1

    def run_now(self, free: int, pack: Pack) -> Places | None:
        """Return the places of all tasks if they may start now, on these hosts without whole-host work or reservations.

        If the levels are those for all time, no question to single hosts is needed.
        """
        future, wanted, now = self.future, self._wanted, self.future.now
        licences = future.licences_of(wanted)
        if licences is None or not self._has_licences(licences, now):
            return None
        self._look_at()
        if self._untouched(free & self._among) < wanted.tasks:
            return None
        if isinstance(pack, Packer) and (self._levels.lasting or not future.promised):
            open_hosts = free & self._among & ~self._starts.between(now, now + self._duration)
            return pack.place_lasting(wanted, future, open_hosts)
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
        starts, end = self.future.starts, time + self._duration
        while begun < len(starts.numbers) and starts.numbers[begun] < end:
            self._renew(starts.items[begun].taken, time, end, longer=True)
            begun += 1
        return begun

    def _renew(self, hosts: Iterable[int], start: float, end: float, *, longer: bool = False) -> None:
        """Count the tasks that fit on hosts in a window, which has the same start as before if it has become longer."""
        lines, counts, among, most = self.future.lines, self._counts, self._among, self._most
        recent, fit = self._recent, self._fit
        for host in hosts:
            if among >> host & 1:
                line = lines[host]
                known = counts.get(host, _UNTOUCHED)
                if longer and not known:
                    continue
                if line.promises:
                    number = min(fit.most_during(line, start, end), most)
                else:
                    number = min(fit.most(line.at(start), line.capacity), most)
                self._total += number - (known if known > 0 else 0)
                counts[host] = number
                recent.setdefault(host, known)
                self._touched |= 1 << host

    def _has_licences(self, wanted: Amounts, time: float) -> bool:
        if not any(wanted):
            return True
        least = self.future.licences.least(time, time + self._duration)
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
        self._number_before, self._number = self._number, number
        self._open_before, self._open = self._open, free
        if number < self._wanted.tasks:
            return None
        self._offered = self._rooms(time, open_hosts)
        places = pack(self._wanted, self._offered)
        return None if places is None else RoomSlot(time, time + self._duration, places, self._wanted)

    def _untouched(self, hosts: int) -> int:
        """Return the number of tasks that fit on hosts on which nothing changes."""
        if self._most <= FEW:
            return sum([(hosts & bits).bit_count() for bits in self._fitting])
        fit, levels, most = self._fit, self._levels, self._most
        return sum([min(fit.most(*levels.free(host)), most) for host in HostSet(hosts & self._fitting[0])])

    def _rooms(self, time: float, open_hosts: int) -> dict[int, HostRoom]:
        """Return the rooms of hosts where a task fits, by number; of equal unused hosts as many as there are tasks."""
        future, end = self.future, time + self._duration
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

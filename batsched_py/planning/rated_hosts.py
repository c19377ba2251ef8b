"""Rated hosts: of the hosts that tasks share, the one with the highest rate for a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from heapq import heappop, heappush
from operator import or_
from typing import Final, TypeAlias

from batsched_py.bits import bit_runs, without
from batsched_py.errors import InvariantError
from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom, Places, TaskPlace
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.room_levels import RoomLevels, capacity_classes
from batsched_py.planning.future.room_steps import RoomLayout
from batsched_py.planning.policies.rating import Rating

# A decision asks for the best host among a thousand, and few of them have room: on a machine that is full, thirty of
# 1 024. So the hosts with room are found first, by `RoomLevels`, and only these are rated. Rates are kept until a host
# changes, as one set of hosts for each rate: the best host is the lowest in the first set that has one with room.
# A rate is a whole number from 0 to 100, so there are few sets, and unused hosts with equal capacities have one rate.
#
# Each change of hosts is one entry of a log, the bits of the hosts. A demand that is asked forgets its rates of all
# hosts that changed since it was asked last; the log keeps the unions of blocks of entries for that.

#: The number of demands whose rates are kept.
_MOST_DEMANDS: Final = 2_000
#: The length of the log: in bits, and in entries.
_MOST_BITS: Final = 1 << 26
_MOST_ENTRIES: Final = 1 << 12
#: The number of entries in a block.
_BLOCK: Final = 32

#: A rate with the sign changed, and a host: the least is the best, of equal ones the host with the lowest number.
_Best: TypeAlias = tuple[int, int]


class RatedHosts:
    """The hosts that tasks share, rated for the demands of tasks.

    Args:
        capacities: resources of the hosts, by number.
        rating: the prepared selection.
        room: returns the room of a host, None if it is unused.
        levels: returns the hosts on which tasks fit, if the caller keeps them; None to keep them here.
    """

    def __init__(
        self,
        capacities: Mapping[int, HostCapacity],
        rating: Rating,
        room: Callable[[int], HostRoom | None],
        levels: Callable[[], RoomLevels] | None = None,
    ) -> None:
        self._capacities, self.rating, self._room = capacities, rating, room
        self._layout = RoomLayout(capacities.values())
        self._classes = capacity_classes(capacities, self._layout)
        self._current_levels = levels
        self._levels = RoomLevels(self._layout, capacities, self._classes) if levels is None else levels()
        #: Hosts whose levels are those of before a change.
        self._changed: set[int] = set()
        self._log = _ChangeLog(max(2 * _BLOCK, min(_MOST_ENTRIES, _MOST_BITS // (max(capacities, default=0) + 1))))
        #: What the rate of a demand depends on -> its rates; those that were used last are the last.
        self._kept: dict[tuple[int, ...], _DemandRates] = {}

    def change(self, hosts: Iterable[int]) -> None:
        """Record that tasks began or ended on hosts."""
        bits = 0
        for host in hosts:
            bits |= 1 << host
            if self._current_levels is None:
                self._changed.add(host)
        if bits:
            self._log.add(bits)

    def renew(self, rating: Rating) -> None:
        """Rate all hosts anew, by another rating."""
        self.rating = rating
        self._kept.clear()

    def find(self, task: TaskDemand, among: int) -> TaskPlace | None:
        """Return the host, of those with these bits, and the GPUs for a task; None if it fits on none of them."""
        fitting = self._fitting(task, among)
        best = self._best(self._current(task, fitting), fitting) if fitting else None
        if best is None:
            return None
        room = self._room_of(best[1])
        return TaskPlace(best[1], self.rating.gpus(room, room.needed(task)))

    def place(self, wanted: JobDemand, among: int) -> Places | None:
        """Return places of all tasks on hosts of these bits; None if some task has none.

        Each task gets the host with the highest rate after the tasks before it.
        """
        task = wanted.task
        if wanted.tasks == 1:
            place = self.find(task, among)
            return None if place is None else (place,)
        fitting = self._fitting(task, among)
        if not self._levels.may_have(wanted, fitting):
            return None
        rates = self._current(task, fitting)
        untouched = self._best(rates, fitting)
        rooms, touched, found = dict[int, HostRoom](), list[_Best](), dict[int, list[tuple[int, ...]]]()
        for _ in range(wanted.tasks):
            if touched and (untouched is None or touched[0] < untouched):
                host = heappop(touched)[1]
                room = rooms[host]
            elif untouched is not None:
                host = untouched[1]
                room = rooms[host] = self._room_of(host).copy()
                fitting ^= 1 << host
                untouched = self._best(rates, fitting)
            else:
                return None
            gpus = self.rating.gpus(room, room.needed(task))
            room.take(task, gpus)
            found.setdefault(host, []).append(gpus)
            if not (wanted.spread or room.lacking(task)):
                heappush(touched, (-rates.of(room), host))
        return tuple(TaskPlace(host, sum(gpus, ()), len(gpus)) for host, gpus in sorted(found.items()))

    def check(self) -> None:
        """Raise InvariantError if a rate that is kept is not that of the room."""
        for kept in self._kept.values():
            kept.forget(self._log.since(kept.seen))
            kept.seen = self._log.end
            for rate, bits in kept.hosts.items():
                for host in _numbers(bits):
                    if kept.of(self._room_of(host)) != rate:
                        raise InvariantError(f"host {host} is not rated {rate} for {kept.task}")

    def _fitting(self, task: TaskDemand, among: int) -> int:
        """Return the bits of hosts with room for a task."""
        levels = self._levels
        if self._current_levels is not None:
            levels = self._levels = self._current_levels()
        else:
            for host in self._changed:
                room = self._room(host)
                levels.change(host, None if room is None else self._layout.amounts(room))
            self._changed.clear()
        return levels.fitting(task) & among

    def _current(self, task: TaskDemand, fitting: int) -> _DemandRates:
        """Return the rates for a demand, with those of all hosts that fit."""
        key = (-1,) if task.exclusive else (task.cores, task.gpus, task.share)
        kept = self._kept.pop(key, None)
        if kept is None:
            kept = _DemandRates(task, self.rating)
            if len(self._kept) >= _MOST_DEMANDS:
                del self._kept[next(iter(self._kept))]
        self._kept[key] = kept
        if kept.seen != self._log.end:
            kept.forget(self._log.since(kept.seen))
            kept.seen = self._log.end
        unknown = without(fitting, kept.known)
        if unknown:
            unused = unknown & self._levels.unused
            for host in _numbers(unknown ^ unused):
                kept.put(1 << host, kept.of(self._room_of(host)))
            self._rate_unused(kept, unused)
        return kept

    def _rate_unused(self, kept: _DemandRates, hosts: int) -> None:
        """Rate unused hosts: one of each capacity."""
        if hosts.bit_count() < len(self._classes):
            for host in _numbers(hosts):
                kept.put(1 << host, kept.of_unused(self._capacities[host]))
            return
        for capacity, (_, bits) in self._classes.items():
            if hosts & bits:
                kept.put(hosts & bits, kept.of_unused(capacity))

    def _best(self, kept: _DemandRates, fitting: int) -> _Best | None:
        """Return the best of the hosts of these bits, all of which are rated; None if there are none."""
        for rate in kept.rates:
            bits = kept.hosts[rate] & fitting
            if bits:
                return -rate, (bits & -bits).bit_length() - 1
        return None

    def _room_of(self, host: int) -> HostRoom:
        room = self._room(host)
        return HostRoom(self._capacities[host]) if room is None else room


class _DemandRates:
    """The rates of hosts for one demand.

    Attributes:
        task: a task with the demand.
        rates: all rates that some host had, descending.
        hosts: rate -> bits of the hosts that have it.
        known: bits of all these hosts.
        seen: the end of the log of changes when they were computed.
    """

    __slots__ = ("_rate", "_rating", "_unused", "hosts", "known", "rates", "seen", "task")

    def __init__(self, task: TaskDemand, rating: Rating) -> None:
        self.task, self._rating = task, rating
        #: None if exclusive tasks take different amounts of different hosts.
        self._rate = None if task.exclusive else rating.rated(task)
        self.rates: list[int] = []
        self.hosts: dict[int, int] = {}
        self.known = self.seen = 0
        #: Capacity -> rate of an unused host.
        self._unused: dict[HostCapacity, int] = {}

    def of(self, room: HostRoom) -> int:
        """Return the rate of a host with this room, where the task fits."""
        rate = self._rate or self._rating.rated(room.needed(self.task))
        return rate(room)

    def of_unused(self, capacity: HostCapacity) -> int:
        """Return the rate of an unused host, where the task fits."""
        rate = self._unused.get(capacity)
        if rate is None:
            rate = self._unused[capacity] = self.of(HostRoom(capacity))
        return rate

    def forget(self, changed: int) -> None:
        """Forget the rates of hosts that changed."""
        changed &= self.known
        if changed:
            self.known ^= changed
            hosts = self.hosts
            for rate, bits in hosts.items():
                if bits & changed:
                    hosts[rate] = without(bits, changed)

    def put(self, bits: int, rate: int) -> None:
        """Keep the rate of hosts that have none."""
        self.known |= bits
        if rate in self.hosts:
            self.hosts[rate] |= bits
        else:
            self.hosts[rate] = bits
            self.rates = sorted(self.hosts, reverse=True)


class _ChangeLog:
    """The bits of hosts that changed, in the order of the changes; old changes are forgotten.

    Attributes:
        end: the number of changes so far.
    """

    __slots__ = ("_blocks", "_entries", "_most", "_start", "end")

    def __init__(self, most: int) -> None:
        self._entries: list[int] = []
        #: The unions of the first entries, of the following ones, and so on, _BLOCK each.
        self._blocks: list[int] = []
        self._start, self._most = 0, most // _BLOCK * _BLOCK
        self.end = 0

    def add(self, bits: int) -> None:
        """Add a change."""
        entries = self._entries
        if len(entries) >= self._most:
            forgotten = self._most // _BLOCK // 2 * _BLOCK
            del entries[:forgotten], self._blocks[: forgotten // _BLOCK]
            self._start += forgotten
        entries.append(bits)
        self.end += 1
        if not len(entries) % _BLOCK:
            self._blocks.append(reduce(or_, entries[-_BLOCK:]))

    def since(self, end: int) -> int:
        """Return the bits of hosts that changed after the log had this end: all, -1, if this is forgotten."""
        first = end - self._start
        if first < 0:
            return -1
        whole = -(-first // _BLOCK)
        if whole >= len(self._blocks):
            return reduce(or_, self._entries[first:], 0)
        bits = reduce(or_, self._entries[first : whole * _BLOCK], 0)
        bits = reduce(or_, self._blocks[whole:], bits)
        return reduce(or_, self._entries[len(self._blocks) * _BLOCK :], bits)


def _numbers(bits: int) -> list[int]:
    return [host for low, high in bit_runs(bits) for host in range(low, high + 1)]

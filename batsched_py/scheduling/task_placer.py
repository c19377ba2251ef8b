"""The placement of tasks: the hosts and GPUs that a selection for packed resources takes now.

As in `planning.packed_hosts`, the rates of all hosts are kept for each demand, and only those of hosts that have
changed since are computed anew: hosts where tasks began or ended, and hosts that became usable or unusable.
"""

from __future__ import annotations

from typing import Final

from batsched_py.bits import bit_runs
from batsched_py.errors import InvariantError
from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom, Places, TaskPlace
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.policies.packing import PackedSelection
from batsched_py.planning.policies.rating import Rating
from batsched_py.state.rooms import Rooms
from batsched_py.state.state import State

#: The rate of a host where a task does not fit.
_NO_ROOM: Final = -1
#: Maximum number of rates that are kept, and of demands that have some.
_MOST_RATES: Final = 4_000_000
_MOST_DEMANDS: Final = 2_000


class TaskPlacer:
    """A selection for packed resources, applied to the hosts of one run.

    Selections that depend on expected tasks are given the tasks of the jobs submitted so far, again whenever their
    number has doubled.
    """

    def __init__(self, state: State, selection: PackedSelection) -> None:
        self._state, self._selection = state, selection
        self._rating: Rating | None = None
        #: Number of submitted jobs from which on the rating is prepared again.
        self._renewal = 0
        self._numbers = sorted(state.hosts.by_id)
        #: Host -> its position in the order of numbers, which is that of rates.
        self._positions = {host: position for position, host in enumerate(self._numbers)}
        #: Demand -> rates of the hosts; those that were used last are the last.
        self._kept: dict[TaskDemand, _KeptRates] = {}

    def place(self, wanted: JobDemand, among: int | None = None) -> Places | None:
        """Return the places of all tasks on hosts that are usable now; None if there are none.

        `among` are the bits of the hosts on which the job may run; None for all.
        """
        rooms = self._state.rooms
        if rooms is None or rooms.short_licence(wanted):
            return None
        rating, kept = self._prepared(rooms), self._current(wanted.task, rooms)
        rates = kept.values
        if among is not None:
            allowed = zip(self._numbers, rates, strict=True)
            rates = [rate if among >> host & 1 else _NO_ROOM for host, rate in allowed]
        if max(rates, default=_NO_ROOM) == _NO_ROOM:
            return None
        if wanted.tasks > 1:
            return self._place_all(wanted, rooms, rating, kept, list(rates))
        host = self._numbers[rates.index(max(rates))]
        room = rooms.room(host)
        return (TaskPlace(host, rating.gpus(room, room.needed(wanted.task))),)

    def rating(self) -> Rating:
        """Return the rating for the tasks that are expected now."""
        if self._state.rooms is None:
            raise InvariantError("tasks are rated, but no job has a demand")
        return self._prepared(self._state.rooms)

    def _place_all(
        self, wanted: JobDemand, rooms: Rooms, rating: Rating, kept: _KeptRates, rates: list[int]
    ) -> Places | None:
        """Place one task after the other, each where the rate is the highest after those before it."""
        task, found = wanted.task, dict[int, list[tuple[int, ...]]]()
        changed: dict[int, HostRoom] = {}
        for _ in range(wanted.tasks):
            best = max(rates)
            if best == _NO_ROOM:
                return None
            position = rates.index(best)
            host = self._numbers[position]
            room = changed.get(host)
            if room is None:
                room = changed[host] = rooms.room(host).copy()
            gpus = rating.gpus(room, room.needed(task))
            room.take(task, gpus)
            found.setdefault(host, []).append(gpus)
            rates[position] = _NO_ROOM if wanted.spread else kept.of(room)
        return tuple(
            TaskPlace(host, tuple(gpu for each in gpus for gpu in each), len(gpus))
            for host, gpus in sorted(found.items())
        )

    def _prepared(self, rooms: Rooms) -> Rating:
        """Return the rating for the tasks that are expected now."""
        if self._rating is None or rooms.requests >= self._renewal:
            expected = [task for task, number in rooms.requested.items() for _ in range(number)]
            self._rating = self._selection.prepare(tuple(rooms.capacities.values()), expected)
            self._renewal = 2 * rooms.requests
            self._kept.clear()
        return self._rating

    def _current(self, task: TaskDemand, rooms: Rooms) -> _KeptRates:
        """Return the rates of all hosts, computed anew where something has changed."""
        hosts = self._state.hosts
        usable = hosts.all & ~(hosts.busy | hosts.down)
        kept = self._kept.pop(task, None)
        if kept is None:
            if len(self._kept) >= min(_MOST_DEMANDS, _MOST_RATES // (len(self._numbers) + 1) + 1):
                del self._kept[next(iter(self._kept))]
            kept = _KeptRates(task, self._prepared(rooms))
        self._kept[task] = kept
        changed = None if kept.seen is None else rooms.changed_since(kept.seen)
        if changed is None:
            kept.values = [kept.at(rooms, host) if usable >> host & 1 else _NO_ROOM for host in self._numbers]
        else:
            for low, high in bit_runs(usable ^ kept.usable):
                changed.update(range(low, high + 1))
            for host in changed:
                kept.values[self._positions[host]] = kept.at(rooms, host) if usable >> host & 1 else _NO_ROOM
        kept.seen, kept.usable = rooms.changes, usable
        return kept


class _KeptRates:
    """The rates of all hosts for one demand.

    Attributes:
        values: by position in the order of hosts.
        seen: number of changes of rooms when they were computed; None if never.
        usable: bits of the hosts that were usable then.
    """

    __slots__ = ("_empty", "_rate", "_rating", "_task", "seen", "usable", "values")

    def __init__(self, task: TaskDemand, rating: Rating) -> None:
        self._task, self._rating = task, rating
        #: None if exclusive tasks take different amounts of different hosts.
        self._rate = None if task.exclusive else rating.rated(task)
        #: Capacity -> rate of a host without tasks.
        self._empty: dict[HostCapacity, int] = {}
        self.values: list[int] = []
        self.seen: int | None = None
        self.usable = 0

    def at(self, rooms: Rooms, host: int) -> int:
        """Return the rate of a host."""
        room = rooms.in_use(host)
        if room is not None:
            return self.of(room)
        capacity = rooms.capacities[host]
        rate = self._empty.get(capacity)
        if rate is None:
            rate = self._empty[capacity] = self.of(HostRoom(capacity))
        return rate

    def of(self, room: HostRoom) -> int:
        """Return the rate of a host with this room."""
        if room.lacking(self._task):
            return _NO_ROOM
        rate = self._rate or self._rating.rated(room.needed(self._task))
        return rate(room)

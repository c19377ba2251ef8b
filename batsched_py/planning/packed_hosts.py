"""Packed hosts: hosts that tasks share, and the host that a selection takes for a demand.

The rate of a host depends only on the demand and on the room of this host. So for each demand the rates of all hosts
are kept, and only those of hosts that have changed since are computed anew. A log of changed hosts says which these
are; it has a bounded length, and a demand that is older than the log has all its rates computed anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from batsched_py.errors import InvariantError
from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom, TaskPlace
from batsched_py.planning.policies.packing import PackedSelection
from batsched_py.planning.policies.rating import Rating

#: The rate of a host where a demand does not fit.
_NO_ROOM: Final = -1
#: The number of demands whose rates are kept.
_MOST_DEMANDS: Final = 2_000
#: The length of the log of changes, in changes for each host.
_CHANGES: Final = 8


class PackedHosts:
    """Hosts that tasks share; the owner of their rooms.

    Args:
        capacities: resources of the hosts, by number.
        selection: the policy that selects hosts.
        order: all hosts, in the order in which equal ones are taken; by number if empty.
        expected: tasks like those that will come, for selections that need to know them.
    """

    def __init__(
        self,
        capacities: Sequence[HostCapacity],
        selection: PackedSelection,
        *,
        order: Sequence[int] = (),
        expected: Sequence[TaskDemand] = (),
    ) -> None:
        self.rooms = tuple(map(HostRoom, capacities))
        self._rating = selection.prepare(capacities, expected)
        self._order = tuple(order) or tuple(range(len(self.rooms)))
        if sorted(self._order) != list(range(len(self.rooms))):
            raise ValueError(f"order: must have each host from 0 to {len(self.rooms) - 1} once")
        #: Host -> its position in the order.
        self._positions = {host: position for position, host in enumerate(self._order)}
        self._changes = _ChangeLog(_CHANGES * len(self.rooms))
        #: Demand -> rates of the hosts, for at most _MOST_DEMANDS; those that were used last are the last.
        self._rates: dict[TaskDemand, _DemandRates] = {}

    def find(self, demand: TaskDemand) -> TaskPlace | None:
        """Return where the selection places a task; None if it fits on no host."""
        rates = self._current(demand)
        best = max(rates, default=_NO_ROOM)
        if best == _NO_ROOM:
            return None
        host = self._order[rates.index(best)]
        room = self.rooms[host]
        return TaskPlace(host, self._rating.gpus(room, room.needed(demand)))

    def take(self, demand: TaskDemand, place: TaskPlace) -> None:
        """Give a task its resources. ValueError if they are not free."""
        self.rooms[place.host].take(demand, place.gpus)
        self._changes.add(self._positions[place.host])

    def give(self, demand: TaskDemand, place: TaskPlace) -> None:
        """Return the resources of a task that ends. ValueError if it does not use them."""
        self.rooms[place.host].give(demand, place.gpus)
        self._changes.add(self._positions[place.host])

    def check(self) -> None:
        """Raise InvariantError if a room is inconsistent, or a rate that is kept is not that of its room."""
        for room in self.rooms:
            room.check()
        for demand in tuple(self._rates):
            kept, computed = self._current(demand), _DemandRates(demand, self._rating)
            if kept != [computed.of(self.rooms[host]) for host in self._order]:
                raise InvariantError(f"the rates for {demand} are not those of the rooms")

    def _current(self, demand: TaskDemand) -> list[int]:
        """Return the rates of all hosts in their order, computed anew where rooms have changed."""
        kept = self._rates.pop(demand, None)
        if kept is None:
            kept = _DemandRates(demand, self._rating)
            if len(self._rates) >= _MOST_DEMANDS:
                del self._rates[next(iter(self._rates))]
        self._rates[demand] = kept
        changed = self._changes.since(kept.seen)
        rooms, order, rates, rate = self.rooms, self._order, kept.rates, kept.of
        if changed is None:
            rates[:] = [rate(rooms[host]) for host in order]
        else:
            for position in changed:
                rates[position] = rate(rooms[order[position]])
        kept.seen = self._changes.end
        return rates


class _DemandRates:
    """The rates of all hosts for one demand.

    Attributes:
        rates: by position in the order of the hosts.
        seen: the end of the log of changes when they were computed; -1 if never.
    """

    __slots__ = ("_demand", "_rate", "_rating", "rates", "seen")

    def __init__(self, demand: TaskDemand, rating: Rating) -> None:
        self._demand, self._rating = demand, rating
        #: None if exclusive tasks take different amounts of different hosts.
        self._rate = None if demand.exclusive else rating.rated(demand)
        self.rates: list[int] = []
        self.seen = -1

    def of(self, room: HostRoom) -> int:
        """Return the rate of a host with this room."""
        if room.lacking(self._demand):
            return _NO_ROOM
        rate = self._rate or self._rating.rated(room.needed(self._demand))
        return rate(room)


class _ChangeLog:
    """The positions of hosts that changed, in the order of the changes; old changes are forgotten.

    Attributes:
        end: the number of changes so far.
    """

    __slots__ = ("_entries", "_most", "_start", "end")

    def __init__(self, most: int) -> None:
        self._entries: list[int] = []
        self._start, self._most = 0, most
        self.end = 0

    def add(self, position: int) -> None:
        """Add a change."""
        self._entries.append(position)
        self.end += 1
        if len(self._entries) > self._most:
            forgotten = self._most // 2 + 1
            del self._entries[:forgotten]
            self._start += forgotten

    def since(self, end: int) -> set[int] | None:
        """Return the positions that changed after the log had this end; None if this is forgotten."""
        return set(self._entries[end - self._start :]) if end >= self._start else None

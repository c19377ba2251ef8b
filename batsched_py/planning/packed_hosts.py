"""Packed hosts: hosts that tasks share, and the host that a selection takes for a demand."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom, TaskPlace
from batsched_py.planning.policies.packing import PackedSelection
from batsched_py.planning.rated_hosts import RatedHosts


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
        self._order = tuple(order) or tuple(range(len(self.rooms)))
        if sorted(self._order) != list(range(len(self.rooms))):
            raise ValueError(f"order: must have each host from 0 to {len(self.rooms) - 1} once")
        #: Host -> its position in the order, which is its number among the rated hosts.
        self._positions = {host: position for position, host in enumerate(self._order)}
        self._rated = RatedHosts(
            {position: capacities[host] for position, host in enumerate(self._order)},
            selection.prepare(capacities, expected),
            lambda position: self.rooms[self._order[position]],
        )
        self._all = (1 << len(self.rooms)) - 1

    def find(self, demand: TaskDemand) -> TaskPlace | None:
        """Return where the selection places a task; None if it fits on no host."""
        found = self._rated.find(demand, self._all)
        return None if found is None else found._replace(host=self._order[found.host])

    def take(self, demand: TaskDemand, place: TaskPlace) -> None:
        """Give a task its resources. ValueError if they are not free."""
        self.rooms[place.host].take(demand, place.gpus)
        self._rated.change((self._positions[place.host],))

    def give(self, demand: TaskDemand, place: TaskPlace) -> None:
        """Return the resources of a task that ends. ValueError if it does not use them."""
        self.rooms[place.host].give(demand, place.gpus)
        self._rated.change((self._positions[place.host],))

    def check(self) -> None:
        """Raise InvariantError if a room is inconsistent, or a rate that is kept is not that of its room."""
        for room in self.rooms:
            room.check()
        self._rated.check()

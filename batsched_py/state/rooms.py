"""Rooms: the free resources of hosts that tasks of several jobs share, and of the machine's licences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from batsched_py.bits import bits_of
from batsched_py.errors import InvariantError
from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_capacities import host_capacity, machine_licences
from batsched_py.model.host_log import HostLog
from batsched_py.model.host_room import HostRoom, Places
from batsched_py.model.job_demand import JobDemand
from batsched_py.state.host import Host

# A host without tasks has the room of its capacity, and none is kept for it: a machine of many hosts costs one
# reference for each. The log of changes lets readers keep what they computed for hosts that have not changed.


class Rooms:
    """The resources of all compute hosts; made for the first job with a demand.

    Raises ValueError if a property of a host is no amount; it names the host, the property and the rule.

    Attributes:
        capacities: resources of each host.
        types: number of hosts with equal resources.
        licences: number of licences of the machine, by name.
        licensed: number of licences in use; none is 0.
        requested: task demand -> number of jobs with it that were submitted.
        requests: their sum.
    """

    def __init__(self, hosts: Mapping[int, Host]) -> None:
        self.capacities = {number: _capacity(host) for number, host in hosts.items()}
        self.types = Counter(self.capacities.values())
        self.licences = machine_licences((host.properties, host.zone_properties) for host in hosts.values())
        self.licensed: dict[str, int] = {}
        self.requested: dict[TaskDemand, int] = {}
        self.requests = 0
        #: Host -> its room, only for hosts with tasks.
        self._rooms: dict[int, HostRoom] = {}
        #: The last answer of `after`: what was asked, the number of changes then, and the rooms.
        self._after: tuple[JobDemand, Places, int, dict[int, HostRoom]] | None = None
        self._log = HostLog(len(self.capacities))

    def request(self, demand: JobDemand) -> None:
        """Count a submitted job."""
        self.requested[demand.task] = self.requested.get(demand.task, 0) + 1
        self.requests += 1

    def room(self, host: int) -> HostRoom:
        """Return the room of a host, which the caller must not change."""
        room = self._rooms.get(host)
        return HostRoom(self.capacities[host]) if room is None else room

    def in_use(self, host: int) -> HostRoom | None:
        """Return the room of a host with tasks, which the caller must not change; None for other hosts."""
        return self._rooms.get(host)

    def short_licence(self, demand: JobDemand) -> str:
        """Return the first licence of which too few are left for a job; "" if it can have all."""
        for name, number in demand.licences:
            if self.licensed.get(name, 0) + number > self.licences.get(name, 0):
                return name
        return ""

    def after(self, demand: JobDemand, places: Places) -> dict[int, HostRoom]:
        """Return the rooms of some hosts after tasks have begun there, which the caller must not change.

        ValueError if their resources, or licences, are not free; it names the host.
        """
        kept = self._after
        if kept is not None and kept[0] is demand and kept[1] is places and kept[2] == self.changes:
            return kept[3]
        short = self.short_licence(demand)
        if short:
            raise ValueError(f"licences {short}: fewer are left than the job requests")
        rooms = {}
        for place in places:
            room = self.room(place.host).copy()
            try:
                room.take_all(demand.task, place)
            except ValueError as error:
                raise ValueError(f"host {place.host}: {error}") from None
            rooms[place.host] = room
        self._after = demand, places, self.changes, rooms
        return rooms

    def take(self, demand: JobDemand, places: Places) -> None:
        """Give tasks their resources. ValueError, before anything is taken, if they are not free; it names the host."""
        taken = self.after(demand, places)
        self._rooms.update(taken)
        self._license(demand, 1)
        self._log.add(taken)

    def give(self, demand: JobDemand, places: Places) -> int:
        """Return the resources of tasks that end; return the bits of the hosts without tasks then."""
        emptied = []
        for place in places:
            room = self._rooms[place.host]
            room.give_all(demand.task, place)
            if room.is_empty:
                del self._rooms[place.host]
                emptied.append(place.host)
        self._license(demand, -1)
        self._log.add(place.host for place in places)
        return bits_of(emptied)

    @property
    def changes(self) -> int:
        """The number of changes so far."""
        return self._log.changes

    def changed_since(self, changes: int) -> set[int] | None:
        """Return the hosts that changed after this number of changes; None if that is no longer known."""
        return self._log.since(changes)

    def check(self, running: Iterable[tuple[JobDemand, Places]]) -> None:
        """Raise InvariantError if the rooms are not what the running tasks leave."""
        rooms: dict[int, HostRoom] = {}
        licensed: dict[str, int] = {}
        for demand, places in running:
            for place in places:
                rooms.setdefault(place.host, HostRoom(self.capacities[place.host])).take_all(demand.task, place)
            for name, number in demand.licences:
                licensed[name] = licensed.get(name, 0) + number
        if licensed != self.licensed:
            raise InvariantError(f"licences {self.licensed} are not those of running jobs, {licensed}")
        if {host: _amounts(room) for host, room in rooms.items()} != {h: _amounts(r) for h, r in self._rooms.items()}:
            raise InvariantError("the free resources of hosts are not what running tasks leave")
        for room in self._rooms.values():
            room.check()

    def _license(self, demand: JobDemand, sign: int) -> None:
        for name, number in demand.licences:
            left = self.licensed.pop(name, 0) + sign * number
            if left:
                self.licensed[name] = left


def _capacity(host: Host) -> HostCapacity:
    try:
        return host_capacity(host.properties, host.zone_properties, host.cores)
    except ValueError as error:
        raise ValueError(f"host {host.name}: {error}") from None


def _amounts(room: HostRoom) -> tuple[object, ...]:
    return room.cores, room.memory, room.gpus, tuple(sorted(room.others.items())), dict(room.kinds)

"""The places of started jobs that request parts of hosts, for the files of a run with Batsim, which knows none."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.model.host_room import TaskPlace
from batsched_py.protocol.commands import Command, ExecuteJob
from batsched_py.results.places import JobPlaces, MachineCapacity
from batsched_py.state.rooms import Rooms
from batsched_py.state.running import Running
from batsched_py.state.state import State


class PlacedJobs:
    """The places of jobs by id, in the order of their starts."""

    def __init__(self, state: State) -> None:
        self._state = state
        #: Job id -> its places; only jobs with demands, which may still run.
        self.places: dict[str, JobPlaces] = {}

    def note(self, commands: Sequence[Command]) -> None:
        """Note the jobs that these commands start."""
        running = self._state.running
        for command in commands:
            if isinstance(command, ExecuteJob) and (run := running.get(command.job_id)) is not None:
                found = _places_of(run, command, self._state.hosts.all)
                if found is not None:
                    self.places[run.job.id] = found

    @property
    def capacity(self) -> MachineCapacity | None:
        """The resources of the machine; None if no job requests parts of hosts, or if the peer records places."""
        return None if self._state.counts_rooms else self.machine

    @property
    def machine(self) -> MachineCapacity | None:
        """The resources of the machine; None if no job requests parts of hosts."""
        rooms = self._state.rooms
        return None if rooms is None else _machine(rooms)


def _places_of(run: Running, command: ExecuteJob, computing: int) -> JobPlaces | None:
    demand = run.job.demand
    if demand is None:
        return None
    if run.places:
        return JobPlaces.of(demand, run.places)
    hosts = list(command.hosts)
    mapping = command.mapping
    positions = range(len(hosts)) if mapping is None else mapping.values()
    tasks: dict[int, int] = {}
    for position in positions:
        tasks[hosts[position]] = tasks.get(hosts[position], 0) + 1
    places = (TaskPlace(host, (), count) for host, count in sorted(tasks.items()) if computing >> host & 1)
    return JobPlaces.of(demand, tuple(places), whole=True)


def _machine(rooms: Rooms) -> MachineCapacity:
    hosts = tuple(capacity for _, capacity in sorted(rooms.capacities.items()))
    return MachineCapacity(hosts, tuple(sorted(rooms.licences.items())))

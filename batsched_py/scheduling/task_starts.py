"""Starts of tasks that share hosts: their places, their checks, and the commands for Batsim."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from msgspec.structs import replace

from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet
from batsched_py.model.host_room import Places, TaskPlace
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.protocol.commands import ExecuteJob
from batsched_py.protocol.dialect import Dialect
from batsched_py.protocol.task_gpus import mapping_of
from batsched_py.scheduling.arguments import id_of
from batsched_py.scheduling.checks import not_usable, not_waiting
from batsched_py.scheduling.placed import Placed
from batsched_py.scheduling.task_placer import TaskPlacer
from batsched_py.state.rooms import Rooms
from batsched_py.state.state import State
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import counted, unknown


class TaskStarts:
    """The starts of tasks in one run, for the Plan."""

    __slots__ = ("_placers", "_state", "_warn", "_warned")

    def __init__(self, state: State, warn: Callable[[str], None]) -> None:
        self._state, self._warn = state, warn
        #: Name of a selection -> its placer.
        self._placers: dict[str, TaskPlacer] = {}
        #: True after the warning about whole hosts.
        self._warned = False

    def place(self, demand: JobDemand, packing: str, among: HostSet | None) -> Placed | None:
        """Return the places of all tasks; None if there is no room now. PlanError for an unknown selection."""
        placer = self._placers.get(packing)
        if placer is None:
            if packing not in PACKED_SELECTIONS:
                raise PlanError(f"place: packing {shown(packing)}: {unknown(str(packing), PACKED_SELECTIONS)}")
            placer = self._placers[packing] = TaskPlacer(self._state, PACKED_SELECTIONS[packing])
        places = placer.place(demand, None if among is None else among.bits)
        return None if places is None else Placed(places)

    def started(self, job: Job, placed: Placed, timestamp: float, dialect: Dialect) -> ExecuteJob:
        """Return the command that starts a job, after checking that all its tasks have room. PlanError."""
        id_of("start", job)
        _check_placed(self._state, job, placed, may_share=self._state.shares_rooms and not dialect.is_wrench)
        return ExecuteJob(timestamp, job.id, placed.hosts, mapping_of(placed.places), places=placed.places)

    def can_start(self, job: Job, placed: Placed, dialect: Dialect) -> bool:
        """Return whether all tasks have room now."""
        try:
            _check_placed(self._state, job, placed, may_share=self._state.shares_rooms and not dialect.is_wrench)
        except PlanError:
            return False
        return True

    def sent(self, command: ExecuteJob) -> ExecuteJob:
        """Return the command as the peer reads it: Batsim knows no GPUs."""
        return command if self._state.counts_rooms else replace(command, places=())

    def note_whole(self, job: Job) -> None:
        """Warn, once in a run, that a job with a demand gets whole hosts."""
        if not self._warned:
            self._warned = True
            self._warn(f"{displayed(job.id)} requests parts of hosts and gets whole ones, as do others like it")


def _check_placed(state: State, job: Job, placed: Placed, *, may_share: bool) -> None:
    """Raise PlanError if the tasks of a job cannot start at these places; it names the host and the resource."""
    fault = _form_fault(placed, state.hosts.all)
    if fault:
        raise PlanError(f"start {job.id}: {fault}")
    hosts, demand = placed.hosts, job.demand
    what = f"start {job.id} on {hosts}"
    if job.id not in state.queue:
        raise PlanError(f"{what}: {not_waiting(state, job.id)}")
    if demand is None or state.rooms is None:
        raise PlanError(f"{what}: it requests whole hosts, a HostSet, and not parts of them")
    if not may_share:
        raise PlanError(f"{what}: Batsim shares no hosts between jobs: --enable-compute-sharing makes it do so")
    _check_tasks(state, placed, demand, what)
    _check_rooms(state.rooms, demand, placed.places, what)


def _check_tasks(state: State, placed: Placed, demand: JobDemand, what: str) -> None:
    """Check the number of tasks, and that their hosts may be used."""
    hosts = placed.hosts
    wrong = hosts.bits & (state.hosts.whole | state.hosts.down)
    if wrong:
        raise PlanError(f"{what}: {not_usable(state.hosts, wrong & ~state.hosts.part)}")
    tasks = sum(place.tasks for place in placed.places)
    if tasks != demand.tasks:
        raise PlanError(f"{what}: it has {counted(demand.tasks, 'task')}, not {tasks}")
    if demand.spread and tasks > len(placed.places):
        raise PlanError(f"{what}: each of its tasks needs a host of its own")


def _check_rooms(rooms: Rooms, demand: JobDemand, places: Places, what: str) -> None:
    """Check that the resources of all tasks are free."""
    for place in places:
        if len(place.gpus) != place.tasks * demand.task.gpus and not demand.task.exclusive:
            wanted = counted(place.tasks * demand.task.gpus, "GPU")
            raise PlanError(f"{what}: it needs {wanted} on host {place.host}, not {len(place.gpus)}")
    try:
        rooms.after(demand, places)
    except ValueError as error:
        raise PlanError(f"{what}: {error}") from None


def _form_fault(placed: Placed, hosts: int) -> str:
    """Return the fault of places that are not what their type says; "" for none."""
    places = placed.places
    if type(places) is not tuple or not places or not all(type(place) is TaskPlace for place in places):
        return "its places must be a tuple of TaskPlace"
    for place in places:
        if type(place.host) is not int or place.host < 0 or not hosts >> place.host & 1:
            return "its places must be on hosts of the platform"
        if type(place.tasks) is not int or place.tasks < 1:
            return f"at least one task must be on host {place.host}"
        if type(place.gpus) is not tuple or not all(type(gpu) is int and gpu >= 0 for gpu in place.gpus):
            return f"the GPUs on host {place.host} must be a tuple of numbers"
    if any(left.host >= right.host for left, right in pairwise(places)):
        return "its places must be in the order of the hosts, each host once"
    return ""

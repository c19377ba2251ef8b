"""Capacity rules: tasks that share a host must not use more of a resource than it has.

The sums are kept here, independently of the decision process, so that an error in its sums is detected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from batsched_py.bits import bits_of
from batsched_py.errors import PlatformError
from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_capacities import host_capacity, machine_licences
from batsched_py.model.host_room import Places, TaskPlace
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.platform import PlatformHost
from batsched_py.protocol.commands import ExecuteJob
from batsched_py.results.places import JobPlaces, MachineCapacity
from batsched_py.simulator.machines.machines import members
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

# A job whose command says which GPUs its tasks use shares its hosts with others of this kind. The command of a program
# that does not know this member has whole hosts, as those of jobs without demands. If Batsim lets jobs share hosts
# (compute sharing), such a job shares them, too: its tasks are where the mapping places its executors, and only the
# total of its GPUs counts. On a host of its own it is not checked, since that is the same as a whole host.

#: Resources whose amounts are thousandths.
_PARTS: Final = frozenset({"cores", "GPUs"})
#: The note on jobs whose GPUs are unknown.
UNKNOWN_GPUS: Final = "demands: only the total of the GPUs of a host is checked, for jobs started without task_gpus"


def check_capacities(source: str, hosts: Sequence[PlatformHost]) -> None:
    """Check the properties of hosts that state resources. PlatformError names the host, the property and the rule."""
    for host in hosts:
        _capacity_of(source, host)
    _licences_of(source, hosts)


class CapacityRules:
    """The check of the amounts that tasks use; it does nothing before the first job with a demand.

    Args:
        source: the platform's file, for messages.
        hosts: compute hosts, by number.
        sharing: True if any job may share hosts.
        notes: approximations, to which the rules add.
    """

    def __init__(self, source: str, hosts: Sequence[PlatformHost], notes: set[str], *, sharing: bool) -> None:
        self._source, self._hosts, self._notes, self._sharing = source, hosts, notes, sharing
        #: True once a job with a demand was started.
        self._used = False
        #: Bits of the hosts where only tasks run that share them.
        self.shared = 0
        #: Host -> its capacity, once tasks have run there.
        self._capacities: dict[int, HostCapacity] = {}
        #: Host -> what tasks use there; only hosts with tasks.
        self._uses: dict[int, _HostUse] = {}
        #: Job id -> demand and places of a running job with a demand.
        self._running: dict[str, tuple[JobDemand, Places]] = {}
        #: Name -> number of licences, and of those in use.
        self._licences: dict[str, int] | None = None
        self._licensed: dict[str, int] = {}

    def begin(self, command: ExecuteJob, job: Job) -> JobPlaces | None:
        """Begin a job, and return its places; None if it requests whole hosts.

        BrokenRuleError names the host, the resource and the job if an amount exceeds the capacity.
        """
        demand, places = job.demand, command.places
        if demand is None:
            if places:
                raise BrokenRuleError("has task_gpus, and requests no part of a host", job=job.id)
            return None
        self._used = True
        self._check_licences(demand, job.id)
        if places:
            _check_places(places, demand, command, job.id)
        elif self._sharing:
            places = _mapped(command)
        uses = [(place, self._uses.get(place.host) or _HostUse(self._capacity(place.host))) for place in places]
        for place, use in uses:
            if command.places or use.tasks:
                use.check(place, demand.task, job.id)
        if command.places:
            self.shared |= bits_of(place.host for place in places)
        elif places and demand.task.gpus:
            self._notes.add(UNKNOWN_GPUS)
        exceeds = not command.places and any(not use.holds(place, demand.task) for place, use in uses)
        for place, use in uses:
            self._uses[place.host] = use
            use.change(place, demand.task, 1)
        self._license(demand, 1)
        self._running[job.id] = demand, places
        return self._recorded(command, demand, places, whole=exceeds or not places)

    def _recorded(self, command: ExecuteJob, demand: JobDemand, places: Places, *, whole: bool) -> JobPlaces:
        """Return the places for the record of a job; those on whole hosts are the executors'."""
        computing = (place for place in places or _mapped(command) if place.host < len(self._hosts))
        return JobPlaces.of(demand, tuple(computing), whole=whole)

    @property
    def machine(self) -> MachineCapacity | None:
        """The resources of all compute hosts, and the licences; None before a job with a demand was started."""
        if not self._used:
            return None
        licences = _licences_of(self._source, self._hosts)
        return MachineCapacity(tuple(map(self._capacity, range(len(self._hosts)))), tuple(sorted(licences.items())))

    def end(self, job_id: str) -> None:
        """End a job."""
        demand, places = self._running.pop(job_id, (None, ()))
        if demand is None:
            return
        self._license(demand, -1)
        for place in places:
            use = self._uses[place.host]
            use.change(place, demand.task, -1)
            if not use.tasks:
                del self._uses[place.host]
                self.shared &= ~(1 << place.host)

    def _capacity(self, host: int) -> HostCapacity:
        capacity = self._capacities.get(host)
        if capacity is None:
            capacity = self._capacities[host] = _capacity_of(self._source, self._hosts[host])
        return capacity

    def _check_licences(self, demand: JobDemand, job_id: str) -> None:
        if demand.licences and self._licences is None:
            self._licences = _licences_of(self._source, self._hosts)
        for name, number in demand.licences:
            there, used = (self._licences or {}).get(name, 0), self._licensed.get(name, 0)
            if used + number > there:
                rule = f"exceeds the licences {displayed(name)}: {used} of {there} are used, it requests {number}"
                raise BrokenRuleError(rule, job=job_id)

    def _license(self, demand: JobDemand, sign: int) -> None:
        for name, number in demand.licences:
            self._licensed[name] = self._licensed.get(name, 0) + sign * number


class _HostUse:
    """The amounts that tasks use on one host.

    Attributes:
        tasks: their number.
    """

    __slots__ = ("_alone", "_amounts", "_capacity", "_gpus", "_loose", "_there", "tasks")

    def __init__(self, capacity: HostCapacity) -> None:
        self._capacity = capacity
        #: Resource -> amount of an unused host, without GPUs.
        self._there = {"cores": capacity.cores, "memory": capacity.memory, **dict(capacity.others)}
        self.tasks = 0
        #: Number of tasks that need the host alone.
        self._alone = 0
        #: Resource -> used amount, without GPUs.
        self._amounts: dict[str, int] = {}
        #: Used thousandths of each GPU, and those of tasks whose GPUs are unknown.
        self._gpus = [0] * capacity.gpus
        self._loose = 0

    def check(self, place: TaskPlace, task: TaskDemand, job_id: str) -> None:
        """Raise BrokenRuleError if tasks of a job exceed what is left."""
        rule = self._broken(place, task)
        if rule:
            raise BrokenRuleError(rule, job=job_id, hosts=1 << place.host)

    def holds(self, place: TaskPlace, task: TaskDemand) -> bool:
        """Return whether the host has enough for tasks of a job."""
        return not self._broken(place, task)

    def change(self, place: TaskPlace, task: TaskDemand, sign: int) -> None:
        """Begin tasks (sign 1), or end them (-1)."""
        self.tasks += sign * place.tasks
        self._alone += sign * task.exclusive * place.tasks
        for name, amount in _amounts(task):
            self._amounts[name] = self._amounts.get(name, 0) + sign * amount * place.tasks
        if place.gpus:
            for gpu in place.gpus:
                self._gpus[gpu] += sign * task.share
        else:
            self._loose += sign * task.gpu_amount * place.tasks

    def _broken(self, place: TaskPlace, task: TaskDemand) -> str:
        """Return the rule that more tasks break; "" if there is room for them."""
        if self._alone or (task.exclusive and (self.tasks or place.tasks > 1)):
            return "cannot run there: a task needs the host for itself, and others run there"
        for name, amount in _amounts(task):
            used, wanted = self._amounts.get(name, 0), amount * place.tasks
            if used + wanted > self._there.get(name, 0):
                return _exceeded(name, used, self._there.get(name, 0), wanted)
        return self._broken_for_gpus(place, task) if task.gpus or place.gpus else ""

    def _broken_for_gpus(self, place: TaskPlace, task: TaskDemand) -> str:
        capacity = self._capacity
        if task.models and capacity.model not in task.models:
            return f"requests GPUs of another model than {displayed(capacity.model) or 'none'}, that of the host"
        used, wanted = sum(self._gpus) + self._loose, task.gpu_amount * place.tasks
        if used + wanted > capacity.gpus * WHOLE:
            return _exceeded("GPUs", used, capacity.gpus * WHOLE, wanted)
        left = list(self._gpus)
        for gpu in place.gpus:
            if gpu >= capacity.gpus:
                return f"gets GPU {gpu}, and the host has {counted(capacity.gpus, 'GPU')}"
            left[gpu] += task.share
            if left[gpu] > WHOLE:
                return _exceeded(f"GPU {gpu}", left[gpu] - task.share, WHOLE, task.share)
        return ""


def _check_places(places: Places, demand: JobDemand, command: ExecuteJob, job_id: str) -> None:
    """Check that the places are those of all tasks, with as many GPUs as each requests."""
    if sum(place.tasks for place in places) != demand.tasks:
        raise BrokenRuleError(f"has {counted(demand.tasks, 'task')}, task_gpus has others", job=job_id)
    if bits_of(place.host for place in places) != command.hosts.bits:
        raise BrokenRuleError("has task_gpus for other hosts than those of alloc", job=job_id)
    for place in places:
        wanted, bit = place.tasks * demand.task.gpus, 1 << place.host
        if demand.spread and place.tasks > 1:
            rule = f"has {place.tasks} tasks there, and each needs a host of its own"
            raise BrokenRuleError(rule, job=job_id, hosts=bit)
        if demand.task.exclusive:  # it has all GPUs of the host
            continue
        if len(place.gpus) != wanted or any(len(set(gpus)) < demand.task.gpus for gpus in place.by_task()):
            rule = f"must get {counted(wanted, 'GPU')} there in task_gpus, different ones for each task"
            raise BrokenRuleError(rule, job=job_id, hosts=bit)


def _amounts(task: TaskDemand) -> Iterable[tuple[str, int]]:
    return (("cores", task.cores), ("memory", task.memory), *task.others)


def _exceeded(name: str, used: int, there: int, wanted: int) -> str:
    """Return the rule: "exceeds the GPUs: 1.5 of 2 are used, it requests 1"."""
    parts = name in _PARTS or name.startswith("GPU ")
    shown = [f"{amount / WHOLE:g}" if parts else str(amount) for amount in (used, there, wanted)]
    return f"exceeds the {displayed(name)}: {shown[0]} of {shown[1]} are used, it requests {shown[2]}"


def _mapped(command: ExecuteJob) -> Places:
    """Return the places of tasks without numbers of GPUs, by the mapping of executors."""
    hosts = members(command.hosts.bits)
    if command.mapping is None:
        return tuple(TaskPlace(host, ()) for host in hosts)
    tasks: dict[int, int] = {}
    for position in command.mapping.values():
        tasks[hosts[position]] = tasks.get(hosts[position], 0) + 1
    return tuple(TaskPlace(host, (), number) for host, number in sorted(tasks.items()))


def _capacity_of(source: str, host: PlatformHost) -> HostCapacity:
    try:
        return host_capacity(host.properties, host.zone_properties, host.cores)
    except ValueError as error:
        raise PlatformError(source, f"host {host.name}", str(error)) from None


def _licences_of(source: str, hosts: Sequence[PlatformHost]) -> dict[str, int]:
    try:
        return machine_licences((host.properties, host.zone_properties) for host in hosts)
    except ValueError as error:
        raise PlatformError(source, "", str(error)) from None

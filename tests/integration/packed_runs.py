"""Runs of jobs that share hosts, and a checker with sums of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.model.demand import TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.platform import Platform
from batsched_py.model.profile import parse_profile
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.protocol.codec import decode
from batsched_py.protocol.commands import ExecuteJob, SetResourceState
from batsched_py.protocol.dialect import V4, Dialect
from batsched_py.protocol.events import JobCompleted, ResourceStateChanged
from batsched_py.results.records import Result
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from tests.platforms import plain_platform

#: Host -> cores and properties: two with GPUs, of two models, and two without.
_MACHINE: list[tuple[int, dict[str, str]]] = [
    (8, {"mem": "1000", "gpus": "2", "gpu_model": "T4"}),
    (4, {"mem": "500"}),
    (4, {"mem": "500", "capacity": "fpga:2"}),
    (16, {"mem": "2000", "gpus": "4", "gpu_model": "V100"}),
]
LICENCES = 2
#: The power states in which hosts compute.
COMPUTING = ("0", "1")


#: Power states of the hosts, of two kinds: watts, sleep states, speeds.
_POWER: list[tuple[dict[str, str], tuple[float, ...]]] = [
    (
        {"wattage_per_state": "100:150:200, 90:100:120, 10:10:10, 120:120:125, 110:110:115", "sleep_pstates": "2:3:4"},
        (1e9, 5e8, 1.0, 0.5, 0.2),
    ),
    (
        {"wattage_per_state": "40:60:80, 35:45:60, 6:6:6, 45:45:45, 60:60:60", "sleep_pstates": "2:3:4"},
        (1e9, 5e8, 1.0, 0.5, 0.2),
    ),
]


def machine(*, energy: bool = False) -> Platform:
    """Four unlike hosts, and two licences; with power states if they may sleep."""
    plain = plain_platform(len(_MACHINE))
    made, described = [], iter(enumerate(_MACHINE))
    for host in plain.hosts:
        if host.role == "master" or host.name == "master_host":
            made.append(host)
            continue
        number, (cores, properties) = next(described)
        own = {**properties, "licences": f"matlab:{LICENCES}"}
        power, speeds = _POWER[number % 2] if energy else ({}, host.speeds)
        made.append(replace(host, cores=cores, speeds=speeds, properties={**own, **power}))
    return replace(plain, hosts=tuple(made))


#: Requests of tasks, all of which some host can meet; None for whole hosts.
TASKS: list[TaskDemand | None] = [
    None,
    TaskDemand(cores=500),
    TaskDemand(cores=4000, memory=500),
    TaskDemand(gpus=1, share=300),
    TaskDemand(gpus=1, share=700, cores=1000),
    TaskDemand(gpus=2, cores=2000),
    TaskDemand(gpus=3, share=500, models=("V100", "A100")),
    TaskDemand(memory=100, others=(("fpga", 1),)),
    TaskDemand(cores=1000, exclusive=True),
]
#: (submit time, tasks, run time, walltime, task, spread, licences).
JOBS = st.lists(
    st.tuples(
        *(st.integers(0, 12), st.integers(1, 4), st.integers(1, 9), st.integers(1, 12)),
        *(st.sampled_from(TASKS), st.booleans(), st.integers(0, 1)),
    ),
    min_size=1,
    max_size=20,
)
Specs = Sequence[tuple[int, int, int, int, TaskDemand | None, bool, int]]


def packed_workload(specs: Specs) -> Workload:
    """Delay jobs with these demands."""
    jobs = []
    for number, (submit, tasks, run, walltime, task, spread, licences) in enumerate(specs):
        wanted = (("matlab", licences),) if licences else ()
        demand = None if task is None else JobDemand(tasks=tasks, task=task, spread=spread, licences=wanted)
        jobs.append(
            Job.create(
                f"{number:03d}", size=tasks, profile=f"d{run}", submit_time=submit, walltime=walltime, demand=demand
            )
        )
    profiles = {f"d{run}": parse_profile(f"d{run}", {"type": "delay", "delay": run}) for run in range(1, 10)}
    jobs.sort(key=lambda job: (job.submit_time, job.id))
    return Workload("drawn", len(_MACHINE), tuple(jobs), profiles)


class Checker:
    """Tasks and their hosts, by the messages alone; an assertion fails when a capacity is exceeded."""

    def __init__(self, workload: Workload, dialect: Dialect, cap: float = math.inf) -> None:
        self._cap = cap
        self._jobs = {f"w0!{job.id}": job for job in workload.jobs}
        self._dialect = dialect
        #: Hosts that were sent to sleep, and not announced to be awake since.
        self._asleep = set[int]()
        #: Job id -> its start.
        self._running: dict[str, ExecuteJob] = {}
        #: Number of jobs whose tasks had a host together with others, at any time.
        self.shared = 0
        #: Number of orders to sleep.
        self.slept = 0
        #: The states that were requested, in order.
        self.states: list[str] = []

    def check(self, request: bytes, reply: bytes) -> None:
        """After each message."""
        for event in decode(request, self._dialect.events, keep_unknown=True).events:
            if isinstance(event, JobCompleted):
                self._running.pop(event.job_id, None)
            elif isinstance(event, ResourceStateChanged) and event.state in COMPUTING:
                self._asleep -= set(event.hosts)
        for command in decode(reply, self._dialect.commands, keep_unknown=True).events:
            if isinstance(command, SetResourceState):
                self._check_switch(command)
            if isinstance(command, ExecuteJob):
                assert self._asleep.isdisjoint(command.hosts)
                assert command.job_id not in self._running
                self._check_tasks(command)
                self._running[command.job_id] = command
        for host, (cores, properties) in enumerate(_MACHINE):
            self._check_host(host, cores, properties)
        self._check_watts()
        licences = [number for job_id in self._running for _, number in self._demand(job_id).licences]
        assert sum(licences) <= LICENCES or not all(command.places for command in self._running.values())

    def _check_switch(self, command: SetResourceState) -> None:
        """A host on which tasks run stays in its state; one that switches takes no task before it is announced."""
        used = {host for start in self._running.values() for host in start.hosts}
        assert used.isdisjoint(command.hosts)
        self._asleep |= set(command.hosts)
        self.states.append(command.state)
        self.slept += command.state not in COMPUTING

    def _job(self, job_id: str) -> Job | None:
        """Return a job of the workload, also for a later segment of it."""
        return self._jobs.get(job_id.partition("#")[0])

    def _demand(self, job_id: str) -> JobDemand:
        job = self._job(job_id)
        return (None if job is None else job.demand) or JobDemand(tasks=1, task=TaskDemand(exclusive=True))

    def _check_tasks(self, command: ExecuteJob) -> None:
        job = self._job(command.job_id)
        if job is None:  # of the algorithm
            assert not command.places
            return
        if not command.places:
            assert len(command.hosts) == job.size
            return
        assert job.demand is not None
        assert sum(place.tasks for place in command.places) == job.size
        assert [place.host for place in command.places] == list(command.hosts)
        if job.demand.spread:
            assert all(place.tasks == 1 for place in command.places)
        positions = sorted((command.mapping or {number: number for number in range(job.size)}).values())
        assert positions == [at for at, place in enumerate(command.places) for _ in range(place.tasks)]

    def _check_watts(self) -> None:
        """Hosts in use draw all that they draw when fully used, once; hosts that sleep or switch are not counted."""
        used = {host for start in self._running.values() for host in start.hosts}
        watts = 0.0
        for host in set(range(len(_MACHINE))) - self._asleep:
            idle, _, full = map(float, _POWER[host % 2][0]["wattage_per_state"].split(",")[0].split(":"))
            watts += full if host in used else idle
        assert watts <= self._cap

    def _check_host(self, host: int, cores: int, properties: dict[str, str]) -> None:
        there = [command for command in self._running.values() if host in command.hosts]
        if any(not command.places for command in there):
            assert len(there) == 1
            return
        used_cores = used_memory = used_fpgas = tasks = 0
        gpus = [0] * int(properties.get("gpus", "0"))
        for command in there:
            task = self._demand(command.job_id).task
            [place] = [place for place in command.places if place.host == host]
            assert not task.models or properties["gpu_model"] in task.models
            assert not task.exclusive or (len(there) == 1 and place.tasks == 1)
            tasks += place.tasks
            used_cores += task.cores * place.tasks
            used_memory += task.memory * place.tasks
            used_fpgas += dict(task.others).get("fpga", 0) * place.tasks
            for own in place.by_task():
                assert len(set(own)) == len(own) == (len(gpus) if task.exclusive else task.gpus)
                for gpu in own:
                    gpus[gpu] += task.share
        assert used_cores <= cores * 1000
        assert used_memory <= int(properties["mem"])
        assert used_fpgas <= (2 if "capacity" in properties else 0)
        assert all(amount <= 1000 for amount in gpus)
        self.shared += len(there) > 1


def run_packed(
    name: str,
    options: dict[str, Any],
    workload: Workload,
    dialect: Dialect = V4,
    checking: type[Checker] = Checker,
    **settings: Any,
) -> tuple[Result, Session, Checker]:
    """Run a workload with an algorithm, and check each message."""
    algorithm = load(name)
    settings = {"energy": algorithm.needs_energy, "dynamic_jobs": algorithm.needs_dynamic_jobs, **settings}
    session = Session(algorithm, options, compute_sharing=settings.get("compute_sharing", False))
    checker = checking(workload, dialect, float(options.get("power_cap", math.inf)))

    def answer(request: bytes) -> bytes:
        reply = session.answer(request)
        session.check()
        if session.messages > 1 or dialect is V4:
            checker.check(request, reply)
        return reply

    result = Simulation(
        machine(energy=algorithm.needs_energy), [workload], Settings(protocol=dialect.name, **settings)
    ).run(answer)
    return result, session, checker

"""Runs of jobs that share hosts, and a checker with sums of its own."""

from __future__ import annotations

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
from batsched_py.protocol.commands import ExecuteJob
from batsched_py.protocol.dialect import V4, Dialect
from batsched_py.protocol.events import JobCompleted
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


def machine() -> Platform:
    """Four unlike hosts, and two licences."""
    plain = plain_platform(len(_MACHINE))
    made, described = [], iter(_MACHINE)
    for host in plain.hosts:
        if host.role == "master" or host.name == "master_host":
            made.append(host)
            continue
        cores, properties = next(described)
        made.append(replace(host, cores=cores, properties={**properties, "licences": f"matlab:{LICENCES}"}))
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

    def __init__(self, workload: Workload, dialect: Dialect) -> None:
        self._jobs = {f"w0!{job.id}": job for job in workload.jobs}
        self._dialect = dialect
        #: Job id -> its start.
        self._running: dict[str, ExecuteJob] = {}
        #: Number of jobs whose tasks had a host together with others, at any time.
        self.shared = 0

    def check(self, request: bytes, reply: bytes) -> None:
        """After each message."""
        for event in decode(request, self._dialect.events, keep_unknown=True).events:
            if isinstance(event, JobCompleted):
                self._running.pop(event.job_id, None)
        for command in decode(reply, self._dialect.commands, keep_unknown=True).events:
            if isinstance(command, ExecuteJob):
                assert command.job_id not in self._running
                self._check_tasks(command)
                self._running[command.job_id] = command
        for host, (cores, properties) in enumerate(_MACHINE):
            self._check_host(host, cores, properties)
        licences = [number for job_id in self._running for _, number in self._demand(job_id).licences]
        assert sum(licences) <= LICENCES or not all(command.places for command in self._running.values())

    def _demand(self, job_id: str) -> JobDemand:
        return self._jobs[job_id].demand or JobDemand(tasks=1, task=TaskDemand(exclusive=True))

    def _check_tasks(self, command: ExecuteJob) -> None:
        job = self._jobs[command.job_id]
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
    name: str, options: dict[str, Any], workload: Workload, dialect: Dialect = V4, **settings: Any
) -> tuple[Result, Session, Checker]:
    """Run a workload with an algorithm, and check each message."""
    session = Session(load(name), options, compute_sharing=settings.get("compute_sharing", False))
    checker = Checker(workload, dialect)

    def answer(request: bytes) -> bytes:
        reply = session.answer(request)
        session.check()
        if session.messages > 1 or dialect is V4:
            checker.check(request, reply)
        return reply

    result = Simulation(machine(), [workload], Settings(protocol=dialect.name, **settings)).run(answer)
    return result, session, checker

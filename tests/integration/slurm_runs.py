"""Whole runs of `slurm` on a small cluster, with drawn jobs, and what their tables say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.model.demand import TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.profile import parse_profile
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.results.records import JobRecord
from tests.platforms import plain_platform
from tests.recorded_run import RecordedRun

NODES, CPUS, MEMORY = 6, 4, 1000
#: User -> accounts from the user's own up to the root.
TREE = {"ada": ("phys", "root"), "bob": ("quantum", "phys", "root"), "eve": ("chem", "root")}
QOS = ("normal", "high", "low")
RUNS = (5, 20, 45, 70, 130)
#: A host finishes as late as this after another event of the same instant.
CLOSE = 1e-4

BASE = """SchedulerParameters=batch_sched_delay=1,bf_interval=5,sched_interval=10,bf_resolution=10
AuthInfo=cred_expire=5
NodeName=n[0-5] CPUs=4 RealMemory=1000
"""
ACCOUNTING = "AccountingStorageType=accounting_storage/slurmdbd\n"
ACCOUNTS = """add account phys
add account chem
add account quantum parent=phys
add user ada account=phys
add user bob account=quantum
add user eve account=chem
add qos high priority=10
add qos low priority=0
add qos cap
modify user ada,bob,eve set qos=normal,high,low
"""
#: Whole nodes, and parts of nodes.
SELECTIONS = ("SelectType=select/linear\n", "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n")
SCHEDULERS = ("SchedulerType=sched/builtin\n", "SchedulerType=sched/backfill\n")


class Drawn(Struct, frozen=True):
    """A job: (submission, nodes or tasks, cores of a task or 0 for whole nodes, megabytes of a core) and the rest."""

    submit: int
    size: int
    cores: int
    memory: int
    run: int
    limit: int
    user: str
    qos: str
    partition: str
    reservation: str | None = None


def drawn_jobs(
    partitions: Sequence[str],
    reservations: Sequence[str | None] = (None,),
    most: int = 16,
    *,
    counts_memory: bool = False,
) -> st.SearchStrategy[list[Drawn]]:
    """Some jobs of all users."""
    one = st.builds(
        Drawn,
        submit=st.integers(0, 150),
        size=st.integers(1, 4),
        cores=st.integers(0, 3),
        memory=st.sampled_from((0, 100, 250) if counts_memory else (0,)),
        run=st.sampled_from(RUNS),
        limit=st.integers(1, 3),
        user=st.sampled_from(sorted(TREE)),
        qos=st.sampled_from(QOS),
        partition=st.sampled_from(partitions),
        reservation=st.sampled_from(reservations),
    )
    return st.lists(one, min_size=4, max_size=most)


class SlurmRun:
    """A run of these jobs on the cluster: its tables.

    Attributes:
        jobs: what was drawn of each job, by its number.
        records: the rows of the jobs that ran, by number; several for a job that was requeued, in order.
        refused: numbers of the jobs that were refused at their submission.
    """

    def __init__(
        self, conf: str, drawn: Sequence[Drawn], *, accounts: str = "", commands: str = "", dynamic: bool = False
    ) -> None:
        texts = {"conf": BASE + conf, "dump": accounts and ACCOUNTS + accounts, "commands": commands}
        with TemporaryDirectory() as folder:
            for name, text in texts.items():
                (Path(folder) / name).write_text(text)
            self.played = RecordedRun("slurm", {name: str(Path(folder) / name) for name, text in texts.items() if text})
            self.played.run([_workload(drawn)], Settings(dynamic_jobs=dynamic), on=_platform())
        self._is_whole = "select/linear" in conf
        self.jobs = dict(enumerate(drawn))
        self.records: dict[int, list[JobRecord]] = {}
        self.refused = set[int]()
        for record in sorted(self.played.jobs, key=lambda one: one.start):
            number = int(record.job.name.partition("#")[0])
            if record.hosts:
                self.records.setdefault(number, []).append(record)
            else:
                self.refused.add(number)

    def rows(self) -> Iterator[tuple[Drawn, JobRecord]]:
        """All runs of jobs."""
        return ((self.jobs[number], record) for number, records in self.records.items() for record in records)

    def cpus(self, job: Drawn, record: JobRecord) -> int:
        """Processors that a job has: all of its hosts, or those of its tasks."""
        return CPUS * len(record.hosts) if self._is_whole or not job.cores else job.size * job.cores

    def waiting_or_running(self, at: float) -> list[Drawn]:
        """The jobs that were accepted and have not ended."""
        ends = {number: records[-1].finish for number, records in self.records.items()}
        return [
            job
            for number, job in self.jobs.items()
            if number not in self.refused and job.submit <= at < ends.get(number, math.inf) - CLOSE
        ]


def _platform() -> Any:
    plain = plain_platform(NODES)
    number = iter(range(NODES))
    hosts = [
        host
        if host.role == "master" or host.name == "master_host"
        else replace(host, name=f"n{next(number)}", cores=CPUS, properties={"cpu": str(100 * CPUS), "mem": str(MEMORY)})
        for host in plain.hosts
    ]
    return replace(plain, hosts=tuple(hosts))


def _workload(drawn: Sequence[Drawn]) -> Workload:
    jobs = [_job(number, one) for number, one in enumerate(drawn)]
    jobs.sort(key=lambda job: (job.submit_time, job.id))
    profiles = {f"d{run}": parse_profile(f"d{run}", {"type": "delay", "delay": run}) for run in RUNS}
    return Workload("drawn", NODES, tuple(jobs), profiles)


def _job(number: int, one: Drawn) -> Job:
    member: Mapping[str, Any] = {"partition": one.partition, "qos": one.qos, "reservation": one.reservation}
    task = TaskDemand(cores=1000 * one.cores, memory=one.memory * one.cores) if one.cores else None
    return Job.create(
        f"{number:03d}",
        size=one.size,
        profile=f"d{one.run}",
        submit_time=one.submit,
        walltime=60 * one.limit,
        demand=None if task is None else JobDemand(tasks=one.size, task=task),
        extra={"user": one.user, "slurm": {name: value for name, value in member.items() if value is not None}},
    )

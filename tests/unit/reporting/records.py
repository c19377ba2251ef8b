"""Builders of what simulations leave behind."""

from __future__ import annotations

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.results.records import JobRecord, Result


def record(
    name: str = "1",
    *,
    submit: float = 0.0,
    start: float = 0.0,
    finish: float = 10.0,
    hosts: str = "0",
    state: str = "COMPLETED_SUCCESSFULLY",
    workload: str = "w0",
) -> JobRecord:
    """A job that ran, on hosts spelled as intervals."""
    allocated = HostSet.parse(hosts)
    job = Job.create(f"{workload}!{name}", size=len(allocated), profile="p", submit_time=submit)
    return JobRecord(job, state, 0, start, finish, allocated)


def rejected(name: str = "r", *, submit: float = 0.0) -> JobRecord:
    """A job that was rejected, as the simulator records it."""
    job = Job.create(f"w0!{name}", size=1, profile="p", submit_time=submit)
    return JobRecord(job, "REJECTED", 0, 0.0, 0.0, HostSet())


def result(*records: JobRecord, hosts: int = 4, joules: float = 0.0, deciding: float = 0.1) -> Result:
    """A simulation of these jobs."""
    makespan = max((each.finish for each in records), default=0.0)
    return Result(
        jobs=records,
        host_count=hosts,
        makespan=makespan,
        end=makespan,
        messages=7,
        host_seconds={},
        joules=joules,
        switch_requests=0,
        host_switches=0,
        approximations=(),
        deciding_seconds=deciding,
        simulating_seconds=0.2,
    )

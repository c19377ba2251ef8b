"""States of a machine whose hosts jobs may share, and jobs that request parts of them."""

from __future__ import annotations

from typing import Any

from batsched_py.model.demand import TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.protocol.events import DescribedHost, JobSubmitted, SimulationBegins
from batsched_py.state.state import State

#: What each host has.
PROPERTIES = {"cpu": "800", "mem": "1000", "gpus": "2", "gpu_model": "T4", "licences": "matlab:1"}


def wanting(name: str, tasks: int = 1, *, spread: bool = False, licences: int = 0, **task: Any) -> Job:
    """A job with a demand."""
    wanted = (("matlab", licences),) if licences else ()
    demand = JobDemand(tasks=tasks, task=TaskDemand(**task), spread=spread, licences=wanted)
    return Job.create(f"w0!{name}", size=tasks, profile="p", submit_time=0.0, walltime=10.0, demand=demand)


def packed_state(*jobs: Job, hosts: int = 3, counts: bool = True, **properties: str) -> State:
    """A state in which these jobs wait."""
    made = State()
    described = tuple(DescribedHost(n, f"n{n}", "idle", {**PROPERTIES, **properties}) for n in range(hosts))
    made.apply(SimulationBegins(0.0, described, extra={"demands": True} if counts else {}))
    for one in jobs:
        made.apply(JobSubmitted(0.0, one.id, one))
    return made

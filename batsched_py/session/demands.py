"""Jobs that request parts of hosts: what Batsim must offer, and jobs that can never run."""

from __future__ import annotations

from typing import Any

from batsched_py.errors import OptionError
from batsched_py.model.job import Job
from batsched_py.model.workload import Workload
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.shortages import never_fits
from batsched_py.state.state import State
from batsched_py.text.display import displayed


def check_workload(scheduler: type[Scheduler[Any]], workload: Workload, *, sharing: bool) -> None:
    """Raise OptionError before a run of Batsim if jobs request parts of hosts, which it will not share between jobs."""
    if scheduler.places_tasks and workload.has_demands and not sharing:
        job = next(job for job in workload.jobs if job.demand is not None)
        rule = "which Batsim shares between jobs only with --enable-compute-sharing"
        raise OptionError(f"{workload.source}: {displayed(job.id)} requests parts of hosts, {rule}")


def check_sharing(scheduler: Scheduler[Any], state: State, job: Job) -> None:
    """Raise OptionError if a job requests parts of hosts, which Batsim does not share between jobs."""
    if scheduler.places_tasks and not state.shares_rooms:
        option = "run Batsim, and serve a Batsim 5, with --enable-compute-sharing"
        raise OptionError(f"{displayed(job.id)} requests parts of hosts, which jobs do not share here: {option}")


def demand_refusal(state: State, job: Job) -> str | None:
    """Return the reason why a job can never run, because of its demand; None if it may wait."""
    if job.demand is None or state.rooms is None:
        return None
    return never_fits(state.rooms, job.demand)

"""How long a job would wait: the answer to Batsim's query `estimate_waiting_time`."""

from __future__ import annotations

from batsched_py.model.job import Job
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View


def waiting_time(job: Job, view: View, plan: Plan) -> float:
    """Seconds until the job may start: until its promise if it holds one, else until enough hosts are free.

    Without a promise the other waiting jobs are left out, so it is a lower bound. -1 if it can never start.
    """
    promise = plan.promises.get(job.id)
    if promise is not None:
        return max(0.0, promise.start - view.now)
    shadow = view.availability().shadow(job.size)
    return -1.0 if shadow is None else shadow.start - view.now

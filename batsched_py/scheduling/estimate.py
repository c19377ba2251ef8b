"""The waiting time of a job: the answer to Batsim's query `estimate_waiting_time`."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Final

from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Slot

if TYPE_CHECKING:
    from batsched_py.model.job import Job
    from batsched_py.scheduling.plan import Plan
    from batsched_py.scheduling.view import View

#: Waiting jobs that are thought of; each is planned, as conservative backfilling would, to answer one question.
FORESEEN: Final = 1000


def waiting_time(job: Job, view: View, plan: Plan) -> float | None:
    """Return the seconds until a job starts, which need not have been submitted; None if it can never start.

    A job that holds a promise starts then. Any other is expected to start where conservative backfilling would
    put it: after the promises that were made, and after the jobs before it in the queue (at most FORESEEN), each at its
    earliest start by the walltimes of those before. A job that nobody has submitted comes after all.
    """
    if job.id not in view.queue and view.job(job.id) is not None:
        return 0.0  # it runs
    promise = plan.promises.get(job.id)
    start = _start(job, view, plan) if promise is None else promise.start
    return max(0.0, start - view.now) if start < math.inf else None


def _start(job: Job, view: View, plan: Plan) -> float:
    """Return its earliest start, infinite if there is none; the availability is left as it was."""
    future = view.availability()
    kept: list[Slot] = []
    try:
        for other in islice(view.queue, FORESEEN):
            if other.id == job.id:
                break
            slot = _place(other, plan, future)
            if slot is not None and slot.end > max(slot.start, future.now):
                future.reserve(slot)
                kept.append(slot)
        found = future.earliest(job.size, job.limit)
        return math.inf if found is None else found.start
    finally:
        for slot in kept:
            future.release(slot)


def _place(job: Job, plan: Plan, future: Availability) -> Slot | None:
    """Return where a waiting job is expected to run; None if that is reserved already, or nowhere."""
    promise = plan.promises.get(job.id)
    if not isinstance(promise, Slot):
        return future.earliest(job.size, job.limit)
    free = future.free_during(max(promise.start, future.now), promise.end)
    return promise if promise.hosts <= free else None

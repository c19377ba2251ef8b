"""Deadlock: descriptions of simulations that wait for something impossible (E15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.live_jobs import ONLY_IN_THE_BOOKS, RUNNING, SUBMITTED
from batsched_py.text.wording import counted, extent

if TYPE_CHECKING:
    from batsched_py.simulator.jobs.lifecycle import Jobs

#: Maximum number of waiting jobs that are named; the others are counted.
NAMED: Final = 3
_ALL_ENDED: Final = "all jobs have ended"


def describe_deadlock(context: Context, jobs: Jobs, *, registering: bool) -> str:
    """Return one line about a deadlocked simulation; `registering` if jobs may still be registered."""
    standing = describe_standing(context, jobs, registering=registering)
    running = [(job_id, live.running) for job_id, live in jobs.live.items() if live.state == RUNNING]
    lost = [job_id for job_id, part in running if part is None]
    still = [job_id for job_id, part in running if part is not None and not part.waits]
    reasons = [f"{_named(lost)} lost with a host or link that went off (see --on-failure)"] if lost else []
    if still:
        reasons.append(f"{_named(still)} at rest, without capacity, or with ranks that wait for each other")
    if reasons:
        standing = "; ".join([*reasons, standing.removeprefix(_ALL_ENDED).removeprefix("; ")])
    return f"t={context.queue.stamp:.6f}: nothing will ever happen again, yet {standing}, no call is pending"


def _named(jobs: Sequence[str]) -> str:
    """Return the first jobs with a verb: "w0!1 is", "w0!1, w0!2 are"."""
    others = f" and {len(jobs) - NAMED} others" if len(jobs) > NAMED else ""
    return f"{', '.join(jobs[:NAMED])}{others} {'is' if len(jobs) == 1 else 'are'}"


def describe_standing(context: Context, jobs: Jobs, *, registering: bool) -> str:
    """Return the condition for which a simulation waits and the number of free hosts, or that all jobs have ended."""
    reasons, machines = [], context.machines
    waiting = [live.job for live in jobs.live.values() if live.state == SUBMITTED]
    if waiting:
        shown = ", ".join(f"{job.id} of {extent(job.size, tasks=job.demand is not None)}" for job in waiting[:NAMED])
        others = f" and {len(waiting) - NAMED} others" if len(waiting) > NAMED else ""
        wait = "job waits" if len(waiting) == 1 else "jobs wait"
        reasons.append(f"{len(waiting)} {wait} for a decision ({shown}{others})")
    unreal = [job_id for job_id, live in jobs.live.items() if live.state == ONLY_IN_THE_BOOKS]
    if unreal:
        reasons.append(f"{', '.join(unreal[:NAMED])} was set to RUNNING by CHANGE_JOB_STATE and never ends")
    deaf = [job_id for job_id, live in jobs.live.items() if live.running is not None and live.running.waits]
    if deaf:
        reasons.append(f"{', '.join(deaf[:NAMED])} waits for a message (profile of type recv), without a walltime")
    if registering:
        reasons.append("registration was never finished")
    total = counted(machines.compute_count, "host")
    free = counted((machines.free & machines.compute).bit_count(), f"of {total} is free", f"of {total} are free")
    return f"{'; '.join(reasons) or _ALL_ENDED}; {free}"

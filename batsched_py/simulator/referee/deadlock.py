"""Deadlock: what a simulation waits for that can never happen (E15)."""

from __future__ import annotations

from batsched_py.simulator.jobs.lifecycle import ONLY_IN_THE_BOOKS, SUBMITTED, Jobs
from batsched_py.simulator.jobs.registration import Registration
from batsched_py.simulator.machines.machines import Machines
from batsched_py.simulator.time.event_queue import EventQueue
from batsched_py.wording import counted

#: Waiting jobs that are named; of the others only the number is told.
NAMED = 3


def describe_deadlock(queue: EventQueue, jobs: Jobs, machines: Machines, registration: Registration) -> str:
    """One line about a simulation that cannot go on."""
    reasons = []
    waiting = [live.job for live in jobs.live.values() if live.state == SUBMITTED]
    if waiting:
        shown = ", ".join(f"{job.id} of {counted(job.size, 'host')}" for job in waiting[:NAMED])
        others = f" and {len(waiting) - NAMED} others" if len(waiting) > NAMED else ""
        wait = "job waits" if len(waiting) == 1 else "jobs wait"
        reasons.append(f"{len(waiting)} {wait} for a decision ({shown}{others})")
    unreal = [live.job.id for live in jobs.live.values() if live.state == ONLY_IN_THE_BOOKS]
    if unreal:
        reasons.append(f"{', '.join(unreal[:NAMED])} was set to RUNNING by CHANGE_JOB_STATE and never ends")
    deaf = [job_id for job_id, live in jobs.live.items() if live.talking is not None and live.talking.waits]
    if deaf:
        reasons.append(f"{', '.join(deaf[:NAMED])} waits for a message (profile of type recv), without a walltime")
    if registration.open:
        reasons.append("registration was never finished")
    total = counted(machines.compute_count, "host")
    free = counted((machines.free & machines.compute).bit_count(), f"of {total} is free", f"of {total} are free")
    return f"t={queue.stamp:.6f}: nothing will ever happen again, yet {'; '.join(reasons)}; {free}, no call is pending"

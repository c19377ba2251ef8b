"""Job arrays of Slurm's accounting: the tasks of one array among the jobs of a log, and how many may run at once.

A task has the JobID `123_4`; tasks that have not become jobs share a row `123_[5-9%2]`. The limit, sbatch's
`--array=0-9%2`, is in such rows and in SubmitLine. Source: sacct(1) and sbatch(1).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from batsched_py.model.recorded_wait import RECORDED_WAIT
from batsched_py.traces.delay_workload import DelayJob
from batsched_py.traces.slurm_members import SLURM
from batsched_py.traces.submit_options import array_limit, submit_options

#: The members of a job with its array, and in SLURM with its number there.
ARRAY: Final = "array"
_TASK_NUMBER: Final = "array_task"
#: Name of a task: its array, its number, and what makes the name unique (`123_4@beta`, `123_4.2`).
_TASK: Final = re.compile(r"(\d{1,15})_(0|[1-9]\d{0,8})([@.].*)?")
_PENDING: Final = re.compile(r"(\d{1,15})_\[[^\]%]*(?:%(\d{1,9}))?\]?")
#: Members in which the tasks of one array may differ.
_OWN: Final = frozenset({RECORDED_WAIT, ARRAY})


class PendingTasks(NamedTuple):
    """A row of tasks that have not become jobs: the number of their array, and its limit."""

    array: str
    limit: int | None


def pending_tasks(job_id: str) -> PendingTasks | None:
    """Return the array of a JobID such as `123_[5-9%2]`; None for another one."""
    match = _PENDING.fullmatch(job_id)
    return None if match is None else PendingTasks(match[1], int(match[2]) if match[2] and int(match[2]) else None)


def limit_in_command(command: str) -> int | None:
    """Return the limit on running tasks in the command that submitted an array; None without one."""
    if "%" not in command:  # splitting is slow
        return None
    limits = (array_limit(value) for option, value in submit_options(command) if option == "--array")
    return next((limit for limit in limits if limit is not None), None)


def array_number(name: str) -> str | None:
    """Return the number of the array of a task, from its name; None for another job."""
    match = _TASK.fullmatch(name)
    return None if match is None else match[1]


def task_members(name: str, limit: int | None, members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of a job as a task of its array, with the limit on running tasks, if it is one by its name."""
    match = _TASK.fullmatch(name)
    if match is None:
        return members
    array = {"id": match[1] + (match[3] or ""), **({} if limit is None else {"limit": limit})}
    return {**members, ARRAY: array, SLURM: {**members.get(SLURM, {}), _TASK_NUMBER: int(match[2])}}


def apart_if_unlike(jobs: Sequence[DelayJob]) -> tuple[list[DelayJob], int]:
    """Return jobs without the array where a task is unlike most of its array, and the number of these tasks.

    Slurm's tasks have one submission and one request. Accounting shows tasks that were requeued later or changed.
    """
    often: dict[str, Counter[bytes]] = {}
    kinds = [_kind(job) if ARRAY in job.members else b"" for job in jobs]
    for job, kind in zip(jobs, kinds, strict=True):
        if kind:
            often.setdefault(job.members[ARRAY]["id"], Counter())[kind] += 1
    usual = {array: counts.most_common(1)[0][0] for array, counts in often.items()}
    found = [
        _alone(job) if kind and kind != usual[job.members[ARRAY]["id"]] else job
        for job, kind in zip(jobs, kinds, strict=True)
    ]
    return found, sum(one is not job for one, job in zip(found, jobs, strict=True))


def _kind(job: DelayJob) -> bytes:
    """Return what the tasks of an array must have in common."""
    members = {name: value for name, value in job.members.items() if name not in _OWN}
    slurm = {name: value for name, value in members[SLURM].items() if name != _TASK_NUMBER}
    limit = job.members[ARRAY].get("limit")
    return orjson.dumps([job.submit, job.size, job.walltime, limit, {**members, SLURM: slurm}])


def _alone(job: DelayJob) -> DelayJob:
    """Return a task as a job of its own."""
    members = {name: value for name, value in job.members.items() if name != ARRAY}
    slurm = {name: value for name, value in members.pop(SLURM).items() if name != _TASK_NUMBER}
    return job._replace(members={**members, SLURM: slurm} if slurm else members)

"""Dependencies between the jobs of a log: fields 17 and 18 of the standard format, and those of Slurm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from batsched_py.errors import WorkloadError
from batsched_py.text.display import displayed
from batsched_py.traces.delay_workload import DelayJob
from batsched_py.traces.swf_log import SwfLog

#: Maximum number of dependencies of a log: the id of an array stands for thousands of tasks.
MOST: Final = 1_000_000


def with_dependencies(log: SwfLog, jobs: Sequence[DelayJob]) -> tuple[list[DelayJob], int]:
    """Return jobs of a log that wait for the end of their preceding jobs, plus the think times, or as Slurm's do.

    The second value is the number of jobs without a dependency because the other job is not among these jobs.
    """
    if log.dependencies:
        return _as_in_slurm(log, jobs)
    records = (*log.records, *log.cancelled)
    before = {record.number: (record.preceding_job, record.think_time) for record in records}
    kept = {job.number for job in jobs}
    width = len(str(max(kept, default=0)))
    found, cut = list[DelayJob](), 0
    for job in jobs:
        preceding, think = before[job.number]
        if preceding in kept and preceding != job.number:
            dependency = {"job": f"{preceding:0{width}d}", "when": "end", "delay": max(think, 0)}
            found.append(job._replace(members={**job.members, "depends_on": [dependency]}))
        else:
            cut += preceding > 0
            found.append(job)
    return found, cut


def _as_in_slurm(log: SwfLog, jobs: Sequence[DelayJob]) -> tuple[list[DelayJob], int]:
    """Return the jobs with the dependencies of Slurm; the id of an array stands for all its tasks."""
    kept = {job.name for job in jobs}
    tasks = dict[str, list[str]]()
    for job in jobs:
        array, underscore, _ = job.name.partition("_")
        if underscore:
            tasks.setdefault(array, []).append(job.name)
    found, cut, expanded = list[DelayJob](), 0, 0
    for job in jobs:
        given = log.dependencies.get(job.number)
        if given is None:
            found.append(job)
            continue
        members = dict(job.members)
        depends_on = list[dict[str, Any]]()
        for other, when, delay in given.jobs:
            names = [other] if other in kept else tasks.get(other, [])
            named = [name for name in names if name != job.name]
            cut += not named
            if (expanded := expanded + len(named)) > MOST:
                rule = f"must not depend on more than {MOST} tasks of arrays, together with all jobs before"
                raise WorkloadError(log.source, f"job {displayed(job.name)}", rule)
            depends_on += [{"job": name, "when": when, **({"delay": delay} if delay else {})} for name in named]
        if depends_on:
            members["depends_on"] = depends_on
        if given.singleton:
            members["singleton"] = given.name
        found.append(job._replace(members=members))
    return found, cut

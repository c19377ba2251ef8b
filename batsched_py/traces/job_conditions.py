"""The conditions of a workload's jobs on each other, checked together: names that exist, no cycles, equal limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from batsched_py.model.cancellation import CANCELLED_AFTER
from batsched_py.model.conditions import CONDITIONS, check_graph, conditions_in
from batsched_py.model.job import Job
from batsched_py.model.name_set import NameSet
from batsched_py.model.workload import Workload
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import displayed


class JobConditions:
    """The conditions read so far."""

    def __init__(self) -> None:
        #: Name of a job -> the names of the jobs on which it depends, in the same workload.
        self._dependent: dict[str, Sequence[str]] = {}
        #: Array -> its limit, and the first job that gives it.
        self._limits: dict[str, tuple[int | None, str]] = {}

    def read(self, job: Job, members: Mapping[str, Any]) -> None:
        """Read the conditions among a job's members. FieldError; other workloads' jobs are not looked up."""
        conditions = conditions_in(members)
        others = [one.job for one in conditions.depends_on if "!" not in one.job]
        if others:
            self._dependent[job.id] = others
        if conditions.array is not None:
            task = conditions.array
            limit, first = self._limits.setdefault(task.id, (task.limit, job.id))
            if task.limit != limit:
                given = "absent" if limit is None else f"{limit}"
                raise FieldError("array.limit", f"must be {given}, as that of job {displayed(first)} in the same array")

    def check(self, jobs: Iterable[Job]) -> None:
        """Check whether all jobs exist on which others depend, and none depends on itself. FieldError."""
        if not self._dependent:
            return
        names = NameSet()
        for job in jobs:
            names.add(job.id)
        check_graph(self._dependent, names)


def without_outer_dependencies(jobs: Sequence[Job]) -> tuple[tuple[Job, ...], int]:
    """Return the jobs without dependencies on jobs that are not among them, and the number of these dependencies."""
    if all(CONDITIONS.isdisjoint(job.members) for job in jobs):
        return tuple(jobs), 0
    names = {job.id for job in jobs}
    found, cut = list[Job](), 0
    for job in jobs:
        given = job.members.get("depends_on", ())
        wanted = conditions_in(job.members).depends_on
        kept = [one for one, read in zip(given, wanted, strict=True) if "!" in read.job or read.job in names]
        cut += len(given) - len(kept)
        if len(kept) < len(given):
            others = {name: value for name, value in job.members.items() if name != "depends_on"}
            job = replace(job, members={**others, "depends_on": kept} if kept else others)  # noqa: PLW2901
        found.append(job)
    return tuple(found), cut


def left_to_others(workload: Workload) -> Workload:
    """Return the workload with a note if its jobs have conditions or cancellations, which another program obeys."""
    left = []
    if not all(CONDITIONS.isdisjoint(job.members) for job in workload.jobs):
        left.append("conditions of jobs on other jobs")
    if any(CANCELLED_AFTER in job.members for job in workload.jobs):
        left.append("cancellations of jobs")
    if not left:
        return workload
    note = f"{workload.source}: {' and '.join(left)} are left to the program that decides"
    return replace(workload, notes=(*workload.notes, note))

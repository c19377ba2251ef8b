"""The limits that hold for a job: those of the QOS of its partition, of its own QOS, and of its association.

A limit that is set at several levels is that of the first one, in this order; `OverPartQOS` exchanges the first two.
Among associations the first one from the user up to the root counts, but limits of a group (Grp...) are all obeyed.
Source: resource_limits.html and qos.html of Slurm's documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from batsched_py.slurm.accounts import Accounts, Association, Qos, UsageBounds
from batsched_py.slurm.configuration import SlurmPartition
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.usage_counts import UsageGroup

#: Kinds of limits: running jobs of a group; their amount of a resource; the same by the minutes of their limits; the
#: amount of one job; its time limit in minutes; jobs of a group that have not ended.
BoundKind = Literal["jobs", "sum", "minutes", "each", "wall", "submissions"]
#: The flag of a QOS whose limits are before those of the QOS of the partition.
_FIRST: Final = "overpartqos"


class JobBound(NamedTuple):
    """One limit: at most so much, in a group of jobs or for each job, and the reason that squeue shows beyond it.

    `name` is a resource, `group` None for limits of one job, `is_denied` true if jobs that exceed it alone are refused
    at submission.
    """

    kind: BoundKind
    name: str
    most: int
    group: UsageGroup | None
    reason: str
    is_denied: bool = False


class LimitLevels:
    """The limits of all jobs of one cluster."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        #: Limits by partition, QOS, user and association.
        self._known: dict[tuple[str, int, str, int], tuple[JobBound, ...]] = {}

    def groups(self, job: SlurmJob, partition: SlurmPartition) -> Iterator[UsageGroup]:
        """Yield the groups in which a job counts."""
        for qos in self._qos(job, partition):
            yield id(qos)
            yield id(qos), job.request.user
        for here in job.association.path() if job.association is not None else ():
            yield id(here)

    def bounds(self, job: SlurmJob, partition: SlurmPartition) -> tuple[JobBound, ...]:
        """Return the limits of a job in a partition, in the order in which they are checked."""
        key = (partition.name, id(job.qos), job.request.user, id(job.association))
        if key not in self._known:
            self._known[key] = tuple(self._found(job, partition))
        return self._known[key]

    def _qos(self, job: SlurmJob, partition: SlurmPartition) -> list[Qos]:
        """Return the QOS whose limits hold, in their order."""
        own = [] if job.qos is None else [job.qos]
        of_partition = [] if partition.qos is None else [self._accounts.qos[partition.qos]]
        if own and _FIRST in own[0].flags:
            return own + of_partition
        return of_partition + own

    def _found(self, job: SlurmJob, partition: SlurmPartition) -> Iterator[JobBound]:
        taken: set[tuple[str, str]] = set()
        is_denied = job.qos is not None and "denyonlimit" in job.qos.flags
        for qos in self._qos(job, partition):
            for name, one in _of_qos(qos, job.request.user):
                if name not in taken:
                    taken.add(name)
                    yield one._replace(is_denied=is_denied)
        association = job.association
        for here in association.path() if association is not None else ():
            for name, one in _of_association(here, id(association)):
                if name not in taken:
                    if not name[0].startswith("grp"):
                        taken.add(name)
                    yield one._replace(is_denied=is_denied)


#: A limit by its name and resource, which other levels may have, too.
_Named = tuple[tuple[str, str], JobBound]


def _of_qos(qos: Qos, user: str) -> Iterator[_Named]:
    bounds, users = qos.bounds, (id(qos), user)
    yield from _grouped(bounds, id(qos), "QOS")
    if bounds.max_jobs_user is not None:
        yield ("max_jobs", ""), JobBound("jobs", "", bounds.max_jobs_user, users, "QOSMaxJobsPerUserLimit")
    if bounds.max_submit_user is not None:
        yield ("max_submit", ""), JobBound("submissions", "", bounds.max_submit_user, users, "")
    for name, most in bounds.max_tres_user.items():
        yield ("max_tres_user", name), JobBound("sum", name, most, users, f"QOSMax{_title(name)}PerUserLimit")
    yield from _each(bounds, "QOS")


def _of_association(here: Association, user: int) -> Iterator[_Named]:
    """Yield the limits of an association for the jobs of one below it, which inherits numbers of jobs."""
    bounds = here.bounds
    yield from _grouped(bounds, id(here), "Assoc")
    if bounds.max_jobs is not None:
        yield ("max_jobs", ""), JobBound("jobs", "", bounds.max_jobs, user, "AssocMaxJobsLimit")
    if bounds.max_submit is not None:
        yield ("max_submit", ""), JobBound("submissions", "", bounds.max_submit, user, "")
    yield from _each(bounds, "Assoc")


def _grouped(bounds: UsageBounds, group: int, kind: str) -> Iterator[_Named]:
    if bounds.grp_jobs is not None:
        yield ("grp_jobs", ""), JobBound("jobs", "", bounds.grp_jobs, group, f"{kind}GrpJobsLimit")
    if bounds.grp_submit is not None:
        yield ("grp_submit", ""), JobBound("submissions", "", bounds.grp_submit, group, "")
    for name, most in bounds.grp_tres.items():
        yield ("grp_tres", name), JobBound("sum", name, most, group, f"{kind}Grp{_title(name)}Limit")
    for name, most in bounds.grp_tres_run_mins.items():
        reason = f"{kind}Grp{_title(name).upper()}RunMinutesLimit"
        yield ("grp_tres_run_mins", name), JobBound("minutes", name, most, group, reason)


def _each(bounds: UsageBounds, kind: str) -> Iterator[_Named]:
    for name, most in bounds.max_tres_job.items():
        yield ("max_tres_job", name), JobBound("each", name, most, None, f"{kind}Max{_title(name)}PerJobLimit")
    if bounds.max_wall is not None:
        reason = f"{kind}MaxWallDurationPerJobLimit"
        yield ("max_wall", ""), JobBound("wall", "", bounds.max_wall, None, reason)


def _title(name: str) -> str:
    return {"cpu": "Cpu", "node": "Node", "mem": "Memory"}.get(
        name, "License" if name.startswith("license/") else "GRES"
    )

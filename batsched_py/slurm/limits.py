"""Limits of QOS, associations and partitions: the reason for which a job has to wait, or "".

The reasons are those that squeue shows, by Slurm's page resource_limits.html.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from batsched_py.slurm.accounts import Accounts, Qos, UsageBounds
from batsched_py.slurm.configuration import SlurmConfiguration, SlurmPartition
from batsched_py.slurm.jobs import RUNNING, SlurmJob

#: An association, a QOS, or a QOS and a user, by `id()`, whose jobs are counted together.
_Group = int | tuple[int, str]
#: Names under which numbers of jobs and minutes of processors and others are counted, besides names of resources.
_JOBS: Final = "jobs"
_MINUTES: Final = "minutes of "


class UsageCounts:
    """Numbers and amounts of the jobs of each group, which are added up as jobs come and go."""

    def __init__(self) -> None:
        self._sums: Counter[tuple[_Group, str]] = Counter()
        #: What each job was counted as.
        self._counted: dict[SlurmJob, dict[str, int]] = {}

    def add(self, job: SlurmJob, amounts: dict[str, int]) -> None:
        """Count a job with amounts of resources, and as one job."""
        self._counted[job] = counted = {_JOBS: 1, **amounts}
        for group in _groups(job):
            for name, many in counted.items():
                self._sums[group, name] += many

    def remove(self, job: SlurmJob) -> None:
        """Count a job no more."""
        for name, many in self._counted.pop(job).items():
            for group in _groups(job):
                self._sums[group, name] -= many

    def of(self, group: _Group, name: str = _JOBS) -> int:
        """Return the number of jobs of a group, or their amount of a resource."""
        return self._sums[group, name]


class UsageLimits:
    """The limits that jobs of one cluster obey, and what running and all jobs use of them."""

    def __init__(self, configuration: SlurmConfiguration, accounts: Accounts) -> None:
        self._is_enforced = "limits" in configuration.enforce
        self._running, self._all = UsageCounts(), UsageCounts()
        every = [one.bounds for one in accounts.qos.values()]
        every += [one.bounds for one in (*accounts.by_account.values(), *accounts.users())]
        #: Resources that limits bound, and those whose minutes they bound.
        self._bounded = tuple(dict.fromkeys(name for one in every for name in (*one.grp_tres, *one.max_tres_user)))
        self._bounded_minutes = tuple(dict.fromkeys(name for one in every for name in one.grp_tres_run_mins))

    def note_submission(self, job: SlurmJob) -> None:
        """Count a new job."""
        if self._is_enforced:
            self._all.add(job, {})

    def note_end(self, job: SlurmJob) -> None:
        """Count a job no more that has ended, or was removed from the queue."""
        if self._is_enforced:
            self._all.remove(job)

    def note_start(self, job: SlurmJob) -> None:
        """Count a job as running, with its allocation."""
        if self._is_enforced:
            amounts = {name: amount(job, name) for name in self._bounded}
            minutes = {_MINUTES + name: amount(job, name) * job.limit for name in self._bounded_minutes}
            self._running.add(job, amounts | minutes)

    def note_stop(self, job: SlurmJob) -> None:
        """Count a job as running no more."""
        if self._is_enforced:
            self._running.remove(job)

    def note_changes(self, running: Iterable[SlurmJob]) -> None:
        """Count running jobs anew: states or limits have changed."""
        if self._is_enforced:
            for job in running:
                self._running.remove(job)
                self.note_start(job)

    def partition_reason(self, job: SlurmJob, partition: SlurmPartition) -> str:
        """Return the limit of a partition that the job exceeds."""
        if not partition.up:
            return "PartitionDown"
        if job.limit > partition.max_time:
            return "PartitionTimeLimit"
        if partition.max_nodes is not None and job.min_nodes > partition.max_nodes:
            return "PartitionNodeLimit"
        if job.max_nodes < partition.min_nodes or job.min_nodes > partition.nodes.bit_count():
            return "PartitionNodeLimit"
        return ""

    def reason(self, job: SlurmJob) -> str:
        """Return the limit of its QOS or association that the job would exceed if it started now."""
        if not self._is_enforced:
            return ""
        if job.qos is not None:
            bounds = job.qos.bounds
            found = self._grouped(job, bounds, id(job.qos), "QOS") or self._user_reason(job, job.qos)
            if found or (found := _of_job(job, bounds, "QOS")):
                return found
        if job.association is None:
            return ""
        for number, here in enumerate(job.association.path()):
            if found := self._grouped(job, here.bounds, id(here), "Assoc"):
                return found
            most = here.bounds.max_jobs
            if number == 0 and most is not None and self._running.of(id(here)) >= most:
                return "AssocMaxJobsLimit"
            if found := _of_job(job, here.bounds, "Assoc"):
                return found
        return ""

    def refusal(self, jobs: Sequence[SlurmJob]) -> str:
        """Return the message with which new jobs of one request are refused at submission, or ""."""
        job = jobs[0]
        if not self._is_enforced:
            return ""
        message = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
        if job.qos is not None:
            bounds, qos = job.qos.bounds, id(job.qos)
            if self._exceeds(bounds.max_submit_user, (qos, job.request.user), jobs):
                return message
            if self._exceeds(bounds.grp_submit, qos, jobs):
                return message
            if "denyonlimit" in job.qos.flags and _of_job(job, bounds, "QOS"):
                return message
        for number, here in enumerate(job.association.path() if job.association is not None else ()):
            if self._exceeds(here.bounds.grp_submit, id(here), jobs):
                return message
            if number == 0 and self._exceeds(here.bounds.max_submit, id(here), jobs):
                return message
        return ""

    def _user_reason(self, job: SlurmJob, qos: Qos) -> str:
        bounds, group = qos.bounds, (id(qos), job.request.user)
        if bounds.max_jobs_user is not None and self._running.of(group) >= bounds.max_jobs_user:
            return "QOSMaxJobsPerUserLimit"
        for name, most in bounds.max_tres_user.items():
            if self._running.of(group, name) + amount(job, name) > most:
                return f"QOSMax{_title(name)}PerUserLimit"
        return ""

    def _grouped(self, job: SlurmJob, bounds: UsageBounds, group: _Group, kind: str) -> str:
        if bounds.grp_jobs is not None and self._running.of(group) >= bounds.grp_jobs:
            return f"{kind}GrpJobsLimit"
        for name, most in bounds.grp_tres.items():
            if self._running.of(group, name) + amount(job, name) > most:
                return f"{kind}Grp{_title(name)}Limit"
        for name, most in bounds.grp_tres_run_mins.items():
            if self._running.of(group, _MINUTES + name) + amount(job, name) * job.limit > most:
                return f"{kind}Grp{_title(name).upper()}RunMinutesLimit"
        return ""

    def _exceeds(self, most: int | None, group: _Group, jobs: Sequence[SlurmJob]) -> bool:
        return most is not None and self._all.of(group) + len(jobs) > most


def _groups(job: SlurmJob) -> Iterator[_Group]:
    """Yield the groups of a job."""
    if job.qos is not None:
        yield id(job.qos)
        yield id(job.qos), job.request.user
    for here in job.association.path() if job.association is not None else ():
        yield id(here)


def amount(job: SlurmJob, name: str) -> int:
    """Return the amount of a resource that a job has or asks for."""
    if name == "cpu":
        return job.allocation.cores if job.allocation is not None and job.state == RUNNING else job.cpus
    if name == "node":
        return job.allocation.nodes.bit_count() if job.allocation is not None else job.min_nodes
    if name.startswith("gres/"):
        return sum(one.count for one in job.request.gres if one.name == name[5:]) * job.min_nodes
    return 0


def _title(name: str) -> str:
    return {"cpu": "Cpu", "node": "Node", "mem": "Memory"}.get(name, "GRES")


def _of_job(job: SlurmJob, bounds: UsageBounds, kind: str) -> str:
    for name, most in bounds.max_tres_job.items():
        if amount(job, name) > most:
            return f"{kind}Max{_title(name)}PerJobLimit"
    if bounds.max_wall is not None and job.limit > bounds.max_wall:
        return f"{kind}MaxWallDurationPerJobLimit"
    return ""

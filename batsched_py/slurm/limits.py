"""Limits of QOS, associations and partitions: the reason for which a job has to wait, or "".

The reasons are those that squeue shows, by Slurm's page resource_limits.html.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from batsched_py.slurm.accounts import Accounts
from batsched_py.slurm.configuration import SlurmConfiguration, SlurmPartition
from batsched_py.slurm.job_amounts import JobAmounts
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.limit_levels import JobBound, LimitLevels
from batsched_py.slurm.node_use import NodeAllocation
from batsched_py.slurm.usage_counts import UsageCounts

#: What names of resources begin with if their minutes are counted.
_MINUTES: Final = "minutes of "
_REFUSAL: Final = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"


class UsageLimits:
    """The limits that jobs of one cluster obey, and what running and all jobs use of them."""

    def __init__(self, configuration: SlurmConfiguration, accounts: Accounts) -> None:
        self._is_enforced = "limits" in configuration.enforce
        self._levels, self._amounts = LimitLevels(accounts), JobAmounts(configuration)
        self._running, self._all = UsageCounts(), UsageCounts()
        every = [one.bounds for one in accounts.qos.values()]
        every += [one.bounds for one in (*accounts.by_account.values(), *accounts.users())]
        #: Resources that limits bound, and those whose minutes they bound.
        self._bounded = tuple(dict.fromkeys(name for one in every for name in (*one.grp_tres, *one.max_tres_user)))
        self._bounded_minutes = tuple(dict.fromkeys(name for one in every for name in one.grp_tres_run_mins))

    def note_submission(self, job: SlurmJob) -> None:
        """Count a new job."""
        if self._is_enforced:
            self._all.add(job, self._levels.groups(job, job.partitions[0]), {})

    def note_end(self, job: SlurmJob) -> None:
        """Count a job no more that has ended, or was removed from the queue."""
        if self._is_enforced:
            self._all.remove(job)

    def note_start(self, job: SlurmJob) -> None:
        """Count a job as running, with its allocation."""
        if self._is_enforced:
            amounts = {name: self._amounts.of(job, name) for name in self._bounded}
            minutes = {_MINUTES + name: self._amounts.of(job, name) * job.limit for name in self._bounded_minutes}
            self._running.add(job, self._levels.groups(job, job.partition or job.partitions[0]), amounts | minutes)

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
        flags = job.qos.flags if job.qos is not None else ()
        if job.limit > partition.max_time and "partitiontimelimit" not in flags:
            return "PartitionTimeLimit"
        least, most = job.asked_nodes
        if partition.max_nodes is not None and least > partition.max_nodes and "partitionmaxnodes" not in flags:
            return "PartitionNodeLimit"
        if (most < partition.min_nodes and "partitionminnodes" not in flags) or least > partition.nodes.bit_count():
            return "PartitionNodeLimit"
        return ""

    def reason(self, job: SlurmJob, partition: SlurmPartition, allocation: NodeAllocation | None = None) -> str:
        """Return the limit of a QOS or association that the job would exceed if it started now.

        With an allocation, the amounts are those of it, which may be more than the job asks for.
        """
        if not self._is_enforced:
            return ""
        for one in self._levels.bounds(job, partition):
            if self._exceeds(job, one, allocation):
                return one.reason
        return ""

    def refusal(self, jobs: Sequence[SlurmJob]) -> str:
        """Return the message with which new jobs of one request are refused at submission, or ""."""
        job = jobs[0]
        if not self._is_enforced:
            return ""
        for one in self._levels.bounds(job, job.partitions[0]):
            if one.kind == "submissions":
                if one.group is not None and self._all.of(one.group) + len(jobs) > one.most:
                    return _REFUSAL
            elif one.is_denied and self._alone(job, one) > one.most:
                return _REFUSAL
        return ""

    def _exceeds(self, job: SlurmJob, one: JobBound, allocation: NodeAllocation | None) -> bool:
        if one.kind == "submissions":
            return False
        many = self._alone(job, one, allocation)
        if one.group is not None:
            name = {"jobs": "jobs", "minutes": _MINUTES + one.name}.get(one.kind, one.name)
            many += self._running.of(one.group, name)
        return many > one.most

    def _alone(self, job: SlurmJob, one: JobBound, allocation: NodeAllocation | None = None) -> int:
        """Return what the job alone takes of a limit."""
        if one.kind == "jobs":
            return 1
        if one.kind == "wall":
            return job.limit
        return self._amounts.of(job, one.name, allocation) * (job.limit if one.kind == "minutes" else 1)

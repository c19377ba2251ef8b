"""Limits of QOS, associations and partitions: the reason for which a job has to wait, or "".

The reasons are those that squeue shows, by Slurm's page resource_limits.html.
"""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.slurm.accounts import Association, UsageBounds
from batsched_py.slurm.configuration import SlurmConfiguration, SlurmPartition
from batsched_py.slurm.jobs import RUNNING, SlurmJob


class UsageLimits:
    """The limits that jobs of one cluster obey."""

    def __init__(self, configuration: SlurmConfiguration) -> None:
        self._is_enforced = "limits" in configuration.enforce

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

    def reason(self, job: SlurmJob, running: Sequence[SlurmJob]) -> str:
        """Return the limit of its QOS or association that the job would exceed if it started now."""
        if not self._is_enforced:
            return ""
        if job.qos is not None:
            bounds = job.qos.bounds
            found = _grouped(job, bounds, [one for one in running if one.qos is job.qos], "QOS")
            found = found or self._user_reason(job, bounds, running)
            if found or (found := _of_job(job, bounds, "QOS")):
                return found
        if job.association is None:
            return ""
        for number, here in enumerate(job.association.path()):
            below = _below(running, here)
            if found := _grouped(job, here.bounds, below, "Assoc"):
                return found
            most = here.bounds.max_jobs
            if number == 0 and most is not None and len(below) >= most:
                return "AssocMaxJobsLimit"
            if found := _of_job(job, here.bounds, "Assoc"):
                return found
        return ""

    def refusal(self, jobs: Sequence[SlurmJob], known: Sequence[SlurmJob]) -> str:
        """Return the message with which new jobs of one request are refused at submission, or ""."""
        job = jobs[0]
        if not self._is_enforced:
            return ""
        left = [one for one in known if one.ended is None]
        message = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
        if job.qos is not None:
            bounds = job.qos.bounds
            of_qos = [one for one in left if one.qos is job.qos]
            of_user = [one for one in of_qos if one.request.user == job.request.user]
            if _exceeds(bounds.max_submit_user, of_user, jobs) or _exceeds(bounds.grp_submit, of_qos, jobs):
                return message
            if "denyonlimit" in job.qos.flags and _of_job(job, bounds, "QOS"):
                return message
        for number, here in enumerate(job.association.path() if job.association is not None else ()):
            below = _below(left, here)
            if _exceeds(here.bounds.grp_submit, below, jobs):
                return message
            if number == 0 and _exceeds(here.bounds.max_submit, below, jobs):
                return message
        return ""

    def _user_reason(self, job: SlurmJob, bounds: UsageBounds, running: Sequence[SlurmJob]) -> str:
        of_user = [one for one in running if one.qos is job.qos and one.request.user == job.request.user]
        if bounds.max_jobs_user is not None and len(of_user) >= bounds.max_jobs_user:
            return "QOSMaxJobsPerUserLimit"
        for name, most in bounds.max_tres_user.items():
            if sum(amount(one, name) for one in [*of_user, job]) > most:
                return f"QOSMax{_title(name)}PerUserLimit"
        return ""


def amount(job: SlurmJob, name: str) -> int:
    """Return the amount of a resource that a job has or asks for."""
    if name == "cpu":
        return job.allocation.cores if job.allocation is not None and job.state == RUNNING else job.cpus
    if name == "node":
        return job.allocation.nodes.bit_count() if job.allocation is not None else job.min_nodes
    if name.startswith("gres/"):
        return sum(one.count for one in job.request.gres if one.name == name[5:]) * job.min_nodes
    return 0


def _below(jobs: Sequence[SlurmJob], here: Association) -> list[SlurmJob]:
    return [one for one in jobs if one.association is not None and here in one.association.path()]


def _title(name: str) -> str:
    return {"cpu": "Cpu", "node": "Node", "mem": "Memory"}.get(name, "GRES")


def _grouped(job: SlurmJob, bounds: UsageBounds, group: Sequence[SlurmJob], kind: str) -> str:
    if bounds.grp_jobs is not None and len(group) >= bounds.grp_jobs:
        return f"{kind}GrpJobsLimit"
    for name, most in bounds.grp_tres.items():
        if sum(amount(one, name) for one in [*group, job]) > most:
            return f"{kind}Grp{_title(name)}Limit"
    for name, most in bounds.grp_tres_run_mins.items():
        if sum(amount(one, name) * one.limit for one in [*group, job]) > most:
            return f"{kind}Grp{_title(name).upper()}RunMinutesLimit"
    return ""


def _exceeds(most: int | None, known: Sequence[SlurmJob], jobs: Sequence[SlurmJob]) -> bool:
    return most is not None and len(known) + len(jobs) > most


def _of_job(job: SlurmJob, bounds: UsageBounds, kind: str) -> str:
    for name, most in bounds.max_tres_job.items():
        if amount(job, name) > most:
            return f"{kind}Max{_title(name)}PerJobLimit"
    if bounds.max_wall is not None and job.limit > bounds.max_wall:
        return f"{kind}MaxWallDurationPerJobLimit"
    return ""

"""The queue as squeue lists it, and the expected starts of `squeue --start`."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from msgspec import Struct
from msgspec.structs import asdict

from batsched_py.api import Job
from batsched_py.runs.slurm.job_status import DEPENDENCY, JobStatus, account_of, status_of
from batsched_py.schedulers.slurm.scheduler import Slurm
from batsched_py.slurm.job_member import read_member
from batsched_py.slurm.jobs import PENDING, SlurmJob

#: Order of states in the list.
_STATES = ("PENDING", "RUNNING", "SUSPENDED", "COMPLETING")


class QueuedJob(Struct, frozen=True):
    """A row of squeue.

    Attributes:
        job: the id in the workload; a requeued job keeps its first one.
        name: its job_name, or the id without that of the workload.
        partition: the partitions that it names, separated by commas; once it has started, its own.
        time: seconds for which it has run, without suspensions.
        nodes: number of its nodes, or of those that it asks for.
        nodelist, reason: those of the job's status.
        priority: None for a job that was not submitted to the controller, as the one on which it depends was not.
    """

    job: str
    partition: str
    name: str
    user: str
    account: str
    state: str
    time: float
    nodes: int
    nodelist: str
    reason: str
    priority: int | None

    @property
    def shown(self) -> str:
        """The column NODELIST(REASON)."""
        return JobStatus(self.state, self.reason, self.nodelist).shown

    @property
    def plain(self) -> dict[str, object]:
        """The row as a JSON object."""
        return asdict(self)


class ExpectedStart(Struct, frozen=True):
    """A row of `squeue --start`: a pending job, and its start in the last plan of backfill.

    Attributes:
        start: seconds since the start of the simulation; None if backfill has planned none.
        scheduled: the nodes that are reserved for it.
    """

    row: QueuedJob
    start: float | None
    scheduled: str

    @property
    def plain(self) -> dict[str, object]:
        """The row as a JSON object."""
        return {**self.row.plain, "start": self.start, "scheduled": self.scheduled}


def queued_jobs(scheduler: Slurm, now: float) -> list[QueuedJob]:
    """Return all jobs that pend or run, as squeue sorts them: by partition, state and descending priority."""
    cluster, submissions = scheduler.controller.cluster, scheduler.submissions
    rows = [
        _row(job_id, submitted, scheduler, now)
        for job_id, submitted in _present(scheduler)
        if submitted.state == PENDING or submitted in cluster.running
    ]
    default = cluster.configuration.default_partition
    rows += [_waiting(job, default.name if default is not None else "") for job in submissions.waiting]
    return sorted(rows, key=lambda row: (row.partition, _STATES.index(row.state), -(row.priority or 0)))


def expected_starts(scheduler: Slurm, now: float) -> list[ExpectedStart]:
    """Return the pending jobs by their planned starts; those without one are last."""
    cluster, plan = scheduler.controller.cluster, scheduler.controller.backfill.last
    found: dict[str, tuple[float, str]] = {}
    for one in plan.plan if plan is not None else ():
        if one.job not in found or one.start < found[one.job][0]:
            found[one.job] = one.start, cluster.names(one.nodes)
    keys = {job_id: job.key for job_id, job in _present(scheduler)}
    rows = [
        ExpectedStart(row, *found.get(keys.get(row.job, ""), (None, "")))
        for row in queued_jobs(scheduler, now)
        if row.state == PENDING
    ]
    return sorted(rows, key=lambda one: inf if one.start is None else one.start)


def _present(scheduler: Slurm) -> Iterator[tuple[str, SlurmJob]]:
    """Yield the submitted jobs that have not ended, with their ids, in the order of submission."""
    found = [(job.sequence, job_id, job) for job_id, job in scheduler.submissions.by_id.items() if job.ended is None]
    yield from ((job_id, job) for _, job_id, job in sorted(found, key=lambda one: one[:2]))


def _row(job_id: str, job: SlurmJob, scheduler: Slurm, now: float) -> QueuedJob:
    status, current = status_of(job, scheduler.controller.cluster), scheduler.enactment.jobs.get(job.key)
    own = [job.partition.name] if job.partition is not None and job.state != PENDING else None
    time = 0.0
    if job.started is not None and job.state != PENDING:
        until = now if job.suspended_since is None else job.suspended_since
        time = max(0.0, until - job.started - job.suspended)
    return QueuedJob(
        job_id,
        ",".join(own or (one.name for one in job.partitions)),
        _name(job_id, current),
        job.request.user,
        account_of(job),
        status.state,
        time,
        job.allocation.nodes.bit_count() if job.allocation is not None else max(job.min_nodes, 1),
        status.nodes,
        status.reason,
        job.priority,
    )


def _waiting(job: Job, default: str) -> QueuedJob:
    member, nodes = read_member(job.members), job.size if job.demand is None else 1
    user, account = job.user or "root", member.account or ""
    return QueuedJob(
        job.id,
        member.partition or default,
        _name(job.id, job),
        user,
        account,
        PENDING,
        0.0,
        nodes,
        "",
        DEPENDENCY,
        None,
    )


def _name(job_id: str, job: Job | None) -> str:
    member = "" if job is None else read_member(job.members).job_name
    return member or job_id.partition("!")[2] or job_id

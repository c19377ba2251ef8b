"""The factors of the priorities of pending jobs, as sprio lists them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from batsched_py.errors import TranscriptError
from batsched_py.runs.slurm.job_status import account_of
from batsched_py.schedulers.slurm.scheduler import Slurm
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.priority_factors import PriorityFactors


class JobPriority(Struct, frozen=True):
    """A row of sprio: a job in one of its partitions.

    Attributes:
        factors: weighted factors, of which the priority is the sum; None if the priority was set by hand.
    """

    job: str
    partition: str
    user: str
    account: str
    priority: int
    factors: PriorityFactors | None

    @property
    def plain(self) -> dict[str, object]:
        """The row as a JSON object."""
        return {
            "job": self.job,
            "partition": self.partition,
            "user": self.user,
            "account": self.account,
            "priority": self.priority,
            "factors": plain_factors(self.factors),
        }


def require_multifactor(scheduler: Slurm, recording: str) -> None:
    """Raise TranscriptError if priorities have no factors."""
    if not scheduler.controller.cluster.configuration.multifactor:
        raise TranscriptError(
            recording, "", "is a run without factors: conf must have PriorityType=priority/multifactor"
        )


def job_priorities(scheduler: Slurm, now: float) -> list[JobPriority]:
    """Return the priorities of the pending jobs in the order of submission.

    As with sprio, jobs are left out that are held, and that wait for a dependency or their begin.
    """
    ids = {job: job_id for job_id, job in scheduler.submissions.by_id.items() if job.ended is None}
    pending = scheduler.controller.cluster.pending
    return [one for job in pending if _is_eligible(job, now) for one in priorities_of(job, ids[job])]


def _is_eligible(job: SlurmJob, now: float) -> bool:
    has_begun = job.begin is None or job.begin <= now
    return has_begun and not job.is_held and not (job.request.dependency and job.is_dependency_open)


def priorities_of(job: SlurmJob, job_id: str) -> Iterator[JobPriority]:
    """Yield the priority of a job in each of its partitions."""
    is_computed = not (job.is_priority_fixed or job.is_held)
    for partition in job.partitions:
        factors = job.factors.get(partition.name) if is_computed else None
        priority = job.priority_in(partition)
        yield JobPriority(job_id, partition.name, job.request.user, account_of(job), priority, factors)


def plain_factors(factors: PriorityFactors | None) -> dict[str, object] | None:
    """Return factors as members of a JSON object; nice is subtracted from their sum, site is always 0."""
    if factors is None:
        return None
    return {
        "site": 0,
        "age": factors.age,
        "assoc": factors.association,
        "fairshare": factors.fair_share,
        "jobsize": factors.job_size,
        "partition": factors.partition,
        "qos": factors.qos,
        "nice": factors.nice,
        "tres": dict(factors.tres),
    }

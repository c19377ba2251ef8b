"""A job of Slurm's accounting: a parsed row, its relation to other rows of its number, and whether it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from batsched_py.traces.sacct_fields import ATTEMPTS, ENDED, GOING_ON, NEVER_RAN
from batsched_py.traces.slurm_dependency import NO_DEPENDENCY, SlurmDependency
from batsched_py.traces.swf_log import SwfRecord

#: States of attempts after which a job may be requeued.
_INTERRUPTED: Final = frozenset({"NODE_FAIL", "PREEMPTED"}) | NEVER_RAN | ATTEMPTS | GOING_ON
#: Maximum number of seconds from the end of an attempt to the submission of the next one.
_SOON: Final = 86400


class SacctJob(NamedTuple):
    """A parsed row. Times are in seconds since 1970; None if unknown."""

    line: int
    name: str
    cluster: str
    owner: tuple[str, str]
    state: str
    submit: int | None
    start: int | None
    end: int | None
    record: SwfRecord
    members: Mapping[str, Any]
    dependency: SlurmDependency = NO_DEPENDENCY
    tres: str = ""
    array_limit: int | None = None

    @property
    def order(self) -> tuple[float, ...]:
        """The sort key for chronological order: an unknown start comes last, an unknown end first."""
        start = float("inf") if self.start is None else self.start
        return self.submit or 0, start, self.end or 0, self.line

    def repeats(self, other: SacctJob) -> bool:
        """Return whether it is a duplicate of the other row, as in overlapping dumps."""
        return self.record == other.record and (self.state, self.owner, self.submit, self.start, self.end) == (
            (other.state, other.owner, other.submit, other.start, other.end)
        )

    def follows(self, other: SacctJob) -> bool:
        """Return whether it is the next attempt of a requeued job, and not a different job with the same number.

        A requeued job keeps its user and account, and is submitted again when the interrupted attempt ends.
        """
        if self.owner != other.owner or other.state not in _INTERRUPTED:
            return False
        return other.end is None or self.submit is None or self.submit - other.end <= _SOON


def was_withdrawn(job: SacctJob) -> bool:
    """Return whether a job was cancelled before its start at a known time."""
    known = job.submit is not None and job.end is not None and job.end >= job.submit
    return job.state == "CANCELLED" and known and "[" not in job.name


def reason_to_drop(job: SacctJob) -> str:
    """Return the rule that leaves out a job; "" for a finished one."""
    if job.state in ATTEMPTS:
        return "dropped_attempt"
    if job.state in NEVER_RAN:
        return "dropped_never_ran"
    if job.state in GOING_ON:
        return "dropped_going_on"
    if job.state not in ENDED:
        return "dropped_state"
    if "[" in job.name:  # tasks of an array that never became jobs
        return "dropped_never_ran"
    if job.start is None or (job.state == "CANCELLED" and job.record.run == 0):
        return "dropped_never_ran"
    return "dropped_going_on" if job.end is None else ""

"""Attempts of jobs: what is submitted again is another job of Batsim's, under a later name and with a row of its own.

A job that failed with its hosts is followed by `7~1`, `7~2`...; segments of leases, jobs that `ar_preempt` has stopped,
and those that pybatsim's `resubmit_job` submits are `7#1`, `7#2`...
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

#: A name of a later attempt: what it repeats, and its number.
_LATER: Final = re.compile(r"(.+)([~#])([1-9]\d*)", re.DOTALL)
#: Characters that stand in names of all later attempts.
_SIGNS: Final = ("~", "#")


class Attempt(NamedTuple):
    """A job of Batsim's that may be an attempt of another. Times in seconds.

    Attributes:
        row: where whoever asks has it; -1 if nowhere.
        job_id: as "workload!name".
        size: hosts that it asked for.
        hosts: compute hosts that it had.
        submitted: when it was submitted.
        start: 0 if it was rejected, like `finish`.
        finish: its end.
        state: its final state.
        metadata: what the scheduler attached to it.
    """

    row: int
    job_id: str
    size: int
    hosts: int
    submitted: float
    start: float
    finish: float
    state: str
    metadata: str

    @property
    def host_time(self) -> float:
        """Host seconds that it had."""
        return self.hosts * (self.finish - self.start)


class LaterName(NamedTuple):
    """The parts of the name of a later attempt: the id of an earlier one, the sign between them, and its number."""

    base: str
    sign: str
    number: int


def split_later(job_id: str) -> LaterName | None:
    """Return the parts of an id that looks like that of a later attempt; None of another."""
    found = _LATER.fullmatch(job_id)
    return None if found is None else LaterName(found[1], found[2], int(found[3]))


def has_sign(job_id: str) -> bool:
    """Return whether an id may be that of a later attempt, or of something that was done for a job."""
    return "~" in job_id or "#" in job_id


def bases_of(job_ids: Iterable[str]) -> set[str]:
    """Return all ids that these may be later attempts of: what stands before each sign in them."""
    return {job_id[:place] for job_id in job_ids for place, sign in enumerate(job_id) if sign in _SIGNS}

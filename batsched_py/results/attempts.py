"""Attempts of jobs: in Batsim a resubmitted job is a new job, with a derived name and a separate row.

After a failure of its hosts, job `7` is resubmitted as `7~1`, `7~2`...; segments of leases, jobs preempted by
`ar_preempt`, and jobs of pybatsim's `resubmit_job` are `7#1`, `7#2`...
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

#: The name of a later attempt: the repeated name, and a number.
_LATER: Final = re.compile(r"(.+)([~#])([1-9]\d*)", re.DOTALL)
#: Characters one of which is in the name of every later attempt.
_SIGNS: Final = ("~", "#")


class Attempt(NamedTuple):
    """A job in Batsim that may be an attempt of another one. Times in seconds.

    Attributes:
        row: index in the caller's table; -1 if it has no row there.
        job_id: id in the form "workload!name".
        size: number of requested hosts.
        hosts: number of allocated compute hosts.
        submitted: submission time.
        start: start time; 0 if it was rejected, like `finish`.
        finish: end time.
        state: final state.
        metadata: text that the scheduler attached to it.
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
        """Host seconds allocated to it."""
        return self.hosts * (self.finish - self.start)


class LaterName(NamedTuple):
    """The parts of the name of a later attempt: id of an earlier attempt, separator, and number."""

    base: str
    sign: str
    number: int


def split_later(job_id: str) -> LaterName | None:
    """Return the parts of an id with the form of a later attempt; None for other ids."""
    found = _LATER.fullmatch(job_id)
    return None if found is None else LaterName(found[1], found[2], int(found[3]))


def has_sign(job_id: str) -> bool:
    """Return whether an id may belong to a later attempt, or to auxiliary work for a job."""
    return "~" in job_id or "#" in job_id


def bases_of(job_ids: Iterable[str]) -> set[str]:
    """Return all ids of possible earlier attempts: the text before each separator."""
    return {job_id[:place] for job_id in job_ids for place, sign in enumerate(job_id) if sign in _SIGNS}

"""Grouping of the attempts of each job: metrics are of jobs, whereas tables of results list attempts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from msgspec import Struct

from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY, REJECTED
from batsched_py.reporting.schedules.lease_tables import RUN, LeaseTables
from batsched_py.results.attempts import Attempt, split_later
from batsched_py.results.lease_rows import ReservationUse
from batsched_py.text.representation import Brief

#: Id of a job that shows an overhead of a lease: the id of the lease's first job, the kind, and a number.
_OVERHEAD: Final = re.compile(
    rf"(.+)#(?:{'|'.join(use.value for use in ReservationUse if use is not ReservationUse.VM)})[1-9]\d*", re.DOTALL
)
#: Metadata of a segment that continues the work of the one before it.
_GOES_ON: Final = re.compile(r"lease .+, segment \d+", re.DOTALL)
#: The tolerance for equal times in seconds: files have six digits, and a run lasts at least 1e-5 s.
_SAME: Final = 1e-4


class JobAttempts(Struct, frozen=True):
    """A job with several attempts, or with overheads.

    Attributes:
        attempts: all attempts in order; the first one is the original submission.
        lost: the attempts whose work was discarded, because a later one began again.
        unmarked: the lost attempts that no lease table marks as lost.
        overheads: jobs that show suspensions or resumptions of its machines.
    """

    attempts: tuple[Attempt, ...]
    lost: tuple[Attempt, ...] = ()
    unmarked: tuple[Attempt, ...] = ()
    overheads: tuple[Attempt, ...] = ()

    @property
    def first(self) -> Attempt:
        """The original submission."""
        return self.attempts[0]

    @property
    def last(self) -> Attempt:
        """The last attempt, which determines the final state of the job."""
        return self.attempts[-1]

    @property
    def later(self) -> tuple[Attempt, ...]:
        """The later attempts and the overheads, which do not count as jobs."""
        return (*self.attempts[1:], *self.overheads)

    @property
    def run(self) -> float:
        """The run time of the attempts whose work was kept, in seconds."""
        return sum(one.finish - one.start for one in self.attempts[len(self.lost) :])

    @property
    def host_time(self) -> float:
        """The host seconds of all attempts and overheads."""
        return sum(one.host_time for one in (*self.attempts, *self.overheads))


class Attempts(Brief, frozen=True):
    """The attempts among the jobs of a run.

    Attributes:
        jobs: id of the first attempt -> job, for jobs with several attempts, or with overheads.
        firsts: id of a later attempt or an overhead -> id of the first attempt of its job.
    """

    jobs: Mapping[str, JobAttempts] = {}
    firsts: Mapping[str, str] = {}


NO_ATTEMPTS: Final = Attempts()


def put_together(found: Sequence[Attempt], leases: LeaseTables | None = None) -> Attempts:
    """Group the attempts of each job, among jobs whose names have the form of attempts.

    `7~1` follows `7`, or a later attempt of it, that failed, and must be submitted at its end; `7#1` follows one that
    did not succeed, after its end. The name alone is not sufficient, because users may choose any names. An attempt
    begins again, and the work before it is lost, unless it is a segment of a lease that continues, according to the
    tables of leases, or else to metadata.
    """
    if not found:
        return NO_ATTEMPTS
    known = {one.job_id: one for one in found}
    follower = _followers(known)
    followed = {one.job_id for one in follower.values()}
    overheads = _overheads(found, known)
    lost = _LostRuns(leases)
    jobs, firsts = dict[str, JobAttempts](), dict[str, str]()
    for one in found:
        if one.job_id in followed or not (one.job_id in follower or one.job_id in overheads):
            continue
        chain = [one]
        while (after := follower.get(chain[-1].job_id)) is not None:
            chain.append(after)
        overhead_jobs = tuple(over for part in chain for over in overheads.get(part.job_id, ()))
        job = jobs[one.job_id] = _job(chain, overhead_jobs, lost)
        firsts |= dict.fromkeys((part.job_id for part in job.later), one.job_id)
    return Attempts(jobs, firsts)


def _followers(known: Mapping[str, Attempt]) -> dict[str, Attempt]:
    """Return id of an attempt -> the attempt that follows it."""
    named = defaultdict[str, list[tuple[int, str, Attempt]]](list)
    for one in known.values():
        name = split_later(one.job_id)
        if name is not None and name.base in known:
            named[name.base].append((name.number, name.sign, one))
    follower = dict[str, Attempt]()
    for base, later in named.items():
        before = known[base]
        for _, sign, one in sorted(later, key=lambda found: found[:2]):
            if _follows(before, one, sign):
                follower[before.job_id] = before = one
    return follower


def _follows(before: Attempt, after: Attempt, sign: str) -> bool:
    if before.state in (COMPLETED_SUCCESSFULLY, REJECTED) or before.size != after.size:
        return False
    late = after.submitted - before.finish
    return abs(late) <= _SAME if sign == "~" else late >= -_SAME


def _overheads(found: Iterable[Attempt], known: Mapping[str, Attempt]) -> dict[str, list[Attempt]]:
    """Return id of a job -> its overheads."""
    overheads = defaultdict[str, list[Attempt]](list)
    for one in found:
        named = _OVERHEAD.fullmatch(one.job_id)
        if named is not None and named[1] in known:
            overheads[named[1]].append(one)
    return overheads


def _job(chain: Sequence[Attempt], overheads: tuple[Attempt, ...], runs: _LostRuns) -> JobAttempts:
    lease = runs.lease_of(chain[0])
    begins = max((place for place in range(1, len(chain)) if _begins_again(chain, place, lease, runs)), default=0)
    lost = tuple(chain[:begins])
    unmarked = tuple(one for one in lost if lease is None or not runs.is_lost(lease, one))
    return JobAttempts(tuple(chain), lost, unmarked, tuple(sorted(overheads, key=attrgetter("start"))))


def _begins_again(chain: Sequence[Attempt], place: int, lease: int | None, runs: _LostRuns) -> bool:
    """Return whether an attempt begins again, instead of continuing the work of the one before it."""
    name = split_later(chain[place].job_id)
    if name is None or name.sign == "~":
        return True
    if lease is not None:
        return runs.is_lost(lease, chain[place - 1])
    return _GOES_ON.fullmatch(chain[place].metadata) is None


class _LostRuns:
    """The runs of leases that the lease tables mark as lost."""

    def __init__(self, leases: LeaseTables | None) -> None:
        self._leases = {} if leases is None else leases.jobs
        spans = () if leases is None else leases.spans
        #: (lease, start rounded to a second) of the lost runs.
        self._lost = {(span.lease, round(span.start)) for span in spans if span.kind == RUN and span.lost}

    def lease_of(self, first: Attempt) -> int | None:
        """Return the lease that a job requested; None if it is in no table."""
        return self._leases.get(first.job_id)

    def is_lost(self, lease: int, attempt: Attempt) -> bool:
        """Return whether the tables mark an attempt of a lease as lost; starts may differ by the time of messages."""
        second = round(attempt.start)
        return any((lease, near) in self._lost for near in (second, second - 1, second + 1))

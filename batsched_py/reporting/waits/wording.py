"""Explanations of waits as text: the reasons, the moves of the promise, and the jobs that overtook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from batsched_py.model.decision_row import DecisionRow
from batsched_py.model.table import cell_text
from batsched_py.reporting.formatting import brief
from batsched_py.reporting.waits.blockers import Blocker, Counterfactual
from batsched_py.reporting.waits.explanation import Explanation, Interval
from batsched_py.reporting.waits.reasons import WORDS, Reason
from batsched_py.results.records import JobRecord
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: The largest number of jobs that are named in one place.
MOST_NAMED: Final = 3
#: Cause of a move -> its text if no job is named.
_CAUSES: Final = {
    "first": "its first promise",
    "failure": "hosts failed",
    "return": "hosts can be used again",
    "ends": "jobs ended",
    "arrivals": "jobs arrived that are served before it",
    "other": "other jobs were planned otherwise",
}


def delays_text(count: int) -> str:
    """Return the text for the number of overtaking jobs that each delayed the job without the others."""
    owner = "their" if count > 1 else "its"
    return f"{count or 'none'} of them delayed it on {owner} own"


class Stretch(NamedTuple):
    """An interval of a wait with one reason, regardless of changes of the blocking jobs.

    Attributes:
        begin, end: seconds since the start of the simulation.
        reason: the reason why the job did not start.
        blocked_by: the ids of the jobs that blocked it, ordered by decreasing duration.
    """

    begin: float
    end: float
    reason: Reason
    blocked_by: tuple[str, ...]


def stretches(intervals: Sequence[Interval]) -> list[Stretch]:
    """Return the intervals, with adjacent ones of the same reason merged; of conditions, with the same jobs."""
    found: list[Stretch] = []
    for (reason, _), following in groupby(intervals, key=_cause):
        some = list(following)
        seconds: dict[str, float] = {}
        for one in some:
            for job in one.blocked_by:
                seconds[job] = seconds.get(job, 0.0) + one.end - one.begin
        order = sorted(seconds, key=lambda job: -seconds[job])  # stable: ties in the order of appearance
        found.append(Stretch(some[0].begin, some[-1].end, reason, tuple(order)))
    return found


def _cause(interval: Interval) -> tuple[Reason, tuple[str, ...]]:
    """Return the reason of an interval, and the jobs if they are part of it."""
    return interval.reason, interval.blocked_by if interval.reason is Reason.CONDITION else ()


def named(jobs: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return the names of the first jobs, and the number of the others."""
    more = f" and {len(jobs) - most} more" if len(jobs) > most else ""
    return ", ".join(map(displayed, jobs[:most])) + more


def heading(explanation: Explanation) -> str:
    """Return a line with the job, its size and its wait."""
    record, until = explanation.record, explanation.until
    asked = f"{displayed(record.job.id)}: {counted(record.job.size, 'host')}, submitted at {at(record.job.submit_time)}"
    if record.rejected:
        refusal = next((row for row in explanation.rows if row.kind == "rejected"), None)
        when = "" if refusal is None else f" at {at(until)}: {displayed(refusal.words)}"
        return f"{asked}, rejected{when}"
    waited = f"waited {brief(until - record.job.submit_time)}" if until > record.job.submit_time else "did not wait"
    if not explanation.ran:
        return f"{asked}, not started when the run ended at {at(until)}: it {waited}"
    place = f" on hosts {displayed(str(record.hosts))}" if record.hosts else ""
    return f"{asked}, started at {at(record.start)}{place}: it {waited}"


def at(time: float) -> str:
    """Return a time with the precision of the files: "1234.5 s"."""
    return f"{cell_text(time)} s"


def words_of(explanation: Explanation, reason: Reason, end: float) -> str:
    """Return the text of a reason; for one of the algorithm's own, with its last words before `end`."""
    if reason not in (Reason.ALGORITHM, Reason.CONDITION, Reason.CONSTRAINT, Reason.OWN_START, Reason.RESOURCE):
        return WORDS[reason]
    holds = [row for row in explanation.rows if row.kind == "held" and row.time < end and row.reason != "hosts"]
    return f"{WORDS[reason]}: {displayed(holds[-1].words)}" if holds else WORDS[reason]


def blocking_text(blocker: Blocker) -> str:
    """Return the text of the way in which a job was in the way."""
    match blocker.reason:
        case Reason.PROMISE | Reason.RESERVATION if blocker.promise is not None:
            return f"it was promised to start at {at(blocker.promise)}"
        case Reason.QUEUE:
            return "it was before it in the queue"
        case Reason.CONDITION:
            return "its start or end was a condition"
    before = "" if blocker.promise is None else f", after a promise to start at {at(blocker.promise)}"
    return f"it ran on its hosts{before}"


def counterfactual_text(one: Counterfactual) -> str:
    """Return the text of a change that would have let a job start sooner."""
    jobs = named(one.jobs)
    match one.reason:
        case Reason.HOSTS_BUSY | Reason.HOSTS_UNAVAILABLE:
            more = counted(one.hosts, "free host more", "free hosts more")
            return f"{more}, and no promise to {jobs}" if jobs else more
        case Reason.PROMISE | Reason.RESERVATION:
            promise = f"no promise to {jobs}"
            if one.walltime is None or one.walltime <= 0:
                return promise
            return f"a walltime of at most {at(one.walltime)}, or {promise}"
        case Reason.QUEUE:
            return f"the hosts that were free, if {jobs} had not been before it"
        case Reason.CONSTRAINT:
            return "the number of hosts that were free, if these had suited it"
    return "the hosts that were free, if the algorithm had not held it back"


class Move(NamedTuple):
    """A change of a promise.

    Attributes:
        time: the time of the change.
        start: the promised start from then on; None if the promise was withdrawn.
        by: the difference from the start promised before, in seconds; None if there is none.
        why: the cause as text.
    """

    time: float
    start: float | None
    by: float | None
    why: str


def moves(explanation: Explanation, records: Mapping[str, JobRecord]) -> Iterator[Move]:
    """Yield the changes of the job's promise, in order of time."""
    before: float | None = None
    for row in explanation.rows:
        if row.kind not in ("promised", "withdrawn"):
            continue
        by = None if before is None or row.start is None else row.start - before
        yield Move(row.time, row.start, by, _why(row, records))
        before = row.start


def _why(row: DecisionRow, records: Mapping[str, JobRecord]) -> str:
    if not row.jobs:
        return _CAUSES.get(row.reason, "")
    if row.reason == "arrivals":
        return f"{named(row.jobs)} arrived"
    parts = [_ended(job, records.get(job)) for job in row.jobs[:MOST_NAMED]]
    more = f" and {len(row.jobs) - MOST_NAMED} more" if len(row.jobs) > MOST_NAMED else ""
    return ", ".join(parts) + more


def _ended(job: str, record: JobRecord | None) -> str:
    """Return the text for the end of a job, with the time left before its walltime."""
    left = 0.0 if record is None or record.job.walltime is None else record.start + record.job.walltime - record.finish
    early = f" {brief(left)} before its walltime" if left > 1e-3 else ""
    return f"{displayed(job)} ended{early}"

"""Explanations as people read them: what a job waited for, how its promise moved, and who overtook it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from batsched_py.model.decision_row import DecisionRow
from batsched_py.model.table import cell_text
from batsched_py.reporting.formatting import brief
from batsched_py.reporting.waits.explanation import Explanation
from batsched_py.reporting.waits.reasons import WORDS, Reason
from batsched_py.reporting.waits.walk import Interval
from batsched_py.results.records import JobRecord
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: Jobs that are named in one place.
MOST_NAMED: Final = 3
#: Cause of a move -> what happened, if no job is named.
_CAUSES: Final = {
    "first": "its first promise",
    "failure": "hosts failed",
    "return": "hosts can be used again",
    "ends": "jobs ended",
    "arrivals": "jobs arrived that are served before it",
    "other": "other jobs were planned otherwise",
}


def told_delays(count: int) -> str:
    """Return how many of the jobs that overtook another would have delayed it without the others."""
    owner = "their" if count > 1 else "its"
    return f"{count or 'none'} of them delayed it on {owner} own"


class Stretch(NamedTuple):
    """A time of a wait with one reason, whoever stood in the way.

    Attributes:
        begin, end: seconds since the start of the simulation.
        reason: why the job did not start.
        blocked_by: ids of the jobs in its way; those that were so longest, first.
    """

    begin: float
    end: float
    reason: Reason
    blocked_by: tuple[str, ...]


def stretches(intervals: Sequence[Interval]) -> list[Stretch]:
    """Return the intervals, those that follow each other with the same reason made one."""
    found: list[Stretch] = []
    for reason, following in groupby(intervals, key=attrgetter("reason")):
        some = list(following)
        seconds: dict[str, float] = {}
        for one in some:
            for job in one.blocked_by:
                seconds[job] = seconds.get(job, 0.0) + one.end - one.begin
        order = sorted(seconds, key=lambda job: -seconds[job])  # stable: of equal ones, the first
        found.append(Stretch(some[0].begin, some[-1].end, reason, tuple(order)))
    return found


def named(jobs: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return the names of some jobs, and how many more there are."""
    more = f" and {len(jobs) - most} more" if len(jobs) > most else ""
    return ", ".join(map(displayed, jobs[:most])) + more


def heading(explanation: Explanation) -> str:
    """Return one line: the job, what it needs, and how long it waited."""
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
    """Return an instant, as precisely as the files have it: "1234.5 s"."""
    return f"{cell_text(time)} s"


def words_of(explanation: Explanation, reason: Reason, end: float) -> str:
    """Return what a reason says; of one of the algorithm's own, its words, those that it said last before `end`."""
    if reason not in (Reason.ALGORITHM, Reason.CONSTRAINT, Reason.OWN_START):
        return WORDS[reason]
    said = [row for row in explanation.rows if row.kind == "held" and row.time < end and row.reason != "hosts"]
    return f"{WORDS[reason]}: {displayed(said[-1].words)}" if said else WORDS[reason]


class Move(NamedTuple):
    """A change of a promise; no start if it was withdrawn.

    Attributes:
        time: when it changed.
        start: what is promised from then on.
        by: seconds from the start that was promised before; None if there was none.
        why: in words.
    """

    time: float
    start: float | None
    by: float | None
    why: str


def moves(explanation: Explanation, records: Mapping[str, JobRecord]) -> Iterator[Move]:
    """Yield how the promise of the job came and moved."""
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
    """Say that a job ended, and how long before its walltime."""
    left = 0.0 if record is None or record.job.walltime is None else record.start + record.job.walltime - record.finish
    early = f" {brief(left)} before its walltime" if left > 1e-3 else ""
    return f"{displayed(job)} ended{early}"

"""The history of a run: running and waiting jobs during an interval, and the decisions about them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from batsched_py.model.decision_row import DecisionRow
from batsched_py.protocol.events import REJECTED
from batsched_py.reporting.schedules.decisions_table import DecisionTable
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.waits.reasons import RUNNING, WAITING
from batsched_py.reporting.waits.unlisted import unlisted_jobs
from batsched_py.reporting.waits.waiter import Waiter
from batsched_py.results.records import JobRecord

#: The longest delay of messages of a real Batsim and their replies, in seconds.
_MESSAGES: Final = 0.1


class RunHistory:
    """An index of a schedule and its decisions for queries about intervals; made once for all queries.

    Attributes:
        schedule: the schedule of the run.
        decisions: the decisions other than starts; empty without a file.
        hosts: bits of the compute hosts.
        hosts_known: True if the hosts of each job are known, not only their number.
        records: job id -> the job, including jobs that had not ended at the end of the run.
        ran: the jobs that started, ordered by start, ties in the order of the file.
        ended_early: True if jobs ran or waited at the end of the run.
        delivery: the longest delay between an event and a start in reply to it, in seconds.
    """

    def __init__(self, schedule: Schedule, decisions: DecisionTable | None = None) -> None:
        self.schedule, self.decisions = schedule, decisions or DecisionTable()
        known = self.decisions.hosts
        self.hosts = (1 << schedule.hosts) - 1 if known is None else known.bits
        self.hosts_known = schedule.hosts_known
        more = unlisted_jobs(schedule, self.decisions)
        self.records = {record.job.id: record for record in (*schedule.jobs, *more)}
        self.delivery = _MESSAGES + _decision_time(schedule)
        #: Jobs that were still running at the end.
        running = [record for record in more if record.state == RUNNING]
        self.ended_early = any(record.state in (RUNNING, WAITING) for record in more)
        self.ran = sorted((*schedule.ran, *running), key=lambda record: record.start)
        self._starts = [record.start for record in self.ran]
        self._longest_run = max((record.execution for record in self.ran), default=0.0)
        self._longest_wait = max((record.waiting for record in self.ran), default=0.0)
        #: Jobs that waited until their rejection, or until the end of the run.
        never_ran = (record for record in self.records.values() if record.state in (REJECTED, WAITING))
        self._never_ran = [self.waiter(record) for record in never_ran]

    def running(self, begin: float, end: float) -> list[JobRecord]:
        """Return the jobs that ran at any time in [begin, end), ordered by start."""
        first = bisect_left(self._starts, begin - self._longest_run)
        last = bisect_left(self._starts, end)
        return [record for record in self.ran[first:last] if record.finish > begin]

    def waiter(self, record: JobRecord) -> Waiter:
        """Return a job with the end of its wait; its submission if it was rejected at an unknown time."""
        if not record.rejected:
            return Waiter(record, record.start)
        refusal = next((row for row in self.rows_of_job(record.job.id) if row.kind == "rejected"), None)
        return Waiter(record, record.job.submit_time if refusal is None else refusal.time)

    def waiters(self) -> Iterator[Waiter]:
        """Yield all jobs with the ends of their waits."""
        return map(self.waiter, self.records.values())

    def waiting(self, begin: float, end: float) -> list[Waiter]:
        """Return the jobs that waited at any time in [begin, end), ordered by submission."""
        first = bisect_right(self._starts, begin)
        last = bisect_right(self._starts, end + self._longest_wait)
        found = [Waiter(record, record.start) for record in self.ran[first:last] if record.job.submit_time < end]
        found += [one for one in self._never_ran if one.since < end and one.until > begin]
        return sorted(found, key=lambda one: (one.since, one.until, one.id))

    def rows(self, jobs: Iterable[Waiter], end: float) -> list[DecisionRow]:
        """Return the rows of these jobs and of hosts before `end`, in order of time."""
        of_jobs = self.decisions.of_jobs
        found = [row for row in self.decisions.down if row.time < end]
        for one in jobs:
            found += [row for row in of_jobs.get(one.id, ()) if row.time < end]
        return sorted(found, key=lambda row: row.time)

    def rows_of_job(self, job_id: str) -> Sequence[DecisionRow]:
        """Return the rows of a job, in order of time."""
        return self.decisions.of_jobs.get(job_id, ())


def _decision_time(schedule: Schedule) -> float:
    """Return the simulated seconds of each decision from the run's description; 0 if it has none."""
    clock = "" if schedule.run is None else str(schedule.run.settings.get("clock", ""))
    kind, _, seconds = clock.partition(":")
    try:
        return float(seconds) if kind == "fixed" else 0.0
    except ValueError:
        return 0.0

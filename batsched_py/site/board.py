"""The board of a site: how things are, as its simulation's thread has seen them last, for all who read."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from batsched_py.model.job import Job
from batsched_py.model.table import Table
from batsched_py.session.session import Session
from batsched_py.simulator.records import JobRecord
from batsched_py.state.running import Running

#: Seconds of the wall clock between two looks while the simulation is busy, and while it waits.
_BUSY: Final = 0.2
_IDLE: Final = 0.02
#: A look that takes long is followed by a pause so many times as long, so that looking leaves time for deciding.
_PATIENCE: Final = 10.0


class JobNow(Struct, frozen=True):
    """A job that waits, runs, or has ended.

    Attributes:
        state: waiting, running, or a final state in Batsim's words.
        start, end: None before that.
        ends_by: when its walltime stops a job that runs; None without.
        hosts: from 0, as text such as "0-3 7"; "" before it starts.
        why: the reason why it waits, or was rejected, in the algorithm's words; "" if it gave none.
    """

    id: str
    state: str
    size: int
    walltime: float | None
    submitted: float
    start: float | None = None
    end: float | None = None
    hosts: str = ""
    why: str = ""
    ends_by: float | None = None


class HostsNow(Struct, frozen=True):
    """The states of hosts, each as an interval set; all others are free."""

    busy: str
    unavailable: str
    asleep: str
    switching: str


class Snapshot(Struct, frozen=True):
    """The site between two messages.

    Attributes:
        number: grows with each change.
        now: the simulated time of the latest message.
        waiting: jobs in the order of the queue.
        running: jobs in the order of their starts.
        ended: how many jobs had ended; they are the first of those on the board.
        hosts: their states.
        tables: of the algorithm, by name.
        jobs: those that wait or run, by id.
    """

    number: int
    now: float
    waiting: Sequence[JobNow]
    running: Sequence[JobNow]
    ended: int
    hosts: HostsNow
    tables: Mapping[str, Table]
    jobs: Mapping[str, JobNow]


EMPTY: Final = Snapshot(0, 0.0, (), (), 0, HostsNow("", "", "", ""), {}, {})


class Board:
    """The latest snapshot, and the jobs that have ended; written by the simulation's thread, read by others."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.snapshot = EMPTY
        #: In the order in which they ended; it only grows.
        self.ended: list[JobNow] = []
        #: Job id -> its place in `ended`.
        self.places: dict[str, int] = {}
        self._seen = 0
        #: When the latest look was over, and how long it took.
        self._looked, self._took = -math.inf, 0.0
        self._ended_from: Callable[[int], Iterable[JobNow]] = lambda _: ()

    def follow(self, ended_from: Callable[[int], Iterable[JobNow]]) -> None:
        """Take the jobs that have ended from here: `ended_from(number)` returns all but the first `number`."""
        self._ended_from = ended_from

    def look(self, idle: bool) -> float:
        """Make a new snapshot if something has happened, but not too often; return when to look again, in seconds.

        Args:
            idle: the simulation waits, so that looking costs it less.
        """
        if self._session.messages == self._seen:
            return math.inf
        pause = max(_IDLE if idle else _BUSY, _PATIENCE * self._took) - (time.monotonic() - self._looked)
        if pause > 0:
            return pause
        self.see()
        return math.inf

    def see(self) -> None:
        """Make a new snapshot."""
        session, began = self._session, time.monotonic()
        for job in self._ended_from(len(self.ended)):
            self.places[job.id] = len(self.ended)
            self.ended.append(job)
        self.snapshot = self._make(session)
        self._seen, self._looked = session.messages, time.monotonic()
        self._took = self._looked - began

    def job(self, job_id: str) -> JobNow | None:
        """Return a job; None if the latest snapshot does not know it."""
        place = self.places.get(job_id)
        if place is not None:
            return self.ended[place]
        return self.snapshot.jobs.get(job_id)

    def _make(self, session: Session) -> Snapshot:
        view, holds = session.view, session.plan.holds
        reasons = {job_id: hold.reason for job_id, hold in holds.items()}
        busy = view.all_hosts - view.free - view.unavailable - view.asleep - view.switching
        before, why = self.snapshot.jobs, reasons.get
        waiting = [_waiting(job, why(job.id, ""), before.get(job.id)) for job in view.queue]
        running = [_running(run) for run in view.running]
        return Snapshot(
            number=self.snapshot.number + 1,
            now=session.now,
            waiting=waiting,
            running=running,
            ended=len(self.ended),
            hosts=HostsNow(str(busy), str(view.unavailable), str(view.asleep), str(view.switching)),
            tables={table.name: table for table in session.live_tables()},
            jobs={job.id: job for job in (*waiting, *running)},
        )


def _running(run: Running) -> JobNow:
    job, end = run.job, None if run.job.walltime is None else run.end
    hosts = str(run.hosts)
    return JobNow(job.id, "running", job.size, job.walltime, job.submit_time, run.start, hosts=hosts, ends_by=end)


def _waiting(job: Job, why: str, before: JobNow | None) -> JobNow:
    """Return a job that waits: as it was seen before, if nothing has changed, because most of many wait for long."""
    if before is not None and before.state == "waiting" and before.why == why:
        return before
    return JobNow(job.id, "waiting", job.size, job.walltime, job.submit_time, why=why)


def ended_job(record: JobRecord, why: str) -> JobNow:
    """Return a job that has ended, by the simulator's record."""
    job, ran = record.job, bool(record.hosts)
    start, end = (record.start, record.finish) if ran else (None, None)
    return JobNow(
        job.id, record.state, job.size, job.walltime, job.submit_time, start, end, str(record.hosts) if ran else "", why
    )

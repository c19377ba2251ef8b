"""The board of a site: immutable snapshots of its state, made by the simulation's thread for other threads."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Final

from batsched_py.model.job import Job
from batsched_py.results.records import JobRecord
from batsched_py.session.session import Session
from batsched_py.site.snapshot import EMPTY, HostsNow, JobNow, Snapshot
from batsched_py.state.running import Running

# The simulation changes its state without locks, and web pages read it from other threads. So the simulation's thread
# makes snapshots, which never change, and replaces one reference: readers see an old or a new state, never half of one,
# and never wait.
#
# A snapshot costs time in proportion to the jobs that wait, time that decisions do not have. It is made only if there
# was a message since the last one, and after a pause of ten times its own duration at least (`_PATIENCE`), so that no
# more than a tenth of the time goes into snapshots, however long the queue is. Views of waiting jobs are taken over
# from the snapshot before if nothing about them has changed.
#
# `ended` only grows, and is shared by all snapshots: each knows how many of it are its own, so a list of all jobs is
# not copied.

#: Wall-clock seconds between two snapshots while the simulation is busy, and while it waits.
_BUSY: Final = 0.2
_IDLE: Final = 0.02
#: The shortest pause after a snapshot, as a multiple of its duration: most of the time must remain for decisions.
_PATIENCE: Final = 10.0


class Board:
    """The latest snapshot and the ended jobs; written by the simulation's thread, read by others."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.snapshot = EMPTY
        #: Jobs in the order of their ends; the list only grows.
        self.ended: list[JobNow] = []
        #: Job id -> its place in `ended`.
        self.places: dict[str, int] = {}
        self._seen = 0
        #: The wall-clock time at which the latest snapshot was complete, and its duration.
        self._looked, self._took = -math.inf, 0.0
        self._ended_from: Callable[[int], Iterable[JobNow]] = lambda _: ()

    def follow(self, ended_from: Callable[[int], Iterable[JobNow]]) -> None:
        """Set the source of ended jobs: `ended_from(number)` returns all but the first `number`."""
        self._ended_from = ended_from

    def follow_session(self, session: Session) -> None:
        """Show another session from now on, which begins anew."""
        self._session = session

    def look(self, idle: bool) -> float:
        """Make a new snapshot if the state has changed, at a limited rate; return the seconds until the next call.

        Args:
            idle: True if the simulation is waiting, which allows more frequent snapshots.
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
        waiting = [_waiting(job, why(job.id, ""), before.get(job.id)) for job in (*view.queue, *view.held.values())]
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
    """Return the view of a waiting job; the previous one if unchanged, because long queues change little."""
    if before is not None and before.state == "waiting" and before.why == why:
        return before
    return JobNow(job.id, "waiting", job.size, job.walltime, job.submit_time, why=why)


def ended_job(record: JobRecord, why: str) -> JobNow:
    """Return the view of an ended job from the simulator's record."""
    job, ran = record.job, bool(record.hosts)
    start, end = (record.start, record.finish) if ran else (None, None)
    return JobNow(
        job.id, record.state, job.size, job.walltime, job.submit_time, start, end, str(record.hosts) if ran else "", why
    )

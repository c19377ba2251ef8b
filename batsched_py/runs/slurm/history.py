"""The history of one job in a recorded run, as squeue and sprio would have shown it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from batsched_py.errors import TranscriptError
from batsched_py.protocol.events import COMPLETED_WALLTIME_REACHED, Event, JobSubmitted
from batsched_py.runs.recorded_run import play_recording
from batsched_py.runs.slurm.instant import scheduler_of
from batsched_py.runs.slurm.job_status import DEPENDENCY, JobStatus, account_of, status_of
from batsched_py.runs.slurm.priorities import JobPriority, plain_factors, priorities_of
from batsched_py.session.session import Session
from batsched_py.slurm.jobs import PENDING, RUNNING, SlurmJob
from batsched_py.text.display import displayed
from batsched_py.text.wording import did_you_mean
from batsched_py.transcripts.transcript import Exchange

#: The largest number of jobs that are named in an error.
_MOST_NAMED = 3


class StatusInterval(NamedTuple):
    """A time [begin, end) of the same status; `end` is None for the last one of a job that has not ended."""

    begin: float
    end: float | None
    status: JobStatus


class PriorityChange(NamedTuple):
    """A new priority of a pending job, in each of its partitions."""

    at: float
    priorities: tuple[JobPriority, ...]


class JobHistory(Struct, frozen=True):
    """The history of one job.

    Attributes:
        job: its id in the workload.
        submitted: second of its submission.
        intervals: contiguous intervals from its submission to its end.
        priorities: the changes of its priority while it pended, the first at its submission.
        ended: second of its end; None if it has not ended.
        final: the state in which it ended, REJECTED if it was refused; "" if it has not ended.
        words: why it was refused, or removed as one that can never start; "" otherwise.
        user, account, partition, qos: as the controller knows them; "" for a job that it did not accept.
    """

    job: str
    submitted: float
    intervals: tuple[StatusInterval, ...]
    priorities: tuple[PriorityChange, ...]
    ended: float | None
    final: str
    words: str
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""

    @property
    def plain(self) -> dict[str, Any]:
        """The history as a JSON object."""
        return {
            "job": self.job,
            "user": self.user,
            "account": self.account,
            "partition": self.partition,
            "qos": self.qos,
            "submitted": self.submitted,
            "intervals": [
                {"from": begin, "to": end, "state": status.state, "reason": status.reason, "nodes": status.nodes}
                for begin, end, status in self.intervals
            ],
            "ended": self.ended,
            "final_state": self.final,
            "words": self.words,
            "priorities": [
                {
                    "at": at,
                    "partition": one.partition,
                    "priority": one.priority,
                    "factors": plain_factors(one.factors),
                }
                for at, priorities in self.priorities
                for one in priorities
            ],
        }


def job_history(
    exchanges: Iterable[Exchange], session: Session, recording: str, name: str, *, timed: bool = True
) -> JobHistory:
    """Answer all recorded requests, and return what happened to the job of this id, or of this name in any workload.

    The arguments are those of `scheduler_at`. TranscriptError as of `play_recording`, if there is no such job, or if
    there are several.
    """
    watch = _Watch(session, name)
    played = play_recording(exchanges, session, recording, timed=timed, look=watch.look)
    job_id = watch.found(recording)
    killed = {one.job.id for one in played.result.jobs if one.state == COMPLETED_WALLTIME_REACHED}
    return watch.jobs[job_id].history(session, is_over_limit=job_id in killed)


class _Watch:
    """The jobs of a name, which are followed from message to message."""

    def __init__(self, session: Session, name: str) -> None:
        self._session, self._name = session, name
        #: Job id -> what is known of the job.
        self.jobs: dict[str, _WatchedJob] = {}

    def look(self, events: Sequence[Event]) -> None:
        """Note what the last decision changed."""
        for event in events:
            if isinstance(event, JobSubmitted) and self._name in {event.job_id, event.job_id.partition("!")[2]}:
                self.jobs.setdefault(event.job_id, _WatchedJob(event.job_id, self._session.now))
        for job in self.jobs.values():
            job.look(self._session)

    def found(self, recording: str) -> str:
        """Return the id of the job; TranscriptError."""
        known, shown = [job.id for job in self.jobs.values() if job.is_known], displayed(self._name)
        if self._name in known:
            return self._name
        if len(known) == 1:
            return known[0]
        if known:
            more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
            several = ", ".join(map(displayed, known[:_MOST_NAMED])) + more
            raise TranscriptError(recording, "", f"has several jobs {shown}: {several}; name one of them")
        others = scheduler_of(self._session).submissions.by_id
        near = did_you_mean(self._name, (one if "!" in self._name else one.partition("!")[2] for one in others))
        raise TranscriptError(recording, "", f"has no job {shown}{f'; {near}' if near else ''}")


class _WatchedJob:
    """The statuses and priorities of one job so far."""

    def __init__(self, job_id: str, submitted: float) -> None:
        self.id, self.submitted = job_id, submitted
        self._seen = submitted
        self._changes: list[tuple[float, JobStatus]] = []
        self._priorities: list[PriorityChange] = []
        self._job: SlurmJob | None = None
        self._refused_at: float | None = None

    def look(self, session: Session) -> None:
        """Note a change of status or priority since the last message."""
        scheduler, now = scheduler_of(session), session.now
        if self._job is None:
            self._job = scheduler.submissions.by_id.get(self.id)
        job = self._job
        if self._refused_at is None and self.id in session.rejections:
            self._refused_at = now
        if job is None:
            if any(one.id == self.id for one in scheduler.submissions.waiting):
                self._note(now, JobStatus(PENDING, DEPENDENCY, ""))
            return
        if job.ended is None:
            status = status_of(job, scheduler.controller.cluster)
            at = job.started if status.state == RUNNING else None
            self._note(at if at is not None and self._seen <= at <= now else now, status)
        if job.state == PENDING or not self._priorities:
            priorities = tuple(priorities_of(job, self.id))
            if not self._priorities or self._priorities[-1].priorities != priorities:
                self._priorities.append(PriorityChange(now, priorities))
        self._seen = now

    @property
    def is_known(self) -> bool:
        """Was it submitted by a user? The algorithm's own submissions continue the job that they repeat."""
        return bool(self._job is not None or self._refused_at is not None or self._changes)

    def _note(self, at: float, status: JobStatus) -> None:
        if not self._changes or self._changes[-1][1] != status:
            self._changes.append((at, status))

    def history(self, session: Session, *, is_over_limit: bool) -> JobHistory:
        """Return the history, once the recording is over."""
        job, ended = self._job, self._refused_at
        final = "" if ended is None else "REJECTED"
        if job is not None:
            ended, final = job.ended, "" if job.ended is None else job.state
            final = "TIMEOUT" if is_over_limit and final == "FAILED" else final
        until = [at for at, _ in self._changes[1:]] + [ended]
        changes = zip(self._changes, until, strict=False)
        intervals = [StatusInterval(at, end, status) for (at, status), end in changes if end is None or end > at]
        made = JobHistory(
            self.id,
            self.submitted,
            tuple(intervals),
            tuple(self._priorities),
            ended,
            final,
            session.rejections.get(self.id, ""),
        )
        return made if job is None else _described(made, job)


def _described(made: JobHistory, job: SlurmJob) -> JobHistory:
    names = [job.partition] if job.partition is not None and job.state != PENDING else job.partitions
    return JobHistory(
        made.job,
        made.submitted,
        made.intervals,
        made.priorities,
        made.ended,
        made.final,
        made.words,
        job.request.user,
        account_of(job),
        ",".join(one.name for one in names),
        job.qos.name if job.qos is not None else "",
    )

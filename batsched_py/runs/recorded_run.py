"""A recorded run: its requests answered again by its algorithm, and the result that its messages contain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import BatschedError, RemoteProtocolError, TranscriptError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.protocol.batsim5.greeting import is_greeting
from batsched_py.protocol.codec import decode
from batsched_py.protocol.commands import (
    Command,
    ExecuteJob,
    RegisterJob,
    RejectJob,
    SetJobMetadata,
    SetResourceState,
)
from batsched_py.protocol.dialect import V14, Dialect
from batsched_py.protocol.events import (
    COMPLETED_KILLED,
    REJECTED,
    Event,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    SimulationBegins,
)
from batsched_py.reading.limits import NAME_RULE, breaks_csv
from batsched_py.results.file_forms import BATSIM_1, BATSIM_4, BATSIM_5, FileForm
from batsched_py.results.places import JobPlaces
from batsched_py.results.records import JobRecord, Result, UnavailableHosts
from batsched_py.runs.host_seconds import HostSeconds
from batsched_py.runs.run_description import failure_line
from batsched_py.session.session import Session
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import counted, seconds
from batsched_py.transcripts.decisions import dialect_of_run, read_decision
from batsched_py.transcripts.replay import find_difference
from batsched_py.transcripts.transcript import Exchange

# A recording has all that a simulator would write of jobs, but in pieces: a submission, a decision, an end. A session
# that makes the same decisions again puts the pieces together, and has the algorithm's own tables in the end. What the
# session does not accept is not read, and a recording whose decisions cannot be made again has no results: they would
# be those of another program.
#
# Ends are read before the session receives them, because it forgets jobs that have ended; decisions afterwards, when
# they are known to be those of the recording.

_NO_HOSTS: Final = HostSet()
#: The return code of a job that was killed, for which version 1.4 sends none.
_KILLED: Final = -1


class RecordedRun(Struct, frozen=True):
    """A recorded run up to its last complete exchange.

    Attributes:
        result: the jobs that have ended, and facts of the run; energy is not in messages.
        partial: the reason why these are not all, one line; "" for a whole run.
        failed: True if the decision process ended the run with an error.
    """

    result: Result
    partial: str
    failed: bool


def play_recording(
    exchanges: Iterable[Exchange],
    session: Session,
    recording: str,
    *,
    timed: bool = True,
    look: Callable[[Sequence[Event]], None] | None = None,
) -> RecordedRun:
    """Answer the recorded requests, and return what happened; the session then has the tables of the run.

    Args:
        exchanges: those of the recording.
        session: a new session with the recorded algorithm and options.
        recording: the name of the recording, for errors.
        timed: False if the times of decisions were measured, so that they differ each time.
        look: called with the events of each request after its decision, which is that of the recording.

    TranscriptError if there is no exchange, if one has what a table cannot hold, if jobs are in Redis, or at the first
    decision that differs from the recorded one.
    """
    log: _RunLog | None = None
    failure: BatschedError | None = None
    for exchange in exchanges:
        place = f"exchange {exchange.number}"
        if log is None:
            log = _RunLog(session, dialect_of_run(exchange.request))
        if is_greeting(exchange.request):
            session.answer(exchange.request)
            continue
        try:
            reply = log.answer(exchange.request)
        except _UnusableError as error:
            raise TranscriptError(recording, place, str(error)) from None
        except BatschedError as error:
            reply, failure = session.refusal(error), error
        if find_difference(exchange, reply, log.dialect, timed=timed) is not None:
            why = "the decision differs from the recorded one: the algorithm, its files or batsched-py have changed"
            raise TranscriptError(recording, place, f"{why} (batsched-py replay shows how)")
        if failure is not None:
            break
        if look is not None:
            look(log.events)
    if log is None:
        raise TranscriptError(recording, "", "holds no exchange")
    partial = log.what_is_open() if failure is None else failure_line(failure)
    return RecordedRun(log.result(), partial, failure is not None)


class _UnusableError(ValueError):
    """An exchange has no place in the files of a run; the text is the rule."""


class _RunLog:
    """The records of a run, made while its session answers."""

    def __init__(self, session: Session, dialect: Dialect) -> None:
        self._session, self.dialect = session, dialect
        #: The events of the last request.
        self.events: Sequence[Event] = ()
        self._records = list[JobRecord]()
        #: Job id -> the job, while it waits; its metadata, until it ends.
        self._waiting: dict[str, Job] = {}
        self._metadata: dict[str, str] = {}
        self._seconds = HostSeconds(session.view)
        self._unavailable = list[UnavailableHosts]()
        self._switch_requests = self._host_switches = 0

    def answer(self, request: bytes) -> bytes:
        """Return the session's reply, and keep what the request and the reply say of jobs and hosts."""
        session, self.events = self._session, ()
        try:
            message = decode(request, self.dialect.events, keep_unknown=True)
        except RemoteProtocolError:
            return session.answer(request)  # which raises it, or has other limits
        if any(isinstance(event, SimulationBegins) and event.config.redis for event in message.events):
            raise _UnusableError("the descriptions of jobs are in Redis, not in the recording")
        self.events = message.events
        self._note_events(message.events)
        reply = session.answer(request)
        self._note_commands(read_decision(reply, self.dialect).commands)
        self._seconds.look()
        down = session.view.unavailable
        if down != (self._unavailable[-1].hosts if self._unavailable else _NO_HOSTS):
            self._unavailable.append(UnavailableHosts(session.now, down))
        return reply

    def what_is_open(self) -> str:
        """Return a line about jobs without an end; "" after the end of the run."""
        session, view = self._session, self._session.view
        if session.over:
            return ""
        running, waiting = len(view.running), len(view.queue) + len(view.held)
        jobs = f"{counted(running, 'running job')} and {counted(waiting, 'waiting job')}"
        return f"the recording ends at t={seconds(session.now)}: {jobs} have no row"

    def result(self) -> Result:
        """Return the result of the run so far."""
        session, records = self._session, tuple(self._records)
        view = session.view
        return Result(
            jobs=records,
            host_count=len(view.hosts),
            storage_count=len(view.storages),
            makespan=max((record.finish for record in records), default=0.0),
            end=session.now,
            messages=session.messages,
            host_seconds=self._seconds.by_state,
            joules=0.0,
            switch_requests=self._switch_requests,
            host_switches=self._host_switches,
            approximations=(),
            deciding_seconds=0.0,
            simulating_seconds=0.0,
            files=_files(self.dialect),
            unavailable=tuple(self._unavailable),
            capacity=session.placed.machine,
        )

    def _note_events(self, events: Iterable[Event]) -> None:
        former = self.dialect.name == V14.name
        for event in events:
            if isinstance(event, JobSubmitted) and event.job is not None:
                self._waiting[event.job_id] = event.job
            elif isinstance(event, JobCompleted):
                self._note_end(event.job_id, event.state, event.return_code, event.timestamp)
            elif isinstance(event, JobKilled) and former:  # later versions send the end of each job, too
                for job_id in event.killed_ids:
                    self._note_end(job_id, COMPLETED_KILLED, _KILLED, event.timestamp)

    def _note_end(self, job_id: str, state: str, code: int | None, end: float) -> None:
        run = self._session.view.run(job_id)
        if run is None:
            return
        places = self._session.placed.places.get(job_id)
        if places is None and run.places and run.job.demand is not None:
            places = JobPlaces.of(run.job.demand, run.places)
        code = 0 if code is None else code
        self._keep(JobRecord(run.job, state, code, run.start, end, run.hosts, places=places))

    def _keep(self, record: JobRecord) -> None:
        """Keep the record of a job, with its metadata. _UnusableError for texts that would be other cells and rows."""
        job, metadata = record.job, self._metadata.pop(record.job.id, "")
        for text in (job.id, job.profile, record.state, metadata.replace(",", "")):  # metadata is between quotes
            if breaks_csv(text):
                raise _UnusableError(f"job {displayed(job.id)}: {NAME_RULE}, not {shown(text)}")
        self._records.append(replace(record, metadata=metadata))

    def _note_commands(self, commands: Iterable[Command]) -> None:
        for command in commands:
            if isinstance(command, RegisterJob) and command.job is not None:
                self._waiting[command.job_id] = command.job
            elif isinstance(command, ExecuteJob):
                self._waiting.pop(command.job_id, None)
            elif isinstance(command, RejectJob):
                self._keep(JobRecord(self._waiting.pop(command.job_id), REJECTED, 0, 0.0, 0.0, _NO_HOSTS))
            elif isinstance(command, SetJobMetadata):
                self._metadata[command.job_id] = command.metadata
            elif isinstance(command, SetResourceState):
                self._switch_requests += 1
                self._host_switches += len(command.hosts)


def _files(dialect: Dialect) -> FileForm:
    """Return the names of the files of the generation of Batsim that speaks a dialect."""
    if dialect.is_v5:
        return BATSIM_5
    return BATSIM_1 if dialect.name == V14.name else BATSIM_4

"""The decision component inside Batsim 5's process: what a library made by `library` calls.

The C code of such a library starts Python, calls `open_component` with the settings with which it was made, and passes
each message of Batsim to the component. Standard error is Batsim's.
"""

from __future__ import annotations

import gc
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec
from msgspec import Struct

from batsched_py.cli.__main__ import GARBAGE
from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.terminal import prepare_streams, say, say_all
from batsched_py.errors import BatschedError, TransportError
from batsched_py.model.features import Features
from batsched_py.plugins import load
from batsched_py.reading.limits import Limits
from batsched_py.reporting.algorithm_files import files_of_algorithm
from batsched_py.runs.choice import Choice, make_session
from batsched_py.runs.decision_spool import DecisionSpool, decision_spool
from batsched_py.runs.run_description import Call, RunInputs
from batsched_py.runs.served_run import write_served_run
from batsched_py.session.session import Session
from batsched_py.transcripts.recorder import recording


class ComponentSettings(Struct, frozen=True):
    """The settings of a library.

    Paths of files that it writes are relative to the folder in which Batsim runs.

    Attributes:
        choice: the algorithm and its options; files in them have absolute paths.
        record: file of the recording of each run; None for no recording.
        export: prefix of the algorithm's tables, its decisions and the description of a run; None for no files.
        limits: limits of reading.
        debug: True to write a traceback of an error.
        words: the words of the command that made it.
    """

    choice: Choice
    record: str | None
    export: str | None
    limits: Limits
    debug: bool
    words: tuple[str, ...]


class DecisionComponent:
    """One run of an algorithm for Batsim, in its process; errors are written to standard error.

    OptionError, PluginError, TranscriptError or InputError if it cannot be created.
    """

    def __init__(self, settings: ComponentSettings) -> None:
        self._settings = settings
        #: True after an error: there is nothing more to decide.
        self._failed = False
        self._call = Call(settings.words)
        with ExitStack() as files:
            self._decisions = files.enter_context(decision_spool(settings.export))
            self._session = _make_session(settings, self._decisions)
            # Opened last: a recording must not replace an older one if nothing can be recorded.
            path = None if settings.record is None else Path(settings.record)
            self._recorder = files.enter_context(recording(path, settings.choice.header()))
            self._files = files.pop_all()

    def answer(self, request: bytes) -> bytes:
        """Return the reply to a message; an empty one after an error, upon which Batsim must be stopped."""
        if self._failed:
            return b""
        session, recorder = self._session, self._recorder
        try:
            reply = session.answer(request)
            if recorder is not None:
                recorder.record(request, reply, is_json=True)
        except BaseException as error:  # noqa: BLE001 - Batsim's process has no other handler
            self._fail(error, request)
            return b""
        if session.over:
            self._attempt(self._complete)
        return reply

    def close(self, _: bytes = b"") -> bool:
        """Complete all files at the end of Batsim; return whether the simulation had ended, and all succeeded."""
        session = self._session
        if not (self._failed or session.over):
            why = session.deadlock()
            ended = "Batsim ended before the simulation"
            self._fail(TransportError(f"{ended}; {why}" if why else ended), None)
        sys.stdout.flush()
        return not self._failed

    def _fail(self, error: BaseException, request: bytes | None) -> None:
        """Report an error; its text is recorded as the reply to a request, and in the description of the run."""
        self._failed = True
        _report(error, debug=self._settings.debug)
        recorder = self._recorder
        if recorder is not None and request is not None:
            self._attempt(lambda: recorder.record(request, self._session.refusal(error)))
        self._attempt(lambda: self._complete(error))

    def _complete(self, failure: BaseException | None = None) -> None:
        """Complete all files of a run that has ended, or failed. AlgorithmError, InputError."""
        settings, session = self._settings, self._session
        with self._files:
            if self._recorder is not None:
                self._recorder.close()
            if settings.export is not None and (failure is None or session.messages):
                choice = settings.choice
                chosen = type(session.scheduler)
                files = files_of_algorithm(choice.algorithm, choice.options, find_class=lambda _: chosen)
                inputs = RunInputs(files=files)
                prefix, decisions = settings.export, self._decisions
                write_served_run(prefix, choice, session, inputs, self._call, decisions=decisions, failure=failure)

    def _attempt(self, work: Callable[[], None]) -> None:
        """Do what has to do with files; an error is reported, and Batsim goes on to complete its own."""
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - likewise
            self._failed = True
            _report(error, debug=self._settings.debug)


def _make_session(settings: ComponentSettings, decisions: DecisionSpool | None) -> Session:
    scheduler = load(settings.choice.algorithm)
    session = make_session(
        settings.choice,
        scheduler,
        features=Features(dynamic_registration=scheduler.uses_dynamic_jobs),
        warn=Warnings(),
        limits=settings.limits,
        log=None if decisions is None else decisions.add,
    )
    session.warn_of_endless_tasks()
    return session


def open_component(settings: bytes) -> DecisionComponent | None:
    """Create the component of a library from its settings in JSON; None after an error, which is reported."""
    gc.set_threshold(GARBAGE)
    prepare_streams()
    known = msgspec.json.decode(settings, type=ComponentSettings)
    try:
        return DecisionComponent(known)
    except BaseException as error:  # noqa: BLE001 - likewise
        _report(error, debug=known.debug)
        return None


def _report(error: BaseException, *, debug: bool) -> None:
    """Write an error to standard error, in one line as the program does."""
    if debug:
        say_all("".join(traceback.format_exception(error)).splitlines(), err=True)
    if isinstance(error, BatschedError):
        say(f"batsched-py: error: {error}", err=True)
    else:
        say(f"batsched-py: internal error: {type(error).__name__}: {error}; please report it", err=True)

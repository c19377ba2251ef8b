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

from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.terminal import prepare_streams, say
from batsched_py.errors import BatschedError, TransportError
from batsched_py.model.features import Features
from batsched_py.plugins import load
from batsched_py.reading.limits import Limits
from batsched_py.runs.choice import Choice, make_session
from batsched_py.transcripts.recorder import recording

#: Threshold of the cyclic garbage collector, as in the program `batsched-py`.
_GARBAGE = 100_000


class ComponentSettings(Struct, frozen=True):
    """The settings of a library.

    Attributes:
        choice: the algorithm and its options; files in them have absolute paths.
        record: file of the recording of each run, in the folder in which Batsim runs; None for no recording.
        limits: limits of reading.
        debug: True to write a traceback of an error.
    """

    choice: Choice
    record: str | None
    limits: Limits
    debug: bool


class DecisionComponent:
    """One run of an algorithm for Batsim, in its process; errors are written to standard error.

    OptionError, PluginError or TranscriptError if it cannot be created.
    """

    def __init__(self, settings: ComponentSettings) -> None:
        choice = settings.choice
        self._debug = settings.debug
        #: True after an error: there is nothing more to decide.
        self._failed = False
        scheduler = load(choice.algorithm)
        self._session = make_session(
            choice,
            scheduler,
            features=Features(dynamic_registration=scheduler.uses_dynamic_jobs),
            warn=Warnings(),
            limits=settings.limits,
        )
        self._session.warn_of_endless_tasks()
        self._files = ExitStack()
        path = None if settings.record is None else Path(settings.record)
        self._recorder = self._files.enter_context(recording(path, choice.header()))

    def answer(self, request: bytes) -> bytes:
        """Return the reply to a message; an empty one after an error, upon which Batsim must be stopped."""
        if self._failed:
            return b""
        session, recorder = self._session, self._recorder
        try:
            reply = session.answer(request)
            if recorder is not None:
                recorder.record(request, reply, is_json=True)
            if session.over:
                self._files.close()
        except BaseException as error:  # noqa: BLE001 - Batsim's process has no other handler
            self._fail(error, request)
            return b""
        return reply

    def close(self, _: bytes = b"") -> bool:
        """Complete all files at the end of Batsim; return whether the simulation had ended before."""
        session = self._session
        if not (self._failed or session.over):
            why = session.deadlock()
            ended = "Batsim ended before the simulation"
            self._fail(TransportError(f"{ended}; {why}" if why else ended), None)
        sys.stdout.flush()
        return session.over

    def _fail(self, error: BaseException, request: bytes | None) -> None:
        """Report an error; its text is recorded as the reply to a request."""
        self._failed = True
        _report(error, debug=self._debug)
        recorder = self._recorder
        if recorder is not None and request is not None:
            _reported(lambda: recorder.record(request, self._session.refusal(error)))
        _reported(self._files.close)


def open_component(settings: bytes) -> DecisionComponent | None:
    """Create the component of a library from its settings in JSON; None after an error, which is reported."""
    gc.set_threshold(_GARBAGE)
    prepare_streams()
    known = msgspec.json.decode(settings, type=ComponentSettings)
    try:
        return DecisionComponent(known)
    except BaseException as error:  # noqa: BLE001 - likewise
        _report(error, debug=known.debug)
        return None


def _reported(work: Callable[[], None]) -> None:
    """Do what may fail after an error: its own error is reported, too."""
    try:
        work()
    except BatschedError as error:
        _report(error, debug=False)


def _report(error: BaseException, *, debug: bool) -> None:
    """Write an error to standard error, in one line as the program does."""
    if debug:
        for line in "".join(traceback.format_exception(error)).splitlines():
            say(line, err=True)
    if isinstance(error, BatschedError):
        say(f"batsched-py: error: {error}", err=True)
    else:
        say(f"batsched-py: internal error: {type(error).__name__}: {error}; please report it", err=True)

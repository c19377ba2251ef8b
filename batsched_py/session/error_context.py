"""One-line descriptions of failures: time, events, line of user code, and reason."""

from __future__ import annotations

import os
import traceback
from typing import Final

import batsched_py
from batsched_py.errors import AlgorithmError, BatschedError
from batsched_py.interruption import is_interruption
from batsched_py.protocol.codec import Message
from batsched_py.protocol.events import Event
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds

#: The folder of the engine's own code.
_ENGINE: Final = os.path.dirname(batsched_py.__file__) + os.sep
#: The same in file names of compiled modules, which are relative to the folder of compilation.
_COMPILED: Final = os.path.join("batsched_py", "")
#: The included algorithms, whose lines are reported.
_ALGORITHMS: Final = os.path.join(_ENGINE, "schedulers", "")
#: Characters of an algorithm's error that are shown.
_LONGEST: Final = 1000


def failure_line(name: str, message: Message, error: BaseException) -> str:
    """Describe a failure on one line: time, events, name of the algorithm, and reason."""
    why = str(error) if isinstance(error, BatschedError) else f"{type(error).__name__}: {error}"
    readable = displayed(" ".join(why.split()), _LONGEST)
    return f"t={seconds(message.now)}: {name} failed on {in_short(message)}: {readable}{where(error)}"


def failure(name: str, message: Message, error: BaseException) -> AlgorithmError:
    """Return the line as an error with its cause, because compiled modules do not set it by `raise ... from`.

    An exception raised by a signal during a decision is raised again, with a note of its place.
    """
    if is_interruption(error):
        if not hasattr(error, "__notes__"):
            error.add_note(
                f" while {displayed(name)} decided{where(error)}, t={seconds(message.now)}, on {in_short(message)}"
            )
        raise error
    wrapped = AlgorithmError(failure_line(name, message, error))
    wrapped.__cause__ = error
    return wrapped


def in_short(message: Message) -> str:
    """Return the names of the first events of a message."""
    asked = ", ".join(_event_text(event) for event in message.events[:3]) or "an empty message"
    more = f" and {len(message.events) - 3} more" if len(message.events) > 3 else ""
    return asked + more


def _event_text(event: Event) -> str:
    job_id = getattr(event, "job_id", None)
    return f"{type(event).__name__} {displayed(job_id)}" if job_id else type(event).__name__


def is_engine(file: str) -> bool:
    """Return True for a file of the engine, and False for those of algorithms, including the built-in ones."""
    return file.startswith((_ENGINE, _COMPILED)) and not file.startswith(_ALGORITHMS)


def where(error: BaseException) -> str:
    """Return the last line of user code in the traceback, not the line of the engine that raised.

    If an error of the engine was caused by one in user code, it is the line of that cause.
    """
    cause = where(error.__cause__) if isinstance(error, BatschedError) and error.__cause__ else ""
    walked = traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), lookup_lines=False)  # opens no file
    frames = [frame for frame in walked if not is_engine(frame.filename)]
    return cause or (f" ({_place(frames[-1])})" if frames else "")


def _place(frame: traceback.FrameSummary) -> str:
    """Return file and line, or the function if a signal arrived between two lines."""
    file = os.path.basename(frame.filename)
    return f"{file}:{frame.lineno}" if frame.lineno is not None else f"{file}, in {frame.name}"

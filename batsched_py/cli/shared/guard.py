"""The frame of a program's work: output that cannot be written becomes an exit code, and one line on standard error.

It imports little: programs that refuse their arguments need no more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from batsched_py.cli.shared import terminal
from batsched_py.errors import BatschedError

PROGRAM: Final = "batsched-py"


class ClosedPipeError(Exception):
    """A closed standard output. Click would exit for the corresponding OSError."""


def guarded(work: Callable[[], int]) -> int:
    """Do what writes to standard output, and return its exit code; an output that cannot be written is one line.

    A closed pipe (`| head`) is no error: the reader needs no more output.
    """
    try:
        code = work()
        terminal.finish_stdout()
    except (BrokenPipeError, ClosedPipeError):
        terminal.give_up_stdout()
        return terminal.CLOSED_PIPE
    except OSError as error:
        return report_unwritten(error)
    return code


def report_unwritten(error: Exception) -> int:
    """Report that standard output is incomplete, and return the exit code."""
    terminal.give_up_stdout()
    report("error", f"standard output cannot be written: {getattr(error, 'strerror', None) or error}")
    return BatschedError.exit_code


def report(*parts: str, program: str = PROGRAM) -> None:
    """Write a line to stderr; if that fails, only the exit code reports the error."""
    try:
        terminal.say(": ".join((program, *parts)), err=True)
    except OSError:
        terminal.give_up_stderr()

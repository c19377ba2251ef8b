"""Standard output and error: lines and data, made fit for a terminal, in any encoding, on a full disk or a closed pipe.

Tables and pictures go through `console`. No other module writes there: `tests/unit/cli/shared/test_terminal.py` sees
to that, because text from outside (names of jobs, paths, messages of peers) could otherwise command the terminal.
"""

from __future__ import annotations

import codecs
import errno
import json
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from io import TextIOWrapper
from typing import Final, TextIO

import click

from batsched_py.text.display import displayed_line, escaped

#: Characters of tables and pictures -> substitutes of the same width, for encodings that lack them.
_SUBSTITUTES: Final = str.maketrans(
    {
        **dict.fromkeys("─━╌", "-"),
        **dict.fromkeys("│┃", "|"),
        **dict.fromkeys("┬└┴├┤┼┌┐┘╺╸", "+"),
        **dict.fromkeys("▁▂▃", "_"),
        **dict.fromkeys("▄▅▆", "="),
        **dict.fromkeys("▇█", "#"),
        **dict.fromkeys("▓", "%"),
        **dict.fromkeys("▒", "+"),
        **dict.fromkeys("░", ":"),
        **dict.fromkeys("·", "."),
        **dict.fromkeys("\N{NARROW NO-BREAK SPACE}\N{NO-BREAK SPACE}", " "),
    }
)
_HANDLER: Final = "batsched_py.substitute"

#: Errors of writing to a full or broken disk.
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
#: The exit code of a process that ended because its output was not read any more, as shells report it.
CLOSED_PIPE: Final = 128 + signal.SIGPIPE


def say(line: str = "", *, err: bool = False, colour: str | None = None) -> None:
    """Write one line, which text from outside in it can neither end nor make as long as a screen.

    With `err` it goes to standard error.
    """
    click.secho(displayed_line(line), err=err, fg=colour)


def warn(line: str) -> None:
    """Write a warning to standard error."""
    say(f"batsched-py: warning: {line}", err=True)


def warn_all(lines: Iterable[str]) -> None:
    """Write a warning to standard error for each line."""
    for line in lines:
        warn(line)


def put(content: bytes, *, is_json: bool = False) -> None:
    r"""Write data, in UTF-8, to standard output. Nothing is cut; control and format characters are escaped.

    In JSON they become `\u001b` and the like, which is the same to its readers; ends of lines stay.
    """
    escape = _escape_in_json if is_json else None
    lines = content.decode().split("\n")
    click.echo("\n".join(line if line.isprintable() else escaped(line, escape) for line in lines), nl=False)


def prepare_streams() -> None:
    """Let standard output and error take any text in any encoding."""
    codecs.register_error(_HANDLER, _substitute)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def finish_stdout() -> None:
    """Flush standard output. OSError, which the interpreter would only report when it ends."""
    if sys.stdout is not None:  # `>&-`
        sys.stdout.flush()


def give_up_stdout() -> None:
    """Discard what could not be written, so that the interpreter does not report it again."""
    _give_up(sys.stdout)


def give_up_stderr() -> None:
    """Discard what could not be written: the interpreter would try again when it ends, and change the exit code."""
    _give_up(sys.stderr)


def _give_up(stream: TextIO | None) -> None:
    if stream is None:  # `>&-`
        return
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def is_full(error: BaseException) -> bool:
    """Tell a full or broken disk under standard output from one under a file of ours, whose errors name it."""
    return isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None


def undecodable(arguments: Iterable[str]) -> str | None:
    """Return the first argument that is no text in the locale's encoding; None if all are."""
    return next((text for text in arguments if any("\ud800" <= character <= "\udfff" for character in text)), None)


def _substitute(error: UnicodeError) -> tuple[str, int]:
    """Replace what cannot be encoded: drawing characters by similar ones, others by their numbers."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_SUBSTITUTES)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


def _escape_in_json(character: str) -> str:
    return json.dumps(character)[1:-1]

"""Standard output and error: lines and data, safe for terminals, any encoding, full disks and closed pipes.

Tables and pictures are printed by `console`. No other module writes there, because text from outside (names of jobs,
paths, messages of peers) could otherwise control the terminal; `tests/unit/cli/shared/test_terminal.py` checks this.
"""

from __future__ import annotations

import codecs
import errno
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from io import TextIOWrapper
from typing import Final, TextIO

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
#: The exit code that shells report for a process whose output was closed.
CLOSED_PIPE: Final = 128 + signal.SIGPIPE


def say(line: str = "", *, err: bool = False, colour: str | None = None) -> None:
    """Write one line; text from outside in it can neither end the line nor fill the screen.

    With `err` it is written to standard error.
    """
    shown = displayed_line(line)
    if colour is None:
        _write(f"{shown}\n", sys.stderr if err else sys.stdout)
    else:
        import click  # noqa: PLC0415  # most programs that refuse their arguments end without it

        click.secho(shown, err=err, fg=colour)


def say_all(lines: Iterable[str], *, err: bool = False) -> None:
    """Write each line, as `say` does."""
    for line in lines:
        say(line, err=err)


def warn(line: str) -> None:
    """Write a warning to standard error."""
    say(f"batsched-py: warning: {line}", err=True)


def warn_all(lines: Iterable[str]) -> None:
    """Write a warning to standard error for each line."""
    for line in lines:
        warn(line)


def put(content: bytes, *, is_json: bool = False) -> None:
    r"""Write data, in UTF-8, to standard output. Nothing is cut; control and format characters are escaped.

    In JSON they become escapes such as `\u001b`, which are equivalent for readers; line ends remain.
    """
    escape = _escape_in_json if is_json else None
    lines = content.decode().split("\n")
    _write("\n".join(line if line.isprintable() else escaped(line, escape) for line in lines), sys.stdout)


def _write(text: str, stream: TextIO | None) -> None:
    """Write a text at once; nothing without a stream (`>&-`)."""
    if stream is not None:
        stream.write(text)
        stream.flush()


def prepare_streams() -> None:
    """Make standard output and error accept any text in any encoding."""
    codecs.register_error(_HANDLER, _substitute)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def finish_stdout() -> None:
    """Flush standard output. OSError, which the interpreter would otherwise report only at its exit."""
    if sys.stdout is not None:  # `>&-`
        sys.stdout.flush()


def give_up_stdout() -> None:
    """Discard unwritten output, so that the interpreter does not report it again."""
    _give_up(sys.stdout)


def give_up_stderr() -> None:
    """Discard unwritten output: the interpreter would try to write it at its exit, and change the exit code."""
    _give_up(sys.stderr)


def _give_up(stream: TextIO | None) -> None:
    if stream is None:  # `>&-`
        return
    with suppress(OSError, ValueError):
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, stream.fileno())
        os.close(null_device)


def is_full(error: BaseException) -> bool:
    """Return whether it is a full or broken disk for standard output; errors of other files contain their names."""
    return isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None


def undecodable(arguments: Iterable[str]) -> str | None:
    """Return the first argument that is not valid text in the locale's encoding; None if all are valid."""
    return next((text for text in arguments if any("\ud800" <= character <= "\udfff" for character in text)), None)


def _substitute(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that cannot be encoded: drawing characters by similar ones, others by their numbers."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_SUBSTITUTES)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


def _escape_in_json(character: str) -> str:
    import json  # noqa: PLC0415  # as above

    return json.dumps(character)[1:-1]

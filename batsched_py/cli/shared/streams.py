"""Standard output and error: encodings without our characters, a full disk, and a reader that has enough."""

from __future__ import annotations

import codecs
import errno
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from io import TextIOWrapper
from typing import Final

#: Characters of tables and pictures -> what stands for them where they cannot be written; as wide as they are.
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

#: What writing fails with when there is no room, or no disk.
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
#: What a shell reports of a process that ended because nobody read its output any more.
CLOSED_PIPE: Final = 128 + signal.SIGPIPE


def prepare_streams() -> None:
    """Make standard output and error take any text, whatever their encoding."""
    codecs.register_error(_HANDLER, _substitute)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def finish_stdout() -> None:
    """Write out what is left. OSError, which the interpreter would only complain about when it ends."""
    if sys.stdout is not None:  # `>&-`
        sys.stdout.flush()


def give_up_stdout() -> None:
    """Throw away what could not be written, so that the interpreter does not complain once more."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def is_full(error: BaseException) -> bool:
    """True for a disk that is full or broken if no file of ours is meant: they are named where they are written."""
    return isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None


def undecodable(arguments: Iterable[str]) -> str | None:
    """The first argument that is no text in the locale's encoding; None if all are."""
    return next((text for text in arguments if any("\ud800" <= character <= "\udfff" for character in text)), None)


def _substitute(error: UnicodeError) -> tuple[str, int]:
    """Replace what cannot be encoded: drawings by their like, other characters by their number."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_SUBSTITUTES)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end

"""The last words of a process: the line of user code that it was executing when it was killed or crashed."""

from __future__ import annotations

import faulthandler
import os
import re
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

from batsched_py.session.error_context import is_engine
from batsched_py.text.display import displayed

#: The signal on which a process writes its stack to the pipe.
ASK: Final = signal.SIGUSR1
#: A line of a stack as faulthandler prints it, the innermost call first.
_CALL: Final = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)
#: Parts of the paths of Python's library and installed packages: their callers are reported instead.
_LIBRARY: Final = (os.path.dirname(os.__file__) + os.sep, "<")
_INSTALLED: Final = f"{os.sep}site-packages{os.sep}"
#: Bytes that are read at a time.
_MOST: Final = 1 << 16
#: Seconds to wait for the stack; a process that is stopped never writes it.
_PATIENCE: Final = 10.0
#: Seconds without data after which the stack is complete: it arrives in several pieces.
_PAUSE: Final = 0.2


def enable_last_words(sender: Connection) -> None:
    """Write the stack of this thread to the pipe on a crash and on the signal ASK."""
    faulthandler.enable(sender.fileno(), all_threads=False)
    faulthandler.register(ASK, sender.fileno(), all_threads=False)


def ask_for_last_words(pid: int, receiver: Connection) -> str:
    """Ask a process for its current line, and return it as " in decide (mine.py:12)"; "" if it does not answer."""
    with suppress(ProcessLookupError):
        os.kill(pid, ASK)
    return _read_line(receiver, _PATIENCE)


def read_last_words(receiver: Connection) -> str:
    """Return the line at which a dead process crashed, in the same form; "" if it wrote no stack."""
    return _read_line(receiver, 0.0)


def _read_line(receiver: Connection, patience: float) -> str:
    """Read the stack, waiting `patience` seconds for its first piece, and return the line of user code in it."""
    content = b""
    with suppress(OSError):
        while receiver.poll(patience) and (piece := os.read(receiver.fileno(), _MOST)):
            content, patience = content + piece, _PAUSE
    calls = [call for call in _CALL.findall(content.decode(errors="replace")) if not is_engine(call[0])]
    own = [call for call in calls if not call[0].startswith(_LIBRARY) and _INSTALLED not in call[0]]
    for file, line, function in (own or calls)[:1]:
        return f" in {displayed(function)} ({displayed(os.path.basename(file))}:{line})"
    return ""

"""The last words of a process: the line of the user's code that it executes when it is killed, or when it crashes."""

from __future__ import annotations

import faulthandler
import os
import re
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

from batsched_py.session.story import is_engine
from batsched_py.text.display import displayed

#: The signal in answer to which a process tells its line.
ASK: Final = signal.SIGUSR1
#: A line of what Python tells of a stack, the innermost call first.
_CALL: Final = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)
#: What is in the names of files of Python and of installed packages: who calls them is more worth telling.
_LIBRARY: Final = (os.path.dirname(os.__file__) + os.sep, "<")
_INSTALLED: Final = f"{os.sep}site-packages{os.sep}"
#: Bytes of them that are read.
_MOST: Final = 1 << 16
#: Seconds that a process may take to tell its line; one that is stopped never does.
_PATIENCE: Final = 10.0
#: Seconds after which it has told it all: it comes in several pieces.
_PAUSE: Final = 0.2


def tell_last_words(sender: Connection) -> None:
    """Tell the stack of this thread in a crash, and when asked, to whoever has the other end of the pipe."""
    faulthandler.enable(sender.fileno(), all_threads=False)
    faulthandler.register(ASK, sender.fileno(), all_threads=False)


def ask_for_last_words(pid: int, receiver: Connection) -> str:
    """Ask a process where it is, and return that as " in decide (mine.py:12)"; "" if it does not say."""
    with suppress(ProcessLookupError):
        os.kill(pid, ASK)
    return _told(receiver, _PATIENCE)


def read_last_words(receiver: Connection) -> str:
    """Return where a process that is dead was when it crashed, likewise; "" if it did not, or was in no user's code."""
    return _told(receiver, 0.0)


def _told(receiver: Connection, patience: float) -> str:
    """Read what comes within the time, and what then follows it at once."""
    content = b""
    with suppress(OSError):
        while receiver.poll(patience) and (piece := os.read(receiver.fileno(), _MOST)):
            content, patience = content + piece, _PAUSE
    calls = [call for call in _CALL.findall(content.decode(errors="replace")) if not is_engine(call[0])]
    own = [call for call in calls if not call[0].startswith(_LIBRARY) and _INSTALLED not in call[0]]
    for file, line, function in (own or calls)[:1]:
        return f" in {displayed(function)} ({displayed(os.path.basename(file))}:{line})"
    return ""

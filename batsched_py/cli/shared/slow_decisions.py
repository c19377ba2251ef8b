"""Slow decisions by the wall clock: a warning during each, and its duration if it is interrupted."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from batsched_py.cli.shared.terminal import warn
from batsched_py.interruption import Interruption
from batsched_py.session.error_context import is_engine
from batsched_py.session.session import Session
from batsched_py.text.display import displayed

#: Seconds after which a warning about a decision is printed.
LONG: Final = 10.0
#: Seconds between two checks of the session, which do not slow it down.
_PERIOD: Final = 1.0


class DecisionWatch:
    """A periodic check of a session's current decision; the caller of `look` supplies the time."""

    def __init__(self, session: Session, place: Callable[[], str]) -> None:
        """Take the session, and a function that returns its thread's line of user code."""
        self._session, self._place = session, place
        #: The number of the message being answered at the latest check, and the time of the first check of it.
        self._message = -1
        self._since = 0.0
        self._reported = False

    def look(self, now: float) -> None:
        """Check the session at a time in seconds; warn once of a slow decision."""
        session = self._session
        if not session.deciding:
            self._message = -1
            return
        if session.messages != self._message:
            self._message, self._since, self._reported = session.messages, now, False
        elif now - self._since >= LONG and not self._reported:
            self._reported = True
            warn(f"{session.deciding} takes more than {LONG:g} s{self._place()}")

    def lasted(self, now: float) -> float:
        """Return the duration so far of the decision at the latest check, in seconds; 0 if there was none."""
        return 0.0 if self._message < 0 else now - self._since


@contextmanager
def watched_decisions(session: Session) -> Iterator[None]:
    """Warn of slow decisions in this thread; add the duration to an interruption of one."""
    watch = DecisionWatch(session, _place_of(threading.get_ident()))
    over = threading.Event()

    def look_until_over() -> None:
        while not over.wait(_PERIOD):
            watch.look(time.monotonic())

    thread = threading.Thread(target=look_until_over, daemon=True)
    thread.start()
    try:
        yield
    except Interruption as interruption:
        seconds = watch.lasted(time.monotonic())
        if seconds and hasattr(interruption, "__notes__"):
            interruption.add_note(f", for {seconds:.0f} s")
        raise
    finally:
        over.set()
        thread.join()


def _place_of(thread: int) -> Callable[[], str]:
    """Return a function that returns the current line of user code of a thread, as " (mine.py:7)", or ""."""

    def place() -> str:
        frame = sys._current_frames().get(thread)  # the only access to the stack of another thread
        for step, line in () if frame is None else traceback.walk_stack(frame):
            file = step.f_code.co_filename
            if not is_engine(file):
                return f" ({displayed(os.path.basename(file))}:{line})"
        return ""

    return place

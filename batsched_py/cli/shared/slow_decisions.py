"""Decisions that take long by the clock on the wall: a warning while one does, and how long it took if interrupted."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from batsched_py.cli.shared.terminal import warn
from batsched_py.interruption import Interruption
from batsched_py.session.session import Session
from batsched_py.session.story import is_engine
from batsched_py.text.display import displayed

#: Seconds after which a decision is told to take long.
LONG: Final = 10.0
#: Seconds from one look at the session to the next; looking costs the session nothing.
_PERIOD: Final = 1.0


class DecisionWatch:
    """Looks now and then at what a session decides; whoever calls `look` has the clock."""

    def __init__(self, sessions: Sequence[Session], place: Callable[[], str]) -> None:
        """`sessions` will have the session once there is one; `place` tells where its thread is in the user's code."""
        self._sessions, self._place = sessions, place
        #: The number of the message that was being answered at the latest look, and the time of the first such look.
        self._message = -1
        self._since = 0.0
        self._told = False

    def look(self, now: float) -> None:
        """Look at the session at a time in seconds; warn of a decision that takes long, once."""
        session = self._sessions[0] if self._sessions else None
        if session is None or not session.deciding:
            self._message = -1
            return
        if session.messages != self._message:
            self._message, self._since, self._told = session.messages, now, False
        elif now - self._since >= LONG and not self._told:
            self._told = True
            warn(f"{session.deciding} takes more than {LONG:g} s{self._place()}")

    def lasted(self, now: float) -> float:
        """Return for how many seconds the decision of the latest look lasts; 0 if there was none."""
        return 0.0 if self._message < 0 else now - self._since


@contextmanager
def watched_decisions(sessions: Sequence[Session]) -> Iterator[None]:
    """Warn of decisions of this thread that take long; an interruption of one tells for how long it took."""
    watch = DecisionWatch(sessions, _place_of(threading.get_ident()))
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
    """Return a function that tells the line of the user's code at which a thread is, as " (mine.py:7)", or ""."""

    def place() -> str:
        frame = sys._current_frames().get(thread)  # there is no other way to see another thread
        for step, line in () if frame is None else traceback.walk_stack(frame):
            file = step.f_code.co_filename
            if not is_engine(file):
                return f" ({displayed(os.path.basename(file))}:{line})"
        return ""

    return place

"""Pieces of work for processes, each of which imports this module and nothing that takes long, as pytest does."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from multiprocessing import util
from pathlib import Path

#: What a piece of work changes here, no other piece sees.
COUNTER: list[int] = []


def square(number: int) -> int:
    """With a trace in the module."""
    COUNTER.append(number)
    assert [number] == COUNTER
    return number * number


def die(number: int) -> int:
    """In the middle of it."""
    os.kill(os.getpid(), number)
    return 0


def leave(code: int) -> int:
    """As an algorithm might."""
    os._exit(code)


def linger(path: Path) -> None:
    """Say that it runs, and never end; it cleans up when it is told to."""
    try:
        path.write_text(str(os.getpid()))
        while True:
            time.sleep(60)
    finally:
        path.with_suffix(".cleaned").touch()


def begun(path: Path) -> None:
    """Wait for the one that lingers."""
    while not (path.exists() and path.read_text()):
        os.sched_yield()


class Terminating:
    """An object that sends SIGTERM to the process that unpickles it, which is starting: the signal waits there."""

    def __reduce__(self) -> tuple[Callable[[int], None], tuple[int]]:
        """Unpickled, it is None."""
        return signal.raise_signal, (signal.SIGTERM,)


def unwind(path: Path) -> None:
    """Be told to end, and told again while it cleans up."""
    try:
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.raise_signal(signal.SIGTERM)
        path.touch()


def end_badly(number: int) -> int:
    """Be told to end when the work is done, and Python ends the process."""
    util.Finalize(None, signal.raise_signal, (signal.SIGTERM,), exitpriority=1)
    return number


def answer() -> tuple[object, object]:
    """Return the process's handler of Ctrl-C, and whether the signal is blocked."""
    return signal.getsignal(signal.SIGINT), signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

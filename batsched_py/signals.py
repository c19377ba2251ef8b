"""Ctrl-C, SIGTERM and SIGHUP, kept waiting."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

#: Signals that ask a program to stop.
STOPS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold signals back while something is done that must be whole; deliver one that came afterwards.

    If what is done raises, that is more important. A signal that is ignored stays so, and so does one whose handler was
    not set by Python, which cannot be put back; a thread that is not the main one hears none anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in STOPS}
    held = {number: handler for number, handler in before.items() if handler not in {signal.SIG_IGN, None}}
    try:
        for number in held:
            signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])

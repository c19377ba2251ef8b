"""Deferred delivery of SIGINT (Ctrl-C), SIGTERM and SIGHUP."""

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
    """Defer signals within the context, for work that must not be interrupted; deliver the first one afterwards.

    If the work raises, its error takes precedence and no signal is delivered. Ignored signals stay ignored, and signals
    with a handler that was not set by Python are not deferred, because it could not be restored. Other threads than the
    main one receive no signals anyway.
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

"""Ctrl-C and SIGTERM, kept waiting."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from batsched_py.cli.interruption import Interruption

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def held_back() -> Iterator[None]:
    """For what must not be left half done: a signal that comes meanwhile raises its Interruption afterwards."""
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in _NUMBERS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        raise Interruption(came[0])

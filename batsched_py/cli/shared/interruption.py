"""Ctrl-C, SIGTERM and SIGHUP as one exception, which nothing on the way takes for an error."""

from __future__ import annotations

import signal

from batsched_py.interruption import Interruption

TYPE_CHECKING = False  # that of `typing`, whose import would be most of what comes before signals are heeded
if TYPE_CHECKING:
    from types import FrameType
    from typing import Final, NoReturn

_HEEDED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def raise_on_signals() -> None:
    """Let each signal raise an Interruption from now on; a signal that is ignored stays so."""
    for number in _HEEDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)


def _raise(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise Interruption(number)

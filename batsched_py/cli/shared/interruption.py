"""Ctrl-C, SIGTERM and SIGHUP as one exception, which handlers of errors do not catch."""

from __future__ import annotations

import signal

from batsched_py.interruption import Interruption

TYPE_CHECKING = False  # that of `typing`, whose import would take most of the time before signals are handled
if TYPE_CHECKING:
    from types import FrameType
    from typing import Final, NoReturn

_HEEDED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def raise_on_signals() -> None:
    """Make each signal raise an Interruption from now on; ignored signals remain ignored."""
    for number in _HEEDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)


def _raise(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise Interruption(number)

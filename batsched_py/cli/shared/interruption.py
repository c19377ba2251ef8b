"""Ctrl-C, SIGTERM and SIGHUP as one exception, which nothing on the way takes for an error."""

from __future__ import annotations

import signal

TYPE_CHECKING = False  # that of `typing`, whose import would be most of what comes before signals are heeded
if TYPE_CHECKING:
    from types import FrameType
    from typing import Final, NoReturn

_WORDS: Final = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


class Interruption(BaseException):
    """The end of the program by a signal; no Exception, so that no handler of errors takes it for one."""

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)
        super().__init__(f"{_WORDS[self.signal]} ({self.signal.name})")

    @property
    def exit_code(self) -> int:
        """The exit code of a process that the signal ended, as shells report it: 130, 143 or 129."""
        return 128 + self.signal


def raise_on_signals() -> None:
    """Let each signal raise an Interruption from now on; a signal that is ignored stays so."""
    for number in _WORDS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)


def _raise(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise Interruption(number)

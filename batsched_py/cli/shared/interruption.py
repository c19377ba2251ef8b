"""Ctrl-C, SIGTERM and SIGHUP as one exception, which nothing on the way takes for an error."""

from __future__ import annotations

import signal

TYPE_CHECKING = False  # that of `typing`, whose import would be most of what comes before signals are heeded
if TYPE_CHECKING:
    from types import FrameType
    from typing import Final, NoReturn

_WORDS: Final = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


class Interruption(BaseException):
    """Somebody wants us to stop."""

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)
        super().__init__(f"{_WORDS[self.signal]} ({self.signal.name})")

    @property
    def exit_code(self) -> int:
        """The code that a shell reports of a process that the signal ended: 130, 143 or 129."""
        return 128 + self.signal


def raise_on_signals() -> None:
    """From now on, each of them raises an Interruption wherever the program is; one that is ignored stays so."""
    for number in _WORDS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)


def _raise(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise Interruption(number)

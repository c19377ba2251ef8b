"""The end of the program by a signal as an exception, and its distinction from failures of users' code."""

from __future__ import annotations

import signal
from opcode import opmap

TYPE_CHECKING = False  # that of `typing`, whose import would be most of what comes before signals are heeded
if TYPE_CHECKING:
    from typing import Final

_WORDS: Final = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
#: The instruction of a `raise`.
_RAISE: Final = opmap["RAISE_VARARGS"]


class Interruption(BaseException):
    """The end of the program by a signal; not a subclass of Exception, so that no error handler catches it."""

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)
        super().__init__(f"{_WORDS[self.signal]} ({self.signal.name})")

    @property
    def exit_code(self) -> int:
        """The exit code of a process that the signal ended, as shells report it: 130, 143 or 129."""
        return 128 + self.signal

    def __str__(self) -> str:
        """Return the signal and, from the notes, the interrupted activity."""
        return "".join((str(self.args[0]), *getattr(self, "__notes__", ())))

    def __reduce__(self) -> tuple[type[Interruption], tuple[int]]:
        """Support pickling."""
        return type(self), (int(self.signal),)


def is_interruption(error: BaseException) -> bool:
    """Return True for an exception raised by a signal, False for a failure of the code in which it was raised.

    A KeyboardInterrupt can be either: Python raises it for Ctrl-C at any instruction, whereas failing code has a
    `raise` instruction.
    """
    if not isinstance(error, KeyboardInterrupt):
        return isinstance(error, Interruption)
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None:
        return True
    instructions, at = step.tb_frame.f_code.co_code, step.tb_lasti
    return not 0 <= at < len(instructions) or instructions[at] != _RAISE

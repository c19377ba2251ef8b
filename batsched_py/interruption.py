"""The end of the program by a signal, as an exception, and what tells it from failures of users' code."""

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
    """The end of the program by a signal; no Exception, so that no handler of errors takes it for one."""

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)
        super().__init__(f"{_WORDS[self.signal]} ({self.signal.name})")

    @property
    def exit_code(self) -> int:
        """The exit code of a process that the signal ended, as shells report it: 130, 143 or 129."""
        return 128 + self.signal

    def __str__(self) -> str:
        """Return what happened and, from its notes, in the middle of what."""
        return "".join((str(self.args[0]), *getattr(self, "__notes__", ())))

    def __reduce__(self) -> tuple[type[Interruption], tuple[int]]:
        """Support pickling."""
        return type(self), (int(self.signal),)


def is_interruption(error: BaseException) -> bool:
    """Return True for what a signal has raised, and False for a failure of the code in which it was raised.

    A KeyboardInterrupt is both: the one that Python raises for Ctrl-C interrupts any instruction, whereas code that
    fails by it has a `raise`.
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

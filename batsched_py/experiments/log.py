"""The log of an experiment: messages of its progress, in the order of time (M37)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec import Struct

from batsched_py.text.display import displayed

Level = Literal["info", "warning", "error"]
#: Maximum length of the text of a message.
LONGEST_TEXT: Final = 500
#: Maximum number of messages in one log; later ones are counted.
MOST_MESSAGES: Final = 100_000


class LogMessage(Struct, frozen=True):
    """A message of a log.

    Attributes:
        time: second of the simulation.
        wall: seconds since 1970; None where no clock was given.
        level: severity.
        state: state of the experiment, by the name shown to users.
        resource: the resource concerned; "" for the experiment as a whole.
        text: the event, on one line.
    """

    time: float
    wall: float | None
    level: Level
    state: str
    resource: str
    text: str


class ExperimentLog:
    """Messages with non-decreasing times.

    Args:
        clock: returns seconds since 1970; None for messages without wall times.

    Attributes:
        left_out: number of messages after the maximum was reached.
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock
        self._messages: list[LogMessage] = []
        self.left_out = 0

    @property
    def messages(self) -> Sequence[LogMessage]:
        """All messages so far."""
        return self._messages

    def add(self, now: float, state: str, text: str, *, resource: str = "", level: Level = "info") -> None:
        """Add a message; its time is not earlier than that of the last one."""
        if len(self._messages) == MOST_MESSAGES:
            self.left_out += 1
            return
        wall = None if self._clock is None else self._clock()
        if self._messages:
            last = self._messages[-1]
            now = max(now, last.time)
            wall = wall if wall is None or last.wall is None else max(wall, last.wall)
        self._messages.append(LogMessage(now, wall, level, state, resource, displayed(text, LONGEST_TEXT)))

"""A message of either direction."""

from __future__ import annotations

from typing import Any


class Message:
    """A message of either direction: an instant, and events or commands. It does not change.

    Attributes:
        now: seconds since the start of the simulation; an int stays one, because it is written as it was read.
        events: typed events or commands, in the order of the message.
    """

    __slots__ = ("events", "now")

    #: Not for compiled code to make a float of it.
    now: Any

    def __init__(self, now: Any, events: tuple[Any, ...]) -> None:
        self.now = now
        self.events = events

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.now == other.now and self.events == other.events

    def __hash__(self) -> int:
        return hash((self.now, self.events))

    def __repr__(self) -> str:
        return f"Message(now={self.now!r}, events={self.events!r})"

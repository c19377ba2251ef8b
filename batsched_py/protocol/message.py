"""A message of either direction."""

from __future__ import annotations

from typing import Any


class Message:
    """A message of either direction: an instant, and events or commands. It does not change.

    Attributes:
        now: seconds since the start of the simulation.
        events: typed events or commands, in the order of the message.
    """

    __slots__ = ("events", "now")

    def __init__(self, now: float, events: tuple[Any, ...]) -> None:
        self.now = now
        self.events = events

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.now == other.now and self.events == other.events

    def __hash__(self) -> int:
        return hash((self.now, self.events))

    def __repr__(self) -> str:
        return f"Message(now={self.now!r}, events={self.events!r})"

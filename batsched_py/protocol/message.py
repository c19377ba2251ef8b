"""A message of either direction."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Message(Struct, frozen=True):
    """A message of either direction: an instant, and events or commands.

    Attributes:
        now: seconds since the start of the simulation.
        events: typed events or commands, in the order of the message.
    """

    now: float
    events: tuple[Any, ...]

"""The simulated time that a decision takes: none, a fixed time, or the measured time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import OptionError
from batsched_py.protocol.commands import CallMeLater, Command
from batsched_py.scheduling.plan import SHORTEST_CALL


class DecisionClock(Struct, frozen=True):
    """Clock of replies: each message takes `fixed` seconds, or the time measured by a `wall` clock (in seconds)."""

    fixed: float = 0.0
    wall: Callable[[], float] | None = None


#: Decisions take no simulated time: the default; reproducible, as are fixed times.
ZERO: Final = DecisionClock()


def parse_clock(text: str, wall: Callable[[], float]) -> DecisionClock:
    """Parse "zero", "fixed:SECONDS" or "measured" (by the clock `wall`); OptionError otherwise."""
    if text == "zero":
        return ZERO
    if text == "measured":
        return DecisionClock(wall=wall)
    kind, _, seconds = text.partition(":")
    if kind == "fixed":
        try:
            fixed = float(seconds)
        except ValueError:
            fixed = math.nan
        if 0 <= fixed < math.inf:
            return DecisionClock(fixed)
    raise OptionError(f"clock: must be zero, measured or fixed:SECONDS like fixed:0.5, not {text!r}")


def postponed(command: Command, now: float) -> Command:
    """Return the command after a decision that took until `now`; a call that would be in the past is moved after it."""
    if type(command) is CallMeLater:
        return replace(command, timestamp=now, at=max(command.at, now + SHORTEST_CALL))
    return replace(command, timestamp=now)

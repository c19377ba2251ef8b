"""Shared formats of durations and names of final states, for tables, pictures and pages."""

from __future__ import annotations

from typing import Final

from batsched_py.protocol.commands import RUNNING
from batsched_py.protocol.events import FINAL_STATES

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

#: Batsim's final state -> short name.
STATE_NAMES: Final = dict(
    zip(
        (*FINAL_STATES, RUNNING),
        ("successful", "failed", "walltime reached", "killed", "rejected", "running"),
        strict=True,
    )
)


def clock(seconds: float) -> str:
    """Return a duration as days, hours, minutes and seconds, rounded to a second: "02:03:04", "1 d 02:03:04"."""
    days, rest = divmod(round(seconds), DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    return (f"{days} d " if days else "") + f"{hours:02d}:{minutes:02d}:{rest:02d}"


def brief(seconds: float) -> str:
    """Return a duration with about three digits in a suitable unit: "0.25 s", "42 s", "3.5 min", "12 h", "3 d"."""
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} s"

"""Numbers of the page's data, with as few digits as Batsim's files have."""

from __future__ import annotations

Number = int | float


def short(number: float) -> Number:
    """Round to the microsecond, as Batsim's files do; a whole number has no point."""
    rounded = round(number, 6)
    return int(rounded) if rounded == int(rounded) else rounded

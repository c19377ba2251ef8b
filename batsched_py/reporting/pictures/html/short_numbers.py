"""Numbers in the page's data, shortened to the precision of Batsim's files."""

from __future__ import annotations

Number = int | float


def short(number: float) -> Number:
    """Round a number to a microsecond, as in Batsim's files; a whole number becomes an int."""
    rounded = round(number, 6)
    return int(rounded) if rounded == int(rounded) else rounded

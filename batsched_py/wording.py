"""Counts in words and in digits, for messages and pictures."""

from __future__ import annotations

from typing import Final

#: What stands for a figure that has no meaning.
NOTHING: Final = "-"


def counted(count: int, one: str, many: str = "") -> str:
    """As in "1 job", "2 jobs"; with `many` for those that do not end in s: "1 is free", "2 are free"."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def grouped(number: float, blank: str = " ") -> str:
    """A number as a whole one, in groups of three digits: "28 481"."""
    return f"{number:,.0f}".replace(",", blank)


def seconds(time: float) -> str:
    """A time in full, to a microsecond: 29363609, 10.5."""
    return f"{time:.6f}".rstrip("0").rstrip(".")


def too_few(needed: int, free: int) -> str:
    """Why a job waits: "needs 3 hosts, 1 is free". Algorithms say it at each decision, so it is quick."""
    return f"needs {needed} host{'' if needed == 1 else 's'}, {free} {'is' if free == 1 else 'are'} free"

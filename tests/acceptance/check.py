"""One thing that was expected and what was found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """A row of the table."""

    name: str
    expected: str
    found: str
    holds: bool


def near(name: str, expected: float, found: float, tolerance: float) -> Check:
    """A number that must be within `tolerance` of the published one."""
    return Check(name, f"{expected:.4f} +- {tolerance:.4f}", f"{found:.4f}", abs(found - expected) <= tolerance)


def same(name: str, expected: int, found: int) -> Check:
    """A count that must be met."""
    return Check(name, str(expected), str(found), found == expected)

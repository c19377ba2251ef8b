"""Shares, written as percentages or as numbers."""

from __future__ import annotations

from contextlib import suppress


def parse_share(text: str) -> float:
    """Return a share as a number: "5%" and "0.05" are 0.05. ValueError names the rule: above 0, at most 100 %."""
    plain, share = text.strip(), 0.0
    with suppress(ValueError):
        share = float(plain.removesuffix("%")) / (100 if plain.endswith("%") else 1)
    if not 0 < share <= 1:
        raise ValueError(f"must be a percentage such as 5%, greater than 0 and at most 100%, not {text!r}")
    return share

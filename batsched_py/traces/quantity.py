"""Quantities as SimGrid's platform files spell them: a number and a unit, "2.25GBps"."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from msgspec import Struct

_NUMBER_AND_UNIT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)\s*", re.ASCII)
_DECIMAL = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")


class Dimension(Struct, frozen=True):
    """A kind of quantity, and its units with their factors to the base unit, which is ""."""

    name: str
    units: Mapping[str, float]


def _scaled(unit: str, worth: float = 1.0, *, binary: bool = False) -> dict[str, float]:
    scale = {f"{prefix}{unit}": worth * 1000.0**power for power, prefix in enumerate(_DECIMAL)}
    if binary:
        scale |= {
            f"{prefix[:1].upper()}i{unit}": worth * 1024.0**power for power, prefix in enumerate(_DECIMAL) if prefix
        }
    return scale


#: flop/s
SPEED = Dimension("speed", {"": 1.0, **_scaled("f"), **_scaled("flops")})
#: bytes per second; "bps" are bits
BANDWIDTH = Dimension("bandwidth", {"": 1.0, **_scaled("Bps", binary=True), **_scaled("bps", 0.125, binary=True)})
#: seconds
TIME = Dimension(
    "time",
    {
        "": 1.0,
        "s": 1.0,
        "ms": 1e-3,
        "us": 1e-6,
        "ns": 1e-9,
        "ps": 1e-12,
        "m": 60.0,
        "h": 3600.0,
        "d": 86400.0,
        "w": 604800.0,
    },
)


def parse_quantity(text: str, dimension: Dimension) -> float:
    """Convert a text to the dimension's base unit; ValueError names the rule that it breaks."""
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if match is None:
        raise ValueError(f"must be a number and a unit of {dimension.name}, not {text!r}")
    number, unit = float(match[1]), match[2]
    if unit not in dimension.units:
        known = ", ".join(name for name in dimension.units if name)
        raise ValueError(f"has the unknown unit {unit!r} of {dimension.name}; the known ones are {known}")
    # Dividing by a whole number keeps "514.433us" the float nearest to 0.000514433; multiplying by 1e-6 does not.
    worth = dimension.units[unit]
    value = number / round(1 / worth) if worth < 0.1 else number * worth
    if not math.isfinite(value):
        raise ValueError(f"must be finite, not {text!r}")
    return value

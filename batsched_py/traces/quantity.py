"""Quantities in the notation of SimGrid's platform files: a number and a unit, "2.25GBps"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from batsched_py.text.display import shown

#: SimGrid skips blanks before the number, and interprets the whole rest as the unit.
_NUMBER_AND_UNIT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(.*)", re.ASCII | re.DOTALL)
_SHORT: Final = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_LONG: Final = ("", "kilo", "mega", "giga", "tera", "peta", "exa", "zeta", "yotta")
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi")


class Dimension(Struct, frozen=True):
    """A kind of quantity.

    Attributes:
        name: for messages.
        units: the units that SimGrid knows, with their factors to the base unit, which is "".
        slips: misspellings in lower case that SimGrid refuses -> the intended unit, for messages.
        example: examples of units, for messages.
    """

    name: str
    units: Mapping[str, float]
    slips: Mapping[str, str]
    example: str


def _scaled(unit: str, prefixes: tuple[str, ...], worth: float = 1.0, base: float = 1000.0) -> dict[str, float]:
    return {f"{prefix}{unit}": worth * base**power for power, prefix in enumerate(prefixes)}


def _speed_slips() -> Iterator[tuple[str, str]]:
    for short, long in zip(_SHORT, _LONG, strict=True):
        for ending in ("flops", "flop", "flop/s", "flops/s", "f", "f/s"):
            yield f"{short}{ending}".lower(), f"{short}f or {long}flops"


def _bandwidth_slips() -> Iterator[tuple[str, str]]:
    """Yield misspellings of units of bytes; of bits only if spelled out, since B and b differ by a factor of 8."""
    for prefixes in (_SHORT, _BINARY):
        for prefix in prefixes:
            for ending in ("b/s", "b", "byte/s", "bytes/s", "byteps"):
                yield f"{prefix}{ending}".lower(), f"{prefix}Bps (bytes) or {prefix}bps (bits)"
            yield f"{prefix}bps".lower(), f"{prefix}Bps (bytes) or {prefix}bps (bits)"
            for ending in ("bit/s", "bits/s", "bitps"):
                yield f"{prefix}{ending}".lower(), f"{prefix}bps"


_TIME_SLIPS: Final = {
    word: unit
    for unit, words in {
        "s": ("sec", "secs", "second", "seconds"),
        "ms": ("msec", "millisecond", "milliseconds"),
        "us": ("\u00b5s", "\u03bcs", "usec", "microsecond", "microseconds"),
        "ns": ("nsec", "nanosecond", "nanoseconds"),
        "m": ("min", "mins", "minute", "minutes"),
        "h": ("hr", "hrs", "hour", "hours"),
        "d": ("day", "days"),
        "w": ("week", "weeks"),
    }.items()
    for word in (*words, unit)
}

# Source: SimGrid's xbt_parse_units, of versions 3.32 to 4.0.
#: flop/s: short prefixes go with f, long ones with flops
SPEED = Dimension(
    "speed", {"": 1.0, **_scaled("f", _SHORT), **_scaled("flops", _LONG)}, dict(_speed_slips()), "f, Gf, gigaflops"
)
#: bytes per second; "bps" are bits
BANDWIDTH = Dimension(
    "bandwidth",
    {
        "": 1.0,
        **_scaled("Bps", _SHORT),
        **_scaled("bps", _SHORT, 0.125),
        **_scaled("Bps", _BINARY, base=1024.0),
        **_scaled("bps", _BINARY, 0.125, 1024.0),
    },
    dict(_bandwidth_slips()),
    "Bps, MBps, MiBps for bytes, Mbps for bits",
)
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
    _TIME_SLIPS,
    "s, ms, us, m, h",
)


def parse_quantity(text: str, dimension: Dimension) -> float:
    """Convert a text to the dimension's base unit, as SimGrid does; ValueError names the broken rule.

    Units are those of SimGrid, case-sensitive and without a blank before them.
    """
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if match is None:
        raise ValueError(f"must be a number and a unit of {dimension.name}, not {shown(text)}")
    number, unit = float(match[1]), match[2]
    if unit not in dimension.units:
        raise ValueError(_unknown(unit, dimension))
    # Division by a whole number gives the float nearest to 0.000514433 for "514.433us"; multiplication by 1e-6 does
    # not.
    worth = dimension.units[unit]
    value = number / round(1 / worth) if worth < 0.1 else number * worth
    if not math.isfinite(value):
        raise ValueError(f"must be finite, not {shown(text)}")
    return value


def _unknown(unit: str, dimension: Dimension) -> str:
    """Return the message for an unknown unit, with the unit that was probably intended."""
    rule = f"has the unknown unit {shown(unit)} of {dimension.name}"
    plain = unit.strip()
    if plain in dimension.units:
        return f"{rule}: SimGrid accepts no blanks around a unit"
    meant = dimension.slips.get(plain.lower())
    return f"{rule}; did you mean {meant}?" if meant else f"{rule}; write {dimension.example} (SimGrid's units)"

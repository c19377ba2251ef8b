"""Times in the notation of Haizea's files: "[DD:]HH:MM:SS[.ss]"."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from batsched_py.reading.limits import LONGEST, TOO_LONG
from batsched_py.text.display import shown

_TIME: Final = re.compile(r"(?:(\d{1,9}):)?(\d{1,12}):([0-5]\d):([0-5]\d)(\.\d{1,400})?", re.ASCII)
_DAY: Final = 86400


def read_time(text: str) -> float:
    """Parse a time in seconds; return whole seconds as an integer. ValueError names the rule."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"must be [DD:]HH:MM:SS[.ss], not {shown(text)}")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[:4])
    whole = days * _DAY + hours * 3600 + minutes * 60 + seconds
    if whole >= LONGEST:
        raise ValueError(f"{TOO_LONG} not {shown(text)}")
    # Converted as one number: the sum of rounded parts might not be the nearest float.
    return float(f"{whole}{found[5]}") if found[5] and found[5].strip(".0") else whole


def format_time(seconds: float) -> str:
    """Return the text that `read_time` parses as exactly this number; ValueError if it is negative."""
    if seconds < 0:
        raise ValueError(f"{seconds} s is before the workload's start")
    whole, point, fraction = f"{Decimal(repr(seconds)):f}".partition(".")
    minutes, second = divmod(int(whole), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    tail = f"{point}{fraction}" if fraction.strip("0") else ""
    return (f"{days:02d}:" if days else "") + f"{hour:02d}:{minute:02d}:{second:02d}{tail}"

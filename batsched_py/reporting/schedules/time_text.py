"""Times and dates in the notation of options: 3600, 90min, 2.5d, 2024-05-31."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime
from typing import Final

from batsched_py.reading.limits import LONGEST
from batsched_py.reporting.formatting import DAY, HOUR, MINUTE

#: Unit of a time -> its seconds.
_UNITS: Final = {"": 1, "s": 1, "min": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
_TIME: Final = re.compile(rf"(\d{{1,20}}(?:\.\d{{0,20}})?)\s*({'|'.join(_UNITS)})", re.ASCII)
#: A date, perhaps with a time, which is parsed as ISO 8601.
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?", re.ASCII)

SPAN_RULE: Final = "must be seconds, or a time like 90min, 12h or 2.5d"
TIME_RULE: Final = "must be seconds, a time like 90min, 12h or 2.5d, or a date like 2024-05-31 or 2024-05-31T08:00"


def parse_span(text: str, rule: str = SPAN_RULE) -> float:
    """Return a duration in seconds, an int if whole; ValueError names the `rule`."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{rule}, not {text!r}")
    seconds = float(found[1]) * _UNITS[found[2]]
    if seconds > LONGEST:
        raise ValueError(f"must be at most {LONGEST} s, not {text!r}")
    return int(seconds) if seconds.is_integer() else seconds


def parse_time(text: str, rule: str = TIME_RULE) -> float | datetime:
    """Return a time in seconds, or a date in ISO 8601 with or without an offset; ValueError names the `rule`."""
    if _DATE.fullmatch(text.strip()):
        with suppress(ValueError):
            return datetime.fromisoformat(text.strip())
    return parse_span(text, rule)

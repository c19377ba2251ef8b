"""What may stand in a workload: how late a time may be, and which characters a name may have."""

from __future__ import annotations

import re
from typing import Final

#: Seconds (1900 years). Up to 2**36 s (6.9e10) the steps of a float are shorter than the 10 us that a job of Batsim
#: takes at least; later one may begin and end at one instant, although it lasts.
LONGEST: Final = 60_000_000_000
TOO_LONG: Final = f"must be at most {LONGEST} s, beyond which a clock has no steps of 10 us,"

#: Characters that no name may have: Batsim writes names into its CSV files as they are, without quotes.
_BREAKS_CSV = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029,"]')
NAME_RULE: Final = "must have no comma, double quote, line break or other control character"


def breaks_csv(name: str) -> bool:
    """True if a table in which this name stands could not be read again."""
    return _BREAKS_CSV.search(name) is not None

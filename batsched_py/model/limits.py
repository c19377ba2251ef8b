"""Limits of input: the latest time, the characters of a name, the sizes of files and messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

#: Seconds (1900 years). Up to 2**36 s (6.9e10) the steps of a float are shorter than the 10 us that a job of Batsim
#: takes at least; later one may begin and end at one instant, although it lasts.
LONGEST: Final = 60_000_000_000
TOO_LONG: Final = f"must be at most {LONGEST} s, beyond which a clock has no steps of 10 us,"

#: Seconds: the latest submission, and other instants of jobs, which may be later than LONGEST if they have no fraction.
#: Up to 2**37 s (1.37e11) the steps of a float are shorter than 20 us, so that 10 us later is still another instant.
LATEST: Final = 100_000_000_000
TOO_LATE: Final = f"must be at most {LATEST} s, and above {LONGEST} s without a fraction,"

#: Seconds: what Batsim writes with six digits after the point. A shorter walltime reaches schedulers as none at all.
SHORTEST: Final = 1e-6

#: Characters that no name may have: Batsim writes names into its CSV files as they are, without quotes.
_BREAKS_CSV = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029,"]')
NAME_RULE: Final = "must have no comma, double quote, line break or other control character"


def is_too_late(instant: float) -> bool:
    """Return whether an instant breaks the rule TOO_LATE."""
    return instant > LONGEST and (instant > LATEST or instant % 1 != 0)


def breaks_csv(name: str) -> bool:
    """Return whether a table in which this name stands could not be read again."""
    return _BREAKS_CSV.search(name) is not None


class LimitError(ValueError):
    """More is asked for than a limit allows; its text is the rule, and names the limit."""


class Limits(Struct, frozen=True, kw_only=True):
    """Sizes at which readers refuse to go on, so that no file or message takes all memory, or for ever.

    The defaults are far above the largest published logs (300 000 jobs, 80 000 hosts); the command line's option
    `--limit` raises them. Readers take them as a parameter.

    Attributes:
        file_size: bytes of a file that is kept in memory, and of what is compressed in one.
        line_size: bytes of one line of a log, of a table and of external events.
        message_size: bytes of one message, and of a line of a recording, which holds one.
        jobs: jobs of one log or workload.
        runs: runs of one campaign.
        hosts: hosts of one platform, and of the machine that a result file describes.
        sets_size: bytes of the host sets of a table of results, a bit for each host up to the highest; if the table is
            large itself, as large as a machine of 80 000 hosts makes it, more are read.
        name_size: characters of the name of a host, zone or link.
        depth: levels of JSON that is inside of jobs, profiles and messages, of zones, and of composed profiles.
    """

    file_size: int = 2_000_000_000
    line_size: int = 16_000_000
    message_size: int = 500_000_000
    jobs: int = 10_000_000
    runs: int = 1_000_000
    hosts: int = 1_048_576
    sets_size: int = 64_000_000
    name_size: int = 1_000
    depth: int = 100

    def check(self, limit: str, amount: int) -> None:
        """Raise LimitError if there is more of something than the limit of that name allows."""
        if amount > getattr(self, limit):
            raise LimitError(self.rule(limit))

    def rule(self, limit: str) -> str:
        """Return the rule for messages: "must be at most 1048576 hosts (--limit hosts=N allows more)"."""
        return f"must be at most {getattr(self, limit)} {_UNITS[limit]} (--limit {option_name(limit)}=N allows more)"


#: Limit -> what is counted.
_UNITS: Final[Mapping[str, str]] = {
    "file_size": "bytes",
    "line_size": "bytes in a line",
    "message_size": "bytes in a message",
    "jobs": "jobs",
    "runs": "runs",
    "hosts": "hosts",
    "sets_size": "bytes of host sets",
    "name_size": "characters in a name",
    "depth": "levels deep",
}
#: Types of JSON that nothing is inside of.
_FLAT: Final = frozenset({str, int, float, bool, type(None)})
#: Deeper than this our own functions cannot follow, and orjson does not write.
DEEPEST: Final = 200
#: For readers that are given no others.
LIMITS: Final = Limits()


def option_name(limit: str) -> str:
    """Return the command line's spelling of a limit."""
    return limit.replace("_", "-")


def check_depth(value: object, limits: Limits) -> None:
    """Raise LimitError if lists and objects are nested deeper than the limit `depth` allows."""
    if type(value) is dict and limits.depth > 0 and _FLAT.issuperset(map(type, value.values())):  # as nearly all are
        return
    level, most = [value], limits.depth
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, (list, dict))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (list, dict))
        ]
        if not level:
            return
    raise LimitError(limits.rule("depth"))

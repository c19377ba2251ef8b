"""Limits of input: latest time, characters of names, sizes of files and messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

#: Seconds (1900 years). Up to 2**36 s (6.9e10) the steps of a float are shorter than 10 us, the minimum duration of a
#: job in Batsim; at later times the start and end of a job could be equal.
LONGEST: Final = 60_000_000_000
TOO_LONG: Final = f"must be at most {LONGEST} s, beyond which a clock has no steps of 10 us,"

#: Seconds: the latest submission, and other instants of jobs, which may be later than LONGEST if they are integral.
#: Up to 2**37 s (1.37e11) the steps of a float are shorter than 20 us: adding 10 us gives a later instant.
LATEST: Final = 100_000_000_000
TOO_LATE: Final = f"must be at most {LATEST} s, and above {LONGEST} s without a fraction,"

#: Seconds: Batsim writes six decimals. Schedulers would receive a shorter walltime as no walltime.
SHORTEST: Final = 1e-6

#: Characters forbidden in names: Batsim writes names into its CSV files without quotes.
_BREAKS_CSV = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029,"]')
NAME_RULE: Final = "must have no comma, double quote, line break or other control character"


def is_too_late(instant: float) -> bool:
    """Return whether an instant violates the rule TOO_LATE."""
    return instant > LONGEST and (instant > LATEST or instant % 1 != 0)


def breaks_csv(name: str) -> bool:
    """Return whether a table with this name could not be parsed."""
    return _BREAKS_CSV.search(name) is not None


class LimitError(ValueError):
    """The error for exceeding a limit; its text is the rule, and names the limit."""


class Limits(Struct, frozen=True, kw_only=True):
    """The maximum sizes of input, so that no file or message exhausts the memory or takes endless time.

    The defaults are far above the largest published logs (300 000 jobs, 80 000 hosts); the command line's option
    `--limit` changes them. Readers take them as a parameter.

    Attributes:
        file_size: bytes of a file kept in memory, and of the decompressed content of a file.
        line_size: bytes of one line of a log, of a table and of external events.
        message_size: bytes of one message, and of a line of a recording, which contains one.
        jobs: jobs of one log or workload.
        actions: actions of the traces that one profile replays.
        runs: runs of one campaign.
        hosts: hosts of one platform, and of the machine that a result file describes.
        sets_size: bytes of the host sets of a table of results, one bit for each host up to the highest; larger tables,
            as from a machine of 80 000 hosts, may have more.
        name_size: characters of the name of a host, zone or link.
        depth: nesting depth of JSON in jobs, profiles and messages, of zones, and of composed profiles.
    """

    file_size: int = 2_000_000_000
    line_size: int = 16_000_000
    message_size: int = 500_000_000
    jobs: int = 10_000_000
    actions: int = 10_000_000
    runs: int = 1_000_000
    hosts: int = 1_048_576
    sets_size: int = 64_000_000
    name_size: int = 1_000
    depth: int = 100

    def check(self, limit: str, amount: int) -> None:
        """Raise LimitError if an amount exceeds the limit of that name."""
        if amount > getattr(self, limit):
            raise LimitError(self.rule(limit))

    def rule(self, limit: str) -> str:
        """Return the rule for messages: "must be at most 1048576 hosts (--limit hosts=N allows more)"."""
        return f"must be at most {getattr(self, limit)} {_UNITS[limit]} (--limit {option_name(limit)}=N allows more)"


#: Limit -> counted unit.
_UNITS: Final[Mapping[str, str]] = {
    "file_size": "bytes",
    "line_size": "bytes in a line",
    "message_size": "bytes in a message",
    "jobs": "jobs",
    "actions": "actions",
    "runs": "runs",
    "hosts": "hosts",
    "sets_size": "bytes of host sets",
    "name_size": "characters in a name",
    "depth": "levels deep",
}
#: Types of JSON without nested values.
_FLAT: Final = frozenset({str, int, float, bool, type(None)})
#: Maximum nesting depth of recursive functions here, and of orjson's writer.
DEEPEST: Final = 200
#: Default limits of readers.
LIMITS: Final = Limits()


def option_name(limit: str) -> str:
    """Return the command line's spelling of a limit."""
    return limit.replace("_", "-")


def check_depth(value: object, limits: Limits) -> None:
    """Raise LimitError if lists and objects are nested deeper than the limit `depth` allows."""
    if type(value) is dict and limits.depth > 0 and _FLAT.issuperset(map(type, value.values())):  # the usual case
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

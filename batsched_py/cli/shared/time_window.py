"""The options that choose a part of a run or log by time: --from, --to and --skip, spelled alike in all commands."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

import click

from batsched_py.cli.shared.parameters import Decorator, option, together
from batsched_py.model.limits import LONGEST
from batsched_py.reporting.formatting import DAY, HOUR, MINUTE

#: Unit of a time -> its seconds.
_UNITS: Final = {"": 1, "s": 1, "min": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
_TIME: Final = re.compile(rf"(\d{{1,20}}(?:\.\d{{0,20}})?)\s*({'|'.join(_UNITS)})", re.ASCII)
#: What a date begins with; the rest is read as ISO 8601.
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?", re.ASCII)


#: How times are spelled, for the help.
SPELLINGS: Final = "3600, 90min, 12h, 150d, or a date if the log has a start date"


class TimeSpan(click.types.StringParamType):
    """A time in seconds, or with a unit: 3600, 90min, 12h, 2.5d, 1w."""

    name = "time"
    rule = "must be seconds, or a time like 90min, 12h or 2.5d"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the seconds; a usage error names the rule."""
        if not isinstance(value, str):
            return value
        found = _TIME.fullmatch(value.strip())
        if found is None:
            self.fail(f"{self.rule}, not {value!r}", param, ctx)
        seconds = float(found[1]) * _UNITS[found[2]]
        if seconds > LONGEST:
            self.fail(f"must be at most {LONGEST} s, not {value!r}", param, ctx)
        return int(seconds) if seconds.is_integer() else seconds


class TimeOrDate(TimeSpan):
    """A time, or a date in ISO 8601, with an offset or without: 2024-05-31, 2024-05-31T08:00+02:00."""

    rule = "must be seconds, a time like 90min, 12h or 2.5d, or a date like 2024-05-31 or 2024-05-31T08:00"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the seconds or the date; a usage error names the rule."""
        if isinstance(value, str) and _DATE.fullmatch(value.strip()):
            with suppress(ValueError):
                return datetime.fromisoformat(value.strip())
        return super().convert(value, param, ctx)


def window_options(does: str) -> Decorator:
    """Make --from, --to and --skip as the fields of a WindowChoice; `does` says what happens with what is in it."""
    begin = option("--from begin", "TIME", f"{does} from then on: {SPELLINGS}.", type=TimeOrDate())
    return together(begin, end_options(does))


def end_options(does: str, also: str = "") -> Decorator:
    """Make --to, with another spelling if there is one, and --skip."""
    return together(
        option(f"--to {also} until", "TIME", f"{does} before then.", type=TimeOrDate()),
        option(
            "--skip",
            "TIME",
            "Instead of --from: skip this much time after the first submission (warm-up).",
            type=TimeSpan(),
        ),
    )

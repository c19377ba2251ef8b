"""The options that select a part of a run or log by time: --from, --to and --skip, identical in all commands."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

import click

from batsched_py.cli.shared.parameters import Decorator, option, together
from batsched_py.reporting.schedules.time_text import SPAN_RULE, TIME_RULE, parse_span, parse_time

#: Formats of times, for the help.
SPELLINGS: Final = "3600, 90min, 12h, 150d, or a date if the log has a start date"


class TimeSpan(click.types.StringParamType):
    """A time in seconds, or with a unit: 3600, 90min, 12h, 2.5d, 1w."""

    name = "time"
    rule = SPAN_RULE

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the time in seconds; a usage error names the rule."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def _parse(self, text: str) -> float | datetime:
        return parse_span(text, self.rule)


class TimeOrDate(TimeSpan):
    """A time, or a date in ISO 8601, with or without an offset: 2024-05-31, 2024-05-31T08:00+02:00."""

    rule = TIME_RULE

    def _parse(self, text: str) -> float | datetime:
        return parse_time(text, self.rule)


def window_options(does: str) -> Decorator:
    """Return --from, --to and --skip for the fields of a WindowChoice; `does` describes the use of the window."""
    begin = option("--from begin", "TIME", f"{does} from then on: {SPELLINGS}.", type=TimeOrDate())
    return together(begin, end_options(does))


skip_option = option(
    "--skip",
    "TIME",
    "Instead of --from: skip this much time after the first submission (warm-up).",
    type=TimeSpan(),
)


def end_options(does: str) -> Decorator:
    """Return --to and --skip."""
    return together(option("--to until", "TIME", f"{does} before then.", type=TimeOrDate()), skip_option)

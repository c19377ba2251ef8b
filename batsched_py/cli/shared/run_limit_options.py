"""The options that limit each run of a command with many runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from batsched_py.campaigns.run_limits import RunLimits, parse_memory, parse_timeout
from batsched_py.cli.shared.parameters import option, together


def _reader(parse: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Return a callback that parses an option, if given. BadParameter."""

    def read(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
        try:
            return None if text is None else parse(text)
        except ValueError as error:
            raise click.BadParameter(str(error), context, parameter) from error

    return read


#: The fields of RunLimits.
run_limit_options: Final = together(
    option(
        "--timeout",
        "TIME",
        "End a run that takes longer, such as 90s, 10m or 2h: it has failed.",
        callback=_reader(parse_timeout),
    ),
    option(
        "--memory",
        "SIZE",
        "Give the process of a run so much memory, such as 2GB: a run that needs more has failed.",
        callback=_reader(parse_memory),
    ),
)


def over(limits: RunLimits, others: RunLimits) -> RunLimits:
    """Return the effective limits: the given ones override the others."""
    return RunLimits(
        others.timeout if limits.timeout is None else limits.timeout,
        others.memory if limits.memory is None else limits.memory,
    )

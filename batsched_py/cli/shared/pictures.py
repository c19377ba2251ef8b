"""What the commands that draw have in common: the runs they read, the window they show, the file they write."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final
from warnings import catch_warnings, simplefilter

import click

from batsched_py.cli.shared.extras import require
from batsched_py.cli.shared.parameters import PATH, Decorated, Number
from batsched_py.cli.shared.runs import hosts_option, read_runs, write_file
from batsched_py.cli.shared.terminal import say, warn
from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.model.limits import LONGEST
from batsched_py.reporting.formatting import DAY, HOUR, MINUTE
from batsched_py.reporting.schedules.schedule import Schedule

#: Endings of the names of pictures, which say how they are written.
FORMATS: Final = ("pdf", "svg", "png")
_UNITS: Final = {"": 1, "s": 1, "min": MINUTE, "h": HOUR, "d": DAY}
_TIME: Final = re.compile(rf"(\d+(?:\.\d*)?)\s*({'|'.join(_UNITS)})")
_MOST_INCHES: Final = 100.0


def read_time(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """For options: an instant in seconds; a usage error for what is none."""
    if value is None:
        return None
    found = _TIME.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter(
            f"must be seconds, or a time like 90min, 12h or 2.5d, not {value!r}", context, parameter
        )
    seconds = float(found[1]) * _UNITS[found[2]]
    if seconds > LONGEST:
        raise click.BadParameter(f"must be at most {LONGEST} s, not {value!r}", context, parameter)
    return seconds


def read_picture(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """For options: a file whose name ends with one of FORMATS; a usage error for another."""
    if value is not None and form_of(value) not in FORMATS:
        endings = " or ".join(f".{form}" for form in FORMATS)
        raise click.BadParameter(f"must end with {endings}, not be {value.name!r}", context, parameter)
    return value


def form_of(path: Path) -> str:
    """The format that a file's name ends with."""
    return path.suffix.lower().removeprefix(".")


def _read_hosts(context: click.Context, parameter: click.Parameter, value: str | None) -> HostSet | None:
    if value is None:
        return None
    try:
        hosts = HostSet.parse(value)
    except ValueError as error:
        raise click.BadParameter(f"must be hosts like 0-15 or 0-3,8,12-15: {error}", context, parameter) from None
    if not hosts:
        raise click.BadParameter("must be hosts like 0-15 or 0-3,8,12-15, not none", context, parameter)
    return hosts


def picture_options(text: str, *, required: bool) -> Callable[[Decorated], Decorated]:
    """-o, what is shown, and the picture's size; `text` says what -o does."""
    wide, high = Number(1.0, _MOST_INCHES), Number(0.5, _MOST_INCHES)
    options = (
        click.option("-o", "--output", type=PATH, callback=read_picture, required=required, metavar="FILE", help=text),
        click.option(
            "--from", "begin", callback=read_time, metavar="TIME", help="Show what comes later: 3600, 90min, 12h, 2d."
        ),
        click.option("--to", "end", callback=read_time, metavar="TIME", help="Show what comes before."),
        click.option("--only", callback=_read_hosts, metavar="HOSTS", help="Show these hosts only: 0-15 or 0-3,8."),
        hosts_option,
        click.option("--width", type=wide, metavar="INCHES", help="Of the picture; 3.5, a column, if not given."),
        click.option("--height", type=high, metavar="INCHES", help="Of the picture; what suits it, if not given."),
        click.option("--title", default="", metavar="TEXT", help="Above the picture."),
    )

    def decorate(command: Decorated) -> Decorated:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def read_drawn(
    paths: Sequence[Path], workloads: Sequence[Path], output: Path | None, hosts: int | None, *, places_needed: bool
) -> list[Schedule]:
    """The runs, as `read_runs` reads them; InputError if there is nothing to draw."""
    schedules = read_runs(paths, workloads, output, hosts)
    for schedule in schedules:
        if places_needed and not schedule.hosts_known:
            raise InputError(schedule.source, "", "does not tell on which hosts jobs ran, which a Gantt chart shows")
        if places_needed and not schedule.hosts:
            raise InputError(schedule.source, "", "has no job with a host: there is nothing to draw")
        if not schedule.ran:
            raise InputError(schedule.source, "", "has no job that ran: there is nothing to draw")
    return schedules


def draw(name: str, module: str, output: Path, make: Callable[[Any], Any]) -> None:
    """Write the figure that `make` makes with a module of reporting.paper. ExtraError, InputError."""
    require("matplotlib", name, "plot")
    style = importlib.import_module("batsched_py.reporting.pictures.paper.style")  # slow to import, and an extra
    paper = importlib.import_module(f"batsched_py.reporting.pictures.paper.{module}")
    with style.style(), catch_warnings(record=True) as caught:
        simplefilter("always", UserWarning)
        content = style.saved(make(paper), form_of(output))
    for line in dict.fromkeys(str(one.message) for one in caught):  # characters that the font does not have
        warn(line)
    write_file(output, content)
    say(f"wrote {output}")

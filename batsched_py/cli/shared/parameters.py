"""Types of parameters, and options that several commands share."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from batsched_py.bits import MAX_HOST
from batsched_py.cli.shared.completion import complete_algorithm, complete_assignment
from batsched_py.cli.shared.repetition import refuse_doubled
from batsched_py.cli.shared.terminal import say
from batsched_py.example_files import path_or_example
from batsched_py.model.platform import ROLES
from batsched_py.reading.limits import LONGEST
from batsched_py.reading.shares import parse_share

#: One option or several, as a decorator for the function of a command.
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

#: A path of any kind: the reader of the file reports errors with its name.
PATH: Final = click.Path(path_type=Path)


class FolderPath(click.Path):
    """The path of a folder; an empty text is an error, and does not mean the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        if value == "":
            self.fail("must name a folder, not be empty", param, ctx)
        return Path(os.fsdecode(super().convert(value, param, ctx)))


#: A folder of files written by this program.
FOLDER: Final = FolderPath()
#: A number of hosts.
HOSTS: Final = click.IntRange(1, MAX_HOST)

#: Number of digits of the largest port.
_PORT_DIGITS: Final = 5
#: Addresses of ZeroMQ that other processes can reach: a machine and its port, or a file.
_ADDRESS: Final = re.compile(r"tcp://\S+:(\d+|\*)|ipc://\S+")


def option(names: str, metavar: str | None, text: str, **rules: Any) -> Decorator:
    """Return an option with these names, separated by blanks, and this help, which shows the default."""
    shown = rules.get("default") not in (None, "")
    return click.option(*names.split(), metavar=metavar, help=text, show_default=shown, **rules)


def flag(names: str, text: str, **rules: Any) -> Decorator:
    """Return a switch with these names, separated by blanks, and this help."""
    return click.option(*names.split(), is_flag=True, help=text, **rules)


def together(*options: Decorator) -> Decorator:
    """Combine several options, which the help lists in this order, into one decorator."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class Percentage(click.types.StringParamType):
    """A share as a percentage, such as 5%, or as a number such as 0.05; greater than 0 and at most 100 %."""

    name = "percentage"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the share as a number."""
        if not isinstance(value, str):
            return value
        try:
            return parse_share(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class InputPath(click.Path):
    """A file to read; without a clone, the path of an example leads to the installed file, with a note."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path unchanged, or that of the installed example."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        found = path_or_example(path)
        if found != path:
            say(f"note: {path} is not here; reading the example that comes with batsched-py", err=True)
        return found


#: A platform or a workload: the reader of the file reports errors with its name.
INPUT: Final = InputPath()


def read_address(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Check that the value of an option is an address."""
    found = _ADDRESS.fullmatch(value or "ipc://none")
    if found is None:
        raise click.BadParameter(f"must be an address like tcp://127.0.0.1:28000, not {value!r}", context, parameter)
    port = found[1] or "*"
    if port != "*" and (len(port) > _PORT_DIGITS or int(port) > 65535):
        raise click.BadParameter(f"must have a port of at most 65535, not {port}", context, parameter)
    return value


def read_roles(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> Mapping[str, str]:
    """Parse texts like "host1,host2:storage" into host -> role. UsageError, including for a host with two roles."""
    roles: dict[str, str] = {}
    for value in values:
        hosts, colon, role = value.rpartition(":")
        if not colon or role not in ROLES or not all(hosts.split(",")):
            known = ", ".join(ROLES)
            raise click.BadParameter(f"must be host,...:role with a role of {known}, not {value!r}", context, parameter)
        for host in hosts.split(","):
            if roles.setdefault(host, role) != role:
                rule = f"gives {host} two roles, {roles[host]} and {role}"
                raise click.BadParameter(rule, context, parameter)
    return roles


def read_items(
    context: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Parse texts like "network/TCP-gamma:20000000" into (name, value)."""
    for value in values:
        if not all(value.partition(":")[::2]):
            raise click.BadParameter(f"must be item:value, not {value!r}", context, parameter)
    items = tuple((name, text) for name, _, text in (value.partition(":") for value in values))
    refuse_doubled(context, parameter, (name for name, _ in items))
    return items


class Number(click.FloatRange):
    """A finite number, in a range if one is given."""

    #: The kind of number, for messages.
    of = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse the number; nan and inf, which ranges do not exclude, are usage errors."""
        with suppress(ValueError):  # click refuses other texts
            if not math.isfinite(float(value)):
                self.fail(f"must be a {self.of}, not {value}", param, ctx)
        return float(super().convert(value, param, ctx))


class Seconds(Number):
    """A finite time, no longer than a simulation may be."""

    name = "seconds"
    of = "number of seconds"

    def __init__(self, **bounds: Any) -> None:
        super().__init__(**{"max": LONGEST, **bounds})


class Pace(Number):
    """A pace: simulated seconds per second, or max."""

    name = "pace"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse the number; "max" is infinite."""
        if value in ("max", math.inf):
            return math.inf
        try:
            float(value)
        except ValueError:
            self.fail(f"must be a number or max, not {value!r}", param, ctx)
        return super().convert(value, param, ctx)


def read_assignments(
    context: click.Context,
    parameter: click.Parameter,
    values: Sequence[str],
) -> Mapping[str, str]:
    """Parse settings KEY=VALUE, of an option that accumulates; a key that is set twice is refused."""
    assignments = dict[str, str]()
    for value in values:
        name, sign, text = value.partition("=")
        if not (name and sign):
            raise click.BadParameter(f"must be key=value, not {value!r}", context, parameter)
        refuse_doubled(context, parameter, [*assignments, name.strip()])
        assignments[name.strip()] = text
    return assignments


def read_names(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Parse names separated by commas, of an option that accumulates."""
    del context, parameter
    return tuple(name for value in values for name in map(str.strip, value.split(",")) if name)


def options_of_algorithm(short: str) -> Decorator:
    """Return the options that choose an algorithm; `short` is the short name of --option."""
    return together(
        option(
            "-s --scheduler algorithm",
            "ALGORITHM",
            "A name (see list), package.module:Class, file.py:Class or pybatsim:FILE.",
            default="",
            shell_complete=complete_algorithm,
        ),
        option(
            f"{short} --option assignments",
            "KEY=VALUE",
            "An option of the algorithm (see describe); may be given several times.",
            multiple=True,
            callback=read_assignments,
            shell_complete=complete_assignment,
        ),
        option(
            "--options-file",
            "FILE",
            f"Options of the algorithm as a JSON object; {short} takes precedence.",
            type=PATH,
        ),
    )


algorithm_options = options_of_algorithm("-o")

clock_option = option(
    "--clock",
    "zero|fixed:S|measured",
    "Simulated time of a decision: none, S seconds, or its real duration.",
    default="zero",
)

record_option = option(
    "--record", "FILE", "Record all messages in FILE (JSON lines; compressed if .gz), for replay and diff.", type=PATH
)

timeout_option = option(
    "--timeout",
    "S",
    "Stop if Batsim sends nothing for S seconds. Default: never; if Batsim dies, the command ends anyway.",
    type=Seconds(min=0, min_open=True),
)

requests_option = flag(
    "--requests", "Submit and cancel jobs as external events request (submit_job, cancel_job), as dynamic jobs."
)

live_option = flag("--live", "Show waiting jobs, busy hosts and the next job on stderr during the run.")


def connect_timeout_option(text: str) -> Decorator:
    """Return --connect-timeout; `text` is its help."""
    return option("--connect-timeout", "S", text, type=Seconds(min=0), default=10.0)

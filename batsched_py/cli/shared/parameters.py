"""Options that several commands share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.hostset import MAX_HOST
from batsched_py.model.limits import DEEPEST, LIMITS, LONGEST, Limits, option_name
from batsched_py.model.platform import ROLES

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

#: Digits of a limit: more than any machine has bytes.
_MOST_DIGITS: Final = 15
#: A path of any kind: the reader of the file says what is wrong with it, and names it.
PATH: Final = click.Path(path_type=Path)


#: A number of hosts.
HOSTS: Final = click.IntRange(1, MAX_HOST)

#: Digits of the largest port.
_PORT_DIGITS: Final = 5
#: Where ZeroMQ can listen and connect, and who else is there can reach: a machine and its port, or a file.
_ADDRESS: Final = re.compile(r"tcp://\S+:(\d+|\*)|ipc://\S+")


def read_address(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """For options: the address as it is; a usage error for what cannot be one."""
    found = _ADDRESS.fullmatch(value or "ipc://none")
    if found is None:
        raise click.BadParameter(f"must be an address like tcp://127.0.0.1:28000, not {value!r}", context, parameter)
    port = found[1] or "*"
    if port != "*" and (len(port) > _PORT_DIGITS or int(port) > 65535):
        raise click.BadParameter(f"must have a port of at most 65535, not {port}", context, parameter)
    return value


def read_roles(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> Mapping[str, str]:
    """For options: host -> role, of texts like "host1,host2:storage"; the last one rules."""
    roles: dict[str, str] = {}
    for value in values:
        hosts, colon, role = value.rpartition(":")
        if not colon or role not in ROLES or not all(hosts.split(",")):
            known = ", ".join(ROLES)
            raise click.BadParameter(f"must be host,...:role with a role of {known}, not {value!r}", context, parameter)
        roles |= dict.fromkeys(hosts.split(","), role)
    return roles


class Number(click.FloatRange):
    """A number, which is finite; in a range, if one is given."""

    #: For messages.
    of = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; a usage error for nan and inf, which no range keeps out."""
        with suppress(ValueError):  # what is no number at all click tells
            if not math.isfinite(float(value)):
                self.fail(f"must be a finite {self.of}, not {value}", param, ctx)
        return float(super().convert(value, param, ctx))


class Seconds(Number):
    """A time, finite and no longer than a simulation may be."""

    name = "seconds"
    of = "number of seconds"

    def __init__(self, **bounds: Any) -> None:
        super().__init__(**{"max": LONGEST, **bounds})


class Invocation(Struct):
    """What is known about this run of the program.

    `debug` is True once --debug was seen, before or after a command; `limits` are those of --limit.
    """

    debug: bool = False
    limits: Limits = LIMITS


def _set_debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: ARG001
    if value:
        context.ensure_object(Invocation).debug = True


def _set_limits(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> None:
    told: dict[str, int] = {}
    names = {option_name(name): name for name in Limits.__struct_fields__}
    for value in values:
        name, _, text = value.partition("=")
        if name not in names:
            known = ", ".join(names)
            raise click.BadParameter(f"must be NAME=N with a NAME of {known}, not {value!r}", context, parameter)
        if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS and int(text) > 0):
            rule = f"must be a whole number from 1, of at most {_MOST_DIGITS} digits, not {text!r}"
            raise click.BadParameter(f"{name} {rule}", context, parameter)
        if names[name] == "depth" and int(text) > DEEPEST:
            raise click.BadParameter(f"depth must be at most {DEEPEST}, not {text}", context, parameter)
        told[names[name]] = int(text)
    if told:
        invocation = context.ensure_object(Invocation)
        invocation.limits = replace(invocation.limits, **told)


def told_limits() -> Limits:
    """How much may be read: what --limit says of it, else the defaults."""
    context = click.get_current_context(silent=True)
    invocation = None if context is None else context.find_object(Invocation)
    return LIMITS if invocation is None else invocation.limits


def _read_assignments(
    context: click.Context,
    parameter: click.Parameter,
    values: Sequence[str],
) -> Mapping[str, str]:
    assignments = {}
    for value in values:
        name, sign, text = value.partition("=")
        if not (name and sign):
            raise click.BadParameter(f"must be key=value, not {value!r}", context, parameter)
        assignments[name.strip()] = text
    return assignments


debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, callback=_set_debug, help="Show a traceback when something fails."
)

limit_option = click.option(
    "--limit",
    multiple=True,
    metavar="NAME=N",
    expose_value=False,
    callback=_set_limits,
    is_eager=True,
    help="Read more than the limit NAME allows (file-size, hosts, jobs...); may be given several times.",
)

scheduler_option = click.option(
    "-s", "--scheduler", metavar="ALGORITHM", help="A name (see list), package.module:Class or file.py:Class."
)

_assignments_option = click.option(
    "-o",
    "--option",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_read_assignments,
    help="An option of the algorithm (see describe); may be given several times.",
)

_options_file_option = click.option(
    "--options-file", type=PATH, metavar="FILE", help="Options of the algorithm as a JSON object; -o rules over it."
)

clock_option = click.option(
    "--clock",
    default="zero",
    show_default=True,
    metavar="zero|fixed:S|measured",
    help="Simulated time that a decision takes: none, S seconds, or what it really takes.",
)

record_option = click.option(
    "--record",
    type=PATH,
    metavar="FILE",
    help="Keep the conversation in FILE (JSON lines; compressed as .gz), for replay and diff.",
)

timeout_option = click.option(
    "--timeout",
    type=Seconds(min=0, min_open=True),
    metavar="S",
    help="Give up when Batsim says nothing for S seconds. Default: never; its death is noticed anyway.",
)

live_option = click.option(
    "--live", is_flag=True, help="Show on stderr what waits, what is busy and who is next, while the run goes on."
)


def connect_timeout_option(text: str) -> Callable[[Decorated], Decorated]:
    """--connect-timeout; `text` says when it counts from."""
    return click.option(
        "--connect-timeout", type=Seconds(min=0), default=10.0, show_default=True, metavar="S", help=text
    )


def algorithm_options(command: Decorated) -> Decorated:
    """-o and --options-file, as `assignments` and `options_file`."""
    return _assignments_option(_options_file_option(command))

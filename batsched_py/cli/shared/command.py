"""Commands as functions of typed arguments, built from click's values.

A command's module has a function `command`. Each parameter of click has the name of an argument; an argument that is a
record, such as the settings of a simulation, is built from the parameters with the names of its fields. Therefore
values are typed, and commands with common options share a record. A command whose helpers need most of its options
takes them in one record.
Every command has --debug and --help-json, every command that reads files or messages has --limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import wraps
from typing import Any, Final, TypeVar, get_type_hints

import click
from msgspec import Struct, field
from msgspec.structs import replace

from batsched_py.cli.shared.help_document import HELP_JSON
from batsched_py.cli.shared.repetition import Once, refuse_doubled
from batsched_py.reading.limits import DEEPEST, LIMITS, Limits, option_name

Result = TypeVar("Result")

#: Maximum number of digits of a limit: larger ones exceed any memory.
_MOST_DIGITS: Final = 15


class Invocation(Struct):
    """The state of one call of the program.

    Attributes:
        debug: True after --debug, before or after a command's name.
        limits: limits of reading, as set by --limit.
        arguments: words after the program's name.
        started: wall-clock time of the start, in seconds since 1970.
        began: the same time on the monotonic clock, in seconds.
    """

    debug: bool = False
    limits: Limits = LIMITS
    arguments: tuple[str, ...] = ()
    started: float = field(default_factory=time.time)
    began: float = field(default_factory=time.perf_counter)


def typed_command(
    *, limits: bool = True, kind: type[Once] = Once
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Return a decorator that turns a function of typed options, which may return an exit code, into a click command.

    Args:
        limits: False for a command that reads nothing and has no --limit.
        kind: the class of the click command.
    """

    def decorate(run: Callable[..., int | None]) -> click.Command:
        @wraps(run)
        def call(**values: Any) -> int | None:
            return call_with(run, values)

        command = click.command(cls=kind)(call)
        command.params += [_LIMIT, *COMMON] if limits else COMMON
        return command

    return decorate


def call_with(made: Callable[..., Result], values: Mapping[str, Any]) -> Result:
    """Call a function, or make a record, with the values of its arguments' names; records among them use the same."""
    arguments = {}
    for name, hint in get_type_hints(made).items():
        if isinstance(hint, type) and (issubclass(hint, Struct) or is_dataclass(hint)):
            arguments[name] = call_with(hint, values)
        elif name in values:
            arguments[name] = values[name]
    return made(**arguments)


def current_limits() -> Limits:
    """Return the limits of reading set by --limit, or the defaults."""
    return current_invocation().limits


def current_invocation() -> Invocation:
    """Return the state of this call of the program; a new one outside of a command."""
    context = click.get_current_context(silent=True)
    invocation = None if context is None else context.find_object(Invocation)
    return Invocation() if invocation is None else invocation


def _set_debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: ARG001
    if value:
        context.ensure_object(Invocation).debug = True


def _set_limits(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> None:
    given: dict[str, int] = {}
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
        given[names[name]] = int(text)
    refuse_doubled(context, parameter, (value.partition("=")[0] for value in values))
    if given:
        invocation = context.ensure_object(Invocation)
        invocation.limits = replace(invocation.limits, **given)


_DEBUG: Final = click.Option(
    ["--debug"], is_flag=True, expose_value=False, callback=_set_debug, help="Show a traceback when something fails."
)
#: The options of the program, of every command and of every group.
COMMON: Final = (_DEBUG, HELP_JSON)
#: Processed first, because other parameters may read files.
_LIMIT: Final = click.Option(
    ["--limit"],
    multiple=True,
    metavar="NAME=N",
    expose_value=False,
    callback=_set_limits,
    is_eager=True,
    help="Read more than the limit NAME allows (file-size, hosts, jobs...); may be given several times.",
)

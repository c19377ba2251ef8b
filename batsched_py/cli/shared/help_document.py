"""The commands with their arguments and options as a document, for programs: what --help-json prints.

It is made from click's objects, which also parse the command line, so that it cannot differ from what is accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from msgspec import Struct

from batsched_py.cli.catalogue import COMMANDS
from batsched_py.cli.shared.terminal import put

#: Version of the format of the document.
FORMAT: Final = 1


class OptionHelp(Struct, frozen=True, kw_only=True):
    """An option or an argument.

    Attributes:
        name: the name in Python; an argument has no other one.
        names: as on the command line; empty for an argument.
        off: names that turn a flag off.
        metavar: the word for its value in the help; "" for a flag.
        type: flag, count, text, integer, number, path, choice, or a type of this program such as seconds.
        values: the number of values that follow; -1 for any number.
        default: null without one, and if it depends on other options.
        variable: the environment variable that has another default; "" for none.
        choices: the possible values; empty if there are others.
        minimum, maximum: bounds of a number; null for none.
        open_minimum, open_maximum: true if the bound itself is excluded.
        required: true if it must be given.
        repeats: true if it may be given several times.
        help: the text in the help; "" for an argument.
    """

    name: str
    names: Sequence[str]
    off: Sequence[str]
    metavar: str
    type: str
    values: int
    default: Any
    variable: str
    choices: Sequence[str]
    minimum: float | None
    maximum: float | None
    open_minimum: bool
    open_maximum: bool
    required: bool
    repeats: bool
    help: str


class CommandHelp(Struct, frozen=True, kw_only=True):
    """A command, its arguments and options in the order of the help, and its subcommands.

    Attributes:
        name: the words of the command, without those of its program.
        group: the heading under which the help lists it; "" for subcommands.
        help: its description, in paragraphs.
        example: a command line; "" if there is none.
    """

    name: str
    group: str
    help: str
    example: str
    arguments: Sequence[OptionHelp]
    options: Sequence[OptionHelp]
    commands: Sequence[CommandHelp]


def help_of(command: click.Command, words: Sequence[str] = ()) -> CommandHelp:
    """Return the help of a command, which the words after the program call; it imports all its subcommands."""
    context = click.Context(command, info_name=words[-1] if words else None)
    described = [(one, _described(one, context)) for one in command.get_params(context) if not _is_hidden(one)]
    info = COMMANDS.get(words[0]) if len(words) == 1 else None
    return CommandHelp(
        name=" ".join(words),
        group="" if info is None else info.group,
        help=_paragraphs(command.help or ""),
        example="" if info is None else f"batsched-py {info.example}",
        arguments=[shown for one, shown in described if isinstance(one, click.Argument)],
        options=[shown for one, shown in described if isinstance(one, click.Option)],
        commands=list(_parts(command, context, words)),
    )


def help_document(command: click.Command, words: Sequence[str]) -> bytes:
    """Return the document of a command; docs/cli.md describes it."""
    content = {"format": FORMAT, "program": "batsched-py", **msgspec.to_builtins(help_of(command, words))}
    # The program starts without orjson.
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def _parts(command: click.Command, context: click.Context, words: Sequence[str]) -> Sequence[CommandHelp]:
    if not isinstance(command, click.Group):
        return ()
    found = ((name, command.get_command(context, name)) for name in command.list_commands(context))
    return [help_of(part, (*words, name)) for name, part in found if part is not None and not part.hidden]


def _described(parameter: click.Parameter, context: click.Context) -> OptionHelp:
    kind, option = parameter.type, parameter if isinstance(parameter, click.Option) else None
    bounds = kind if isinstance(kind, (click.IntRange, click.FloatRange)) else None
    flag = option is not None and (option.is_flag or option.count)
    return OptionHelp(
        name=parameter.name or "",
        names=() if option is None else option.opts,
        off=() if option is None else option.secondary_opts,
        metavar="" if flag else parameter.make_metavar(context),
        type="count" if option is not None and option.count else "flag" if flag else _type_name(kind),
        values=0 if flag else parameter.nargs,
        default=_plain(parameter.get_default(context, call=False)),
        variable=parameter.envvar if isinstance(parameter.envvar, str) else "",
        choices=[str(_plain(one)) for one in kind.choices] if isinstance(kind, click.Choice) else (),
        minimum=None if bounds is None else bounds.min,
        maximum=None if bounds is None else bounds.max,
        open_minimum=bounds is not None and bounds.min_open,
        open_maximum=bounds is not None and bounds.max_open,
        required=parameter.required,
        repeats=option.multiple if option is not None else parameter.nargs == -1,
        help="" if option is None else (option.help or ""),
    )


#: Names of click's types -> those in the document.
_TYPES: Final[Mapping[str, str]] = {
    "integer range": "integer",
    "float": "number",
    "float range": "number",
    "boolean": "flag",
    "filename": "path",
    "file": "path",
    "directory": "path",
}


def _type_name(kind: click.ParamType[Any, Any]) -> str:
    if isinstance(kind, click.Tuple):
        return "(" + ", ".join(map(_type_name, kind.types)) + ")"
    return _TYPES.get(kind.name, kind.name)


def _plain(value: Any) -> Any:
    """Return a default as JSON has it; None for one that is computed when the command is called, or not given."""
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value] or None
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Enum):  # click's mark of what is not given is one, too
        return value.value if isinstance(value.value, str) else None
    return value if isinstance(value, (bool, int, float, str)) and value != "" else None


def _paragraphs(text: str) -> str:
    """Return a text with each paragraph in one line, as the help wraps it."""
    return "\n\n".join(" ".join(part.split()) for part in text.replace("\b", "").split("\n\n"))


def _is_hidden(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and parameter.hidden


def _show(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: ARG001
    if value and not context.resilient_parsing:
        put(help_document(context.command, _words(context)), is_json=True)
        context.exit()


def _words(context: click.Context) -> Sequence[str]:
    return context.command_path.split()[1:]


#: An option of the program and of every command.
HELP_JSON: Final = click.Option(
    ["--help-json"],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show,
    help="Show this help, with all subcommands, as JSON.",
)

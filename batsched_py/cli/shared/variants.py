"""Several algorithms on one command line: each -s, and what follows it up to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct

from batsched_py.campaigns.study import Variant
from batsched_py.cli.shared.algorithm import Choice, load_from_here, read_options
from batsched_py.cli.shared.parameters import PATH, Decorated

#: Where the order of a command line is kept while it is read.
_ORDER: Final = "batsched_py.order"

_SCHEDULER, _ASSIGNMENT, _FILE, _NAME = "schedulers", "assignments", "options_files", "names"
#: What the parameters are called that `read_variants` reads.
VARIANT_PARAMETERS: Final = (_SCHEDULER, _ASSIGNMENT, _FILE, _NAME)


class OrderedCommand(click.Command):
    """A command that knows in which order its options were written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As usual, once the order is noted."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[_ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


class _Asked(Struct):
    """What stands from one -s to the next."""

    algorithm: str
    assignments: dict[str, str]
    options_file: Path | None = None
    name: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        """All options; -o rules over the file."""
        return {**read_options(self.options_file), **self.assignments}

    def label(self, algorithm: str) -> str:
        """A name that tells the options that were given."""
        options = ", ".join(f"{key}={_text(value)}" for key, value in self.given.items())
        return f"{algorithm}({options})" if options else algorithm


def variant_options(command: Decorated) -> Decorated:
    """-s, and -o, --options-file and --name behind it; for an OrderedCommand, which `read_variants` asks."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: Final = (
    click.option(
        "-s",
        "--scheduler",
        _SCHEDULER,
        multiple=True,
        metavar="ALGORITHM",
        help="A name (see list), package.module:Class or file.py:Class; once for each algorithm.",
    ),
    click.option(
        "-o", "--option", _ASSIGNMENT, multiple=True, metavar="KEY=VALUE", help="An option of the -s before it."
    ),
    click.option(
        "--options-file",
        _FILE,
        type=PATH,
        multiple=True,
        metavar="FILE",
        help="Options of the -s before it, as a JSON object; -o rules over it.",
    ),
    click.option("--name", _NAME, multiple=True, metavar="NAME", help="What the -s before it is called in tables."),
)


def read_variants(context: click.Context, values: Mapping[str, Sequence[Any]]) -> list[Variant]:
    """The algorithms in their order, each known to be there and to take its options, under names of their own.

    An algorithm is called what its class calls it, with the options that it was given; where two would be called the
    same, what stands after -s. UsageError, PluginError or OptionError.
    """
    asked = _grouped(context.meta[_ORDER], {name: list(given) for name, given in values.items()})
    if not asked:
        raise click.UsageError("Missing option '-s': which algorithms shall be compared?")
    for one in asked:
        Choice(one.algorithm, one.assignments, one.options_file).session()
    labels = [one.name or one.label(load_from_here(one.algorithm).name) for one in asked]
    often = Counter(labels)
    labels = [
        one.label(one.algorithm) if often[label] > 1 and one.name is None else label
        for one, label in zip(asked, labels, strict=True)
    ]
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise click.UsageError(f"two algorithms are called {twice[0]}: tell them apart by '--name'")
    return [Variant(label, one.algorithm, one.given) for label, one in zip(labels, asked, strict=True)]


def _grouped(order: Sequence[str], values: dict[str, list[Any]]) -> list[_Asked]:
    """What belongs together, by the order in which it was written."""
    asked: list[_Asked] = []
    for parameter in order:
        if parameter not in values:
            continue
        value = values[parameter].pop(0)
        if parameter == _SCHEDULER:
            asked.append(_Asked(value, {}))
        elif not asked:
            raise click.UsageError(f"{value} stands before any '-s': options belong to the algorithm before them")
        else:
            _add(asked[-1], parameter, value)
    return asked


def _add(asked: _Asked, parameter: str, value: Any) -> None:
    if parameter == _ASSIGNMENT:
        key, sign, text = value.partition("=")
        if not (key and sign):
            raise click.UsageError(f"'-o' must be key=value, not {value!r}")
        asked.assignments[key.strip()] = text
    elif parameter == _FILE:
        if asked.options_file is not None:
            raise click.UsageError(f"{asked.algorithm} has two '--options-file', {asked.options_file} and {value}")
        asked.options_file = value
    elif asked.name is not None:
        raise click.UsageError(f"{asked.algorithm} has two names, {asked.name} and {value}")
    else:
        asked.name = value


def _text(value: Any) -> str:
    """A JSON value as after -o."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)

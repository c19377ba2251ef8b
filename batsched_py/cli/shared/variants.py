"""Several algorithms on one command line: each -s with the following options, up to the next -s."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct
from msgspec.structs import asdict

from batsched_py.campaigns.variant import Variant, label_variant
from batsched_py.cli.shared.algorithm import AlgorithmChoice, load_from_here
from batsched_py.cli.shared.completion import complete_algorithm
from batsched_py.cli.shared.parameters import PATH, option, together
from batsched_py.cli.shared.repetition import Once

#: Key of click's context for the order of the options.
_ORDER: Final = "batsched_py.order"

_SCHEDULER, _ASSIGNMENT, _FILE, _NAME = "schedulers", "assignments", "options_files", "names"


class OrderedCommand(Once):
    """A command that keeps the order of its options on the command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and keep their order."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[_ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


class VariantOptions(Struct, frozen=True):
    """The values of each option, in the order of the command line."""

    schedulers: Sequence[str]
    assignments: Sequence[str]
    options_files: Sequence[Path]
    names: Sequence[str]


class _VariantGroup(Struct):
    """One -s and the options up to the next."""

    algorithm: str
    assignments: dict[str, str]
    options_file: Path | None = None
    name: str | None = None

    @property
    def choice(self) -> AlgorithmChoice:
        """The algorithm with its options."""
        return AlgorithmChoice(self.algorithm, self.assignments, self.options_file)

    def label(self, algorithm: str) -> str:
        """Return a name that includes the given options."""
        return label_variant(algorithm, self.choice.options)


#: -s, and -o, --options-file and --name after it, for an OrderedCommand and as fields of VariantOptions.
variant_options = together(
    option(
        f"-s --scheduler {_SCHEDULER}",
        "ALGORITHM",
        "A name (see list), package.module:Class, file.py:Class or pybatsim:FILE; once for each algorithm.",
        multiple=True,
        shell_complete=complete_algorithm,
    ),
    option(f"-o --option {_ASSIGNMENT}", "KEY=VALUE", "An option of the preceding -s.", multiple=True),
    option(
        f"--options-file {_FILE}",
        "FILE",
        "Options of the preceding -s as a JSON object; -o takes precedence.",
        type=PATH,
        multiple=True,
    ),
    option(f"--name {_NAME}", "NAME", "Name of the preceding -s in tables.", multiple=True),
)


def read_variants(options: VariantOptions) -> list[Variant]:
    """Read the algorithms in order, check that they exist and accept their options, and assign unique names.

    The name is that of the class with the given options; if two would be equal, the text after -s.
    UsageError, PluginError or OptionError.
    """
    groups = _grouped(click.get_current_context().meta[_ORDER], options)
    if not groups:
        raise click.UsageError("Missing option '-s': which algorithms shall be compared?")
    for one in groups:
        one.choice.session()
    labels = [one.name or one.label(load_from_here(one.algorithm).name) for one in groups]
    often = Counter(labels)
    labels = [
        one.label(one.algorithm) if often[label] > 1 and one.name is None else label
        for one, label in zip(groups, labels, strict=True)
    ]
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise click.UsageError(f"two algorithms are called {twice[0]}: tell them apart by '--name'")
    return [Variant(label, one.algorithm, one.choice.options) for label, one in zip(labels, groups, strict=True)]


def _grouped(order: Sequence[str], options: VariantOptions) -> list[_VariantGroup]:
    """Group the options by their order."""
    values = {name: iter(given) for name, given in asdict(options).items()}
    groups: list[_VariantGroup] = []
    for parameter in order:
        if parameter not in values:
            continue
        value = next(values[parameter])
        if parameter == _SCHEDULER:
            groups.append(_VariantGroup(value, {}))
        elif not groups:
            raise click.UsageError(f"{value} comes before any '-s': options belong to the algorithm before them")
        else:
            _add(groups[-1], parameter, value)
    return groups


def _add(group: _VariantGroup, parameter: str, value: Any) -> None:
    if parameter == _ASSIGNMENT:
        key, sign, text = value.partition("=")
        if not (key and sign):
            raise click.UsageError(f"'-o' must be key=value, not {value!r}")
        if key.strip() in group.assignments:
            raise click.UsageError(f"{group.algorithm} has '-o {key.strip()}' twice")
        group.assignments[key.strip()] = text
    elif parameter == _FILE:
        if group.options_file is not None:
            raise click.UsageError(f"{group.algorithm} has two '--options-file', {group.options_file} and {value}")
        group.options_file = value
    elif group.name is not None:
        raise click.UsageError(f"{group.algorithm} has two names, {group.name} and {value}")
    else:
        group.name = value

"""Refusal of repeated options that take one value, so that no value is silently ignored.

`Once` is a base class of every command and group; `tests/unit/cli/shared/test_repetition.py` checks all of them. An
option that accumulates is one of click's `multiple` options. `MovedOption` accepts an older spelling of an option.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import click

from batsched_py.cli.shared.terminal import say


class MovedOption(click.Option):
    """An option whose former values belong to another option now; they are still accepted, with a hint.

    Attributes:
        moved: value -> the option that takes it now.
    """

    def __init__(self, *names: Any, moved: Mapping[str, str], **rules: Any) -> None:
        super().__init__(*names, **rules)
        self.moved = moved


class Once(click.Command):
    """A command that refuses repeated options, unless they accumulate."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. UsageError for an option with two values."""
        if not ctx.resilient_parsing:
            args = _with_moved(self, ctx, args)
            _refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


class OnceGroup(Once, click.Group):
    """A group that refuses its own repeated options."""


class CommandWithParts(OnceGroup):
    """A command with subcommands: the first word is one of them, or belongs to the command itself."""

    def __init__(self, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name, **{**kwargs, "invoke_without_command": True})

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the arguments: those of a subcommand if the first one is its name."""
        part = self.commands.get(args[0]) if args else None
        if part is None:
            return super().make_context(info_name, args, parent, **extra)
        return part.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the usage of the command itself: its subcommands are listed below."""
        return click.Command.collect_usage_pieces(self, ctx)


def refuse_doubled(
    context: click.Context, parameter: click.Parameter, names: Iterable[str], *, of: str = "{} is set twice"
) -> None:
    """Check that an option that accumulates sets no name twice. UsageError: the first value would be lost."""
    seen = set()
    for name in names:
        if name in seen:
            raise click.BadParameter(of.format(name), context, parameter)
        seen.add(name)


def _parsed_values(command: click.Command, ctx: click.Context, args: Sequence[str]) -> Mapping[str, Sequence[Any]]:
    """Return parameter -> its texts in order, as parsed by click. UsageError."""
    twins = [_gathering(parameter) for parameter in command.get_params(ctx)]
    twin = click.Command(command.name, params=twins, add_help_option=False)
    found, _, _ = twin.make_parser(ctx).parse_args(args=list(args))
    return {name: values for name, values in found.items() if isinstance(values, list)}


def _gathering(parameter: click.Parameter) -> click.Parameter:
    """Return a copy of an option that collects its values; arguments are returned unchanged."""
    if not isinstance(parameter, click.Option) or parameter.count:
        return parameter
    twin = copy(parameter)
    twin.multiple = True
    return twin


def _refuse_repeated(command: click.Command, ctx: click.Context, args: Sequence[str]) -> None:
    parsed = _parsed_values(command, ctx, args)
    for parameter in command.get_params(ctx):
        if not isinstance(parameter, click.Option) or parameter.multiple:
            continue
        values = parsed.get(parameter.name or "", ())
        if parameter.is_flag and len(set(values)) > 1:
            raise click.UsageError(f"{_both(parameter)} contradict each other", ctx)
        if not parameter.is_flag and len(values) > 1:
            raise click.UsageError(f"{parameter.get_error_hint(ctx)} may be given once", ctx)


def _both(parameter: click.Option) -> str:
    return " and ".join(f"'{name}'" for name in (*parameter.opts, *parameter.secondary_opts))


def _with_moved(command: click.Command, ctx: click.Context, args: list[str]) -> list[str]:
    """Return the arguments with the current options, with a hint for each moved one. UsageError."""
    for parameter in command.get_params(ctx):
        if isinstance(parameter, MovedOption) and set(parameter.moved) & set(
            map(str, _parsed_values(command, ctx, args).get(parameter.name or "", ()))
        ):
            args = _rewritten(args, parameter)
    return args


def _rewritten(args: Sequence[str], option: MovedOption) -> list[str]:
    """Replace the older spellings of an option, as two words or as one."""
    words, rest = list(args), list[str]()
    if "--" in words:
        words, rest = words[: words.index("--")], words[words.index("--") :]
    done: list[str] = []
    while words:
        word = words.pop(0)
        name, sign, value = word.partition("=")
        if name in option.opts and not sign and words:
            value = words[0]
        if name not in option.opts or value not in option.moved:
            done.append(word)
            continue
        if not sign:
            words.pop(0)
        say(f"note: '{name} {value}' is now '{option.moved[value]} {value}'", err=True)
        done += [option.moved[value], value]
    return done + rest

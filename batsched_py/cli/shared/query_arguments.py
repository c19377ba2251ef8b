"""Queries on a command line."""

from __future__ import annotations

import re
from typing import Final

import click

from batsched_py.cli.shared.repetition import Once
from batsched_py.cli.shared.terminal import warn
from batsched_py.errors import QueryError
from batsched_py.queries.expression import Expression
from batsched_py.queries.parser import parse
from batsched_py.text.display import displayed

#: Number of characters of a query shown before and after an error.
_AROUND: Final = 30
#: A long option, with or without a value.
_LONG: Final = re.compile(r"--[A-Za-z][A-Za-z-]*(=.*)?", re.DOTALL)


def parse_query(text: str) -> Expression:
    """Parse the query; show the place of an error with a caret before raising it."""
    try:
        return parse(text)
    except QueryError as error:
        begin = max(0, error.position - _AROUND)
        before = displayed(text[begin : error.position])
        warn(before + displayed(text[error.position : error.position + _AROUND]))
        warn(" " * len(before) + "^")
        raise


class QueryCommand(Once):
    """A command with a query among its arguments, which may begin with a minus."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a word that begins with a minus and is not an option is the query."""
        return super().parse_args(ctx, _with_query_last(self, ctx, args))


def _with_query_last(command: click.Command, ctx: click.Context, args: list[str]) -> list[str]:
    """Return the words with a query that begins with a minus moved after `--`, where no word is an option."""
    options = {name: one for one in command.get_params(ctx) for name in one.opts if isinstance(one, click.Option)}
    shorts = tuple(name for name in options if not name.startswith("--"))
    is_value = False
    for at, word in enumerate(args):
        if word == "--":
            break
        if not is_value and word.startswith("-") and not (_LONG.fullmatch(word) or word.startswith(shorts)):
            return [*args[:at], *args[at + 1 :], "--", word]
        is_value = not is_value and word in options and not options[word].is_flag
    return args

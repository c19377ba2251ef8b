"""Completion in shells: names of algorithms, of their options, and of metrics.

click creates the scripts for the shells, and completes the names of commands and options.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Final

import click
from click.shell_completion import CompletionItem

from batsched_py.plugins import available, is_built_in, load
from batsched_py.scheduling.options import describe_options

#: click's function for completing the value of an option.
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

#: Makes the shell complete the name of a file.
_FILES: Final = "file"


def complete_algorithm(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an algorithm; or a path, if no name begins with the text."""
    del context, parameter
    names = [] if os.sep in incomplete else [name for name in available() if name.startswith(incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type=_FILES)]


def complete_assignment(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete KEY=VALUE with the options of the preceding algorithm, if it is built in.

    Completion must not run code from outside the program.
    """
    del parameter
    algorithm = str(context.params.get("algorithm") or "")
    if not is_built_in(algorithm):
        return []
    options = describe_options(load(algorithm).options_type)
    return [CompletionItem(f"{one.name}=", help=one.help) for one in options if one.name.startswith(incomplete)]


def complete_list(names: Iterable[str]) -> Completer:
    """Return a completer of the last name in a list with commas, with names that are not in the list yet."""
    known = tuple(names)

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        del context, parameter
        before, comma, last = incomplete.rpartition(",")
        given = before.split(",")
        return [CompletionItem(before + comma + name) for name in known if name.startswith(last) and name not in given]

    return complete

"""`batsched-py list`: the available algorithms."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text

from batsched_py.cli.shared.algorithm import load_from_here
from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.errors import PluginError
from batsched_py.plugins import BUILT_IN_PACKAGE, available
from batsched_py.text.display import displayed


@typed_command(limits=False)
def command() -> None:
    """List the built-in algorithms and those of installed packages; `describe` shows the details of one.

    To use any other algorithm, give package.module:Class or file.py:Class.
    """
    come_along = importlib.import_module(BUILT_IN_PACKAGE)
    found = available()
    groups = {
        "built-in": [name for name in come_along.BUILT_INS if name not in come_along.FOR_TESTS],
        "for tests": [name for name in come_along.BUILT_INS if name in come_along.FOR_TESTS],
        "of packages": [name for name in found if name not in come_along.BUILT_INS],
    }
    width = max(map(len, [*groups, *found]))
    for group, names in groups.items():
        if names:
            _show(group, names, width)


def _show(group: str, names: Iterable[str], width: int) -> None:
    """Show a line for each algorithm of a group."""
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column(group, width=width, no_wrap=True)
    table.add_column()
    for name in names:
        table.add_row(name, _purpose(name))
    show_table(table, folded=1)


def _purpose(name: str) -> Text:
    """Return the first sentence of an algorithm's docstring, or the reason why it cannot be used."""
    try:
        text = inspect.getdoc(load_from_here(name)) or ""
    except PluginError as error:
        return Text(f"(cannot be used: {displayed(str(error))})")
    sentence = text.partition("\n\n")[0].replace("\n", " ").partition(". ")[0]
    return Text(sentence.removesuffix("."))

"""`batsched-py list`: the algorithms there are."""

from __future__ import annotations

import inspect

import click
from rich import box
from rich.console import Console
from rich.table import Table

from batsched_py.cli.algorithm import load_from_here
from batsched_py.cli.parameters import debug_option
from batsched_py.errors import PluginError
from batsched_py.plugins import available


@click.command("list")
@debug_option
def command() -> None:
    """Show the algorithms that come along and those that installed packages add.

    Any other is named as package.module:Class or file.py:Class.
    """
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("what it does")
    table.add_column("where it is", no_wrap=True, style="dim")
    for name, target in available().items():
        table.add_row(name, _purpose(name), target)
    Console().print(table)


def _purpose(name: str) -> str:
    """The first sentence of its docstring, or why it cannot be used."""
    try:
        text = inspect.getdoc(load_from_here(name)) or ""
    except PluginError as error:
        return f"(cannot be used: {error})"
    return text.partition("\n\n")[0].replace("\n", " ")

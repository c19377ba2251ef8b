"""`batsched-py describe`: an algorithm's options and its source."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Final

import click
from rich import box
from rich.table import Table

from batsched_py.cli.shared.algorithm import load_from_here
from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.completion import complete_algorithm
from batsched_py.cli.shared.console import Output, show_table
from batsched_py.cli.shared.terminal import say, say_all
from batsched_py.errors import PluginError
from batsched_py.planning.policies.ordering import ORDERS
from batsched_py.planning.policies.selection import SELECTIONS
from batsched_py.plugins import available
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import FreeOptions, describe_options

#: Whether an algorithm takes options that it does not declare -> the text in place of its table.
_NO_OPTIONS: Final = {False: "It has no options.", True: "It declares no options: any is handed over to it."}
#: Maximum length of a type in the table; longer ones are listed below it.
LONGEST_TYPE: Final = 60


@typed_command(limits=False)
@click.argument("name", shell_complete=complete_algorithm)
def command(name: str) -> None:
    """Show what the algorithm NAME does, what it needs, where it comes from, and its options."""
    for catalogue in (ORDERS, SELECTIONS):
        if name in catalogue and name not in available():
            rule = f"it is a {catalogue.kind}, a value of options of algorithms, see docs/policies.md"
            raise PluginError(f"algorithm {name}: {rule}")
    scheduler = load_from_here(name)
    say(f"{scheduler.name} ({scheduler.__module__}:{scheduler.__qualname__})")
    options = describe_options(scheduler.options_type)
    closing = [] if options else [_NO_OPTIONS[scheduler.options_type is FreeOptions]]
    for paragraph in (
        *_paragraphs(scheduler),
        *closing,
    ):
        say()
        say_all(paragraph.splitlines())
    if not options:
        return
    table = Table("option", "type", "default", "", box=box.SIMPLE, pad_edge=False)
    long = {option.kind: option.type for option in options if option.kind and len(option.type) > LONGEST_TYPE}
    for option in options:
        table.add_row(option.name, option.kind if option.kind in long else option.type, option.default, option.help)
    show_table(table, folded=3)
    for kind, choices in long.items():
        Output().print(f"{kind}: {choices}", highlight=False)


def _paragraphs(scheduler: type[Scheduler[Any]]) -> Iterator[str]:
    """Yield the paragraphs of the class's docstring."""
    text = inspect.getdoc(scheduler)
    if text and text != inspect.getdoc(Scheduler):  # a class without a docstring inherits this one
        yield text
    if scheduler.source:
        yield f"Source: {scheduler.source}"
    if scheduler.needs_walltime:
        yield "Needs walltimes: jobs without one are rejected."
    if scheduler.needs_energy:
        yield "Needs hosts that describe their power, and Batsim's option -E."
    if scheduler.needs_dynamic_jobs:
        yield "Needs Batsim's option --enable-dynamic-jobs: it submits jobs of its own."
    if scheduler.uses_dynamic_jobs:
        yield "Uses Batsim's option --enable-dynamic-jobs: without it, features that submit jobs are off."

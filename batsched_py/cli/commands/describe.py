"""`batsched-py describe`: an algorithm's options and its source."""

from __future__ import annotations

import inspect
from typing import Any, Final

import click
from msgspec import Struct
from rich import box
from rich.table import Table

from batsched_py.cli.shared.algorithm import load_from_here
from batsched_py.cli.shared.command import takes
from batsched_py.cli.shared.console import Output, show_table
from batsched_py.cli.shared.terminal import say
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import describe_options

#: Characters of a type in the table; longer ones are listed below it.
LONGEST_TYPE: Final = 60


class DescribeRequest(Struct, frozen=True):
    """The options of `describe`."""

    name: str


@takes(DescribeRequest, limits=False)
@click.argument("name")
def command(request: DescribeRequest) -> None:
    """Show what the algorithm NAME does, what it needs, where it comes from, and its options."""
    scheduler = load_from_here(request.name)
    say(f"{scheduler.name} ({scheduler.__module__}:{scheduler.__qualname__})")
    text = inspect.getdoc(scheduler)
    if text and text != inspect.getdoc(Scheduler):  # which a class without a docstring inherits
        say()
        for line in text.splitlines():
            say(line)
    if scheduler.source:
        say()
        say(f"Source: {scheduler.source}")
    for need in _needs(scheduler):
        say()
        say(f"Needs {need}")
    if scheduler.uses_dynamic_jobs:
        say()
        say("Uses Batsim's option --enable-dynamic-jobs: without it, it does what needs no jobs of its own.")
    options = describe_options(scheduler.options_type)
    if not options:
        say()
        say("It has no options.")
        return
    table = Table("option", "type", "default", "", box=box.SIMPLE, pad_edge=False)
    long = {option.kind: option.type for option in options if option.kind and len(option.type) > LONGEST_TYPE}
    for option in options:
        table.add_row(option.name, option.kind if option.kind in long else option.type, option.default, option.help)
    show_table(table, folded=3)
    for kind, choices in long.items():
        Output().print(f"{kind}: {choices}", highlight=False)


def _needs(scheduler: type[Scheduler[Any]]) -> list[str]:
    needs = []
    if scheduler.needs_walltime:
        needs.append("walltimes: jobs without one are rejected.")
    if scheduler.needs_energy:
        needs.append("hosts that describe their power, and Batsim's option -E.")
    if scheduler.needs_dynamic_jobs:
        needs.append("Batsim's option --enable-dynamic-jobs: it submits jobs of its own.")
    return needs

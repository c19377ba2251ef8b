"""`batsched-py demo`: a first simulation, with files included in the program."""

from __future__ import annotations

from typing import Final

import click

from batsched_py.cli.commands.simulate import command as simulate
from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.completion import complete_algorithm
from batsched_py.cli.shared.parameters import option
from batsched_py.cli.shared.terminal import say

#: Files of the program; files of the user with these names take precedence, as in all commands.
PLATFORM: Final = "platforms/cluster32.xml"
WORKLOAD: Final = "workloads/lublin200.json"


@typed_command(limits=False)
@option(
    "-s --scheduler algorithm",
    "NAME",
    "Name of an algorithm (see list).",
    default="easy",
    shell_complete=complete_algorithm,
)
@option("-e --export", "PREFIX", "Write PREFIX_jobs.csv, PREFIX_schedule.csv, traces, tables.")
def command(algorithm: str, export: str | None) -> None:
    """Simulate 200 jobs on 32 hosts, and draw a Gantt chart.

    The platform and the workload are included. The command that it runs is shown first.
    """
    words = ["-p", PLATFORM, "-w", WORKLOAD, "-s", algorithm, "--gantt"]
    words += [] if export is None else ["-e", export]
    say(f"Running: batsched-py simulate {' '.join(words)}")
    context = click.get_current_context()
    simulate.invoke(simulate.make_context("simulate", words, parent=context))

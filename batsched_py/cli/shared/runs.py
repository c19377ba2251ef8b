"""What the commands that look at runs have in common: how runs are named and read, and what is made of them written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
from msgspec.structs import replace

from batsched_py.cli.shared.examples import INPUT
from batsched_py.cli.shared.output_paths import check_apart, check_writable, writing
from batsched_py.cli.shared.parameters import HOSTS, PATH, Seconds, told_limits
from batsched_py.cli.shared.terminal import say
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND
from batsched_py.reporting.schedules.members import with_members
from batsched_py.reporting.schedules.schedule import Schedule, files_of, read_schedules
from batsched_py.traces.atomic_file import write_atomically
from batsched_py.traces.batsim_json import read_workload

paths_argument: Final = click.argument("paths", type=PATH, nargs=-1, required=True, metavar="PATH...")
hosts_option: Final = click.option(
    "--hosts", type=HOSTS, metavar="N", help="Compute hosts. Default: what the files say."
)
tau_option: Final = click.option(
    "--tau",
    type=Seconds(min=0, min_open=True),
    default=SLOWDOWN_BOUND,
    show_default=True,
    metavar="S",
    help="Runs shorter than S count as S in bounded slowdowns.",
)
members_option: Final = click.option(
    "-w",
    "--workload",
    "workloads",
    type=INPUT,
    multiple=True,
    metavar="FILE",
    help="The workload that was run: users and deadlines of its jobs.",
)


def read_runs(
    paths: Sequence[Path],
    workloads: Sequence[Path],
    output: Path | None,
    hosts: int | None,
    names: Sequence[str] = (),
) -> list[Schedule]:
    """The runs, called as the user says, with the members of jobs that only workloads tell.

    What had to be assumed is told on stderr. InputError; a usage error if one of the files is `output`.
    """
    inputs = [("PATH", file) for path in paths for file in files_of(path)]
    check_apart([*dict.fromkeys(inputs), *(("-w", path) for path in workloads)], [("-o", output)])
    check_writable([output])
    schedules = read_schedules(paths, hosts=hosts, limits=told_limits())
    if names:
        schedules = [replace(schedule, name=name) for schedule, name in zip(schedules, names, strict=True)]
    for schedule in schedules:
        for note in schedule.notes:
            say(f"note: {schedule.name}: {note}", err=True)
    if not workloads:
        return schedules
    members = [read_workload(path, simulated_only=False, limits=told_limits()) for path in workloads]
    return [with_members(schedule, members) for schedule in schedules]


def write_file(path: Path, content: bytes) -> None:
    """Write it, whole or not at all. InputError."""
    with writing(path):
        write_atomically(path, content)

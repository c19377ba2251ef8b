"""Analysis of runs: their options, reading them, and writing pictures of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.output_paths import check_apart, check_writable
from batsched_py.cli.shared.parameters import HOSTS, INPUT, PATH, Decorator, Number, Seconds, option, together
from batsched_py.cli.shared.terminal import say, say_all, warn, warn_all
from batsched_py.cli.shared.time_window import window_options
from batsched_py.errors import InputError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.output_file import writing
from batsched_py.hostset import HostSet
from batsched_py.reporting.metrics.machine_groups import NO_SIGNALS, EnergySignals
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND
from batsched_py.reporting.missing_signals import missing_signals
from batsched_py.reporting.pictures.drawing import FORMATS, Picture, draw, form_of
from batsched_py.reporting.pictures.window import Window, window_on
from batsched_py.reporting.provenance import find_differences, run_title, why_partial
from batsched_py.reporting.schedules.consistency import find_contradictions
from batsched_py.reporting.schedules.decisions_table import DecisionTable, read_decisions_of, with_outages
from batsched_py.reporting.schedules.members import with_members
from batsched_py.reporting.schedules.run_reader import files_of, read_schedules
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.reporting.waits.unlisted import with_running
from batsched_py.text.display import displayed
from batsched_py.traces.batsim_json import read_workload

_MOST_INCHES: Final = 100.0


paths_argument: Final = click.argument("paths", type=PATH, nargs=-1, required=True, metavar="PATH...")
hosts_option: Final = option("--hosts", "N", "Number of compute hosts. Default: as in the files.", type=HOSTS)
tau_option: Final = option(
    "--tau",
    "S",
    "Runs shorter than S count as S in bounded slowdowns.",
    type=Seconds(min=0, min_open=True),
    default=SLOWDOWN_BOUND,
)
members_option: Final = option(
    "-w --workload workloads",
    "FILE",
    "Workload of the runs, for users and deadlines.",
    type=INPUT,
    multiple=True,
)


def read_runs(
    paths: Sequence[Path],
    workloads: Sequence[Path],
    output: Path | None,
    hosts: int | None,
    names: Sequence[str] = (),
) -> list[Schedule]:
    """Read runs under the user's names, with the members of jobs that are only in workloads.

    Assumptions are written to stderr, with a warning for each kind of contradiction.

    InputError; a usage error if one of the files is `output`.
    """
    inputs = [("PATH", file) for path in paths for file in files_of(path)]
    check_apart([*dict.fromkeys(inputs), *(("-w", path) for path in workloads)], [("-o", output)])
    check_writable([output])
    schedules = read_schedules(paths, hosts=hosts, limits=current_limits())
    if names:
        schedules = [replace(schedule, name=name) for schedule, name in zip(schedules, names, strict=True)]
    for schedule in schedules:
        say_all((f"note: {schedule.name}: {note}" for note in schedule.notes), err=True)
        warn_of_results(schedule)
    warn_all(find_differences(schedules))
    if not workloads:
        return schedules
    members = [read_workload(path, simulated_only=False, limits=current_limits()) for path in workloads]
    for workload in members:
        warn_all(workload.notes)
    return [with_members(schedule, members) for schedule in schedules]


def read_decisions(schedule: Schedule) -> DecisionTable | None:
    """Read the decisions in the folder of a run, and warn of unknown parts; None without a file. InputError."""
    decisions = read_decisions_of(schedule, limits=current_limits())
    say_all((f"note: {schedule.name}: {note}" for note in (() if decisions is None else decisions.notes)), err=True)
    return decisions


def read_signals_of(schedule: Schedule, chosen: EnergySignals = NO_SIGNALS) -> EnergySignals:
    """Return the chosen signals, and warn of files that the run had instead of missing ones."""
    warn_all(f"{displayed(schedule.name)}: {line}" for line in missing_signals(schedule.run, chosen))
    return chosen


def warn_if_partial(schedule: Schedule) -> None:
    """Warn of results of a run that did not end."""
    if schedule.run is not None and (why := why_partial(schedule.run)):
        warn(f"{displayed(schedule.name)}: the results are partial: {why}")


def warn_of_results(schedule: Schedule) -> None:
    """Warn of results that are partial, and of each kind of contradiction in them."""
    warn_if_partial(schedule)
    warn_all(f"{displayed(schedule.name)}: {line}" for line in find_contradictions(schedule).lines())


def run_titles(schedules: Sequence[Schedule]) -> list[str]:
    """Return a line with the description of each run; with its name if there are several."""
    several = len(schedules) > 1
    return [
        f"{displayed(schedule.name)}: {run_title(schedule.run)}" if several else run_title(schedule.run)
        for schedule in schedules
        if schedule.run is not None
    ]


def write_file(path: Path, content: bytes) -> None:
    """Write a file, completely or not at all. InputError."""
    with writing(path):
        write_atomically(path, content)


def read_picture(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """Check that the name of a picture ends with one of FORMATS."""
    if value is not None and form_of(value) not in FORMATS:
        endings = " or ".join(f".{form}" for form in FORMATS)
        raise click.BadParameter(f"must end with {endings}, not be {value.name!r}", context, parameter)
    return value


def _read_hosts(context: click.Context, parameter: click.Parameter, value: str | None) -> HostSet | None:
    if value is None:
        return None
    try:
        hosts = HostSet.parse(value)
    except ValueError as error:
        raise click.BadParameter(f"must be hosts like 0-15 or 0-3,8,12-15: {error}", context, parameter) from None
    if not hosts:
        raise click.BadParameter("must be hosts like 0-15 or 0-3,8,12-15, not none", context, parameter)
    return hosts


def picture_options(text: str, *, required: bool) -> Decorator:
    """Return -o with the help `text`, and the options of window and size, as in PictureOptions."""
    wide, high = Number(1.0, _MOST_INCHES), Number(0.5, _MOST_INCHES)
    return together(
        option("-o --output", "FILE", text, type=PATH, callback=read_picture, required=required),
        window_options("Show what happens"),
        option("--only", "HOSTS", "Show these hosts only: 0-15 or 0-3,8.", callback=_read_hosts),
        hosts_option,
        option("--width", "INCHES", "Width of the figure. Default: 3.5, one column.", type=wide),
        option("--height", "INCHES", "Height of the figure. Default: depends on its content.", type=high),
        option("--title", "TEXT", "Title above the figure.", default=""),
    )


class PictureOptions(Struct, frozen=True):
    """The file of a picture, the displayed part of the runs, and its size in inches."""

    output: Path | None
    window: WindowChoice
    only: HostSet | None
    hosts: int | None
    width: float | None
    height: float | None
    title: str

    def window_on(self, schedules: Sequence[Schedule]) -> Window:
        """Return the displayed part of the runs."""
        if self.window.whole:
            return window_on(schedules, hosts=self.only)
        time = self.window.on_all(schedules)
        return window_on(schedules, time.begin, time.end, self.only)

    @property
    def looks(self) -> dict[str, Any]:
        """Size and title as arguments of a figure; the width only if given."""
        looks: dict[str, Any] = {"height": self.height, "title": self.title}
        return looks if self.width is None else {"width": self.width, **looks}


def read_drawn(
    paths: Sequence[Path], options: PictureOptions, workloads: Sequence[Path] = (), *, places_needed: bool
) -> list[Schedule]:
    """Read runs as `read_runs` does; InputError if there is nothing to draw."""
    schedules = read_runs(paths, workloads, options.output, options.hosts)
    for schedule in schedules:
        check_drawn(schedule, places_needed=places_needed)
    return schedules


def read_charted(paths: Sequence[Path], options: PictureOptions, workloads: Sequence[Path] = ()) -> list[Schedule]:
    """Read runs as `read_runs` does, with the outages of hosts, and the jobs that were still running at the end.

    InputError if there is nothing to draw.
    """
    found = []
    for schedule in read_runs(paths, workloads, options.output, options.hosts):
        decisions = read_decisions(schedule)
        found.append(with_outages(with_running(schedule, decisions), decisions))
        check_drawn(found[-1], places_needed=True)
    return found


def check_drawn(schedule: Schedule, *, places_needed: bool) -> None:
    """Check that there is something to draw. InputError."""
    if places_needed and not schedule.hosts_known:
        raise InputError(schedule.source, "", "does not tell on which hosts jobs ran, which a Gantt chart shows")
    if places_needed and not schedule.hosts:
        raise InputError(schedule.source, "", "has no job with a host: there is nothing to draw")
    if not schedule.ran:
        raise InputError(schedule.source, "", "has no job that ran: there is nothing to draw")


def save_picture(path: Path, picture: Picture) -> None:
    """Write a picture, and warn of its defects. InputError."""
    with writing(path):
        picture.save(path)
    warn_all(picture.cautions)


def write_picture(use: str, module: str, picture: PictureOptions, make: Callable[[Any], Any]) -> None:
    """Write the figure that `make` draws with a module of reporting.pictures.paper. ExtraError, InputError."""
    output = picture.output
    assert output is not None  # noqa: S101 - drawn because it was given
    save_picture(output, draw(use, module, make))
    say(f"wrote {output}")

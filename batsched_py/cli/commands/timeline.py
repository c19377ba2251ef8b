"""`batsched-py timeline`: the actions in the VMs of an experiment over time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import click
from msgspec import Struct
from msgspec.structs import replace
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import COMMON, current_limits, typed_command
from batsched_py.cli.shared.console import Output, show_picture, show_table
from batsched_py.cli.shared.output_paths import check_apart, check_writable
from batsched_py.cli.shared.parameters import PATH, Number, Seconds, flag, option
from batsched_py.cli.shared.repetition import MovedOption, OnceGroup
from batsched_py.cli.shared.runs import PictureOptions, read_picture, write_picture
from batsched_py.cli.shared.site_lists import ListOptions, part_options, state_option
from batsched_py.cli.shared.site_options import SitePlace, site_options
from batsched_py.cli.shared.terminal import put, say, say_all, warn, warn_all
from batsched_py.cli.shared.timeline_picture import render_timelines
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.document_file import read_document
from batsched_py.files.output_file import writing
from batsched_py.loading import load_object
from batsched_py.reading.json_document import parse_object, refuse_doubled
from batsched_py.reading.limits import LONGEST
from batsched_py.reporting.schedules.time_window import WHOLE
from batsched_py.reporting.schedules.timeline_tables import chart_of_tables
from batsched_py.site.client import UNDECIDED, SiteClient
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, seconds
from batsched_py.timelines.api import (
    ExternalResume,
    KindMaker,
    ScheduleConverter,
    TimelineRun,
    Timelines,
    basic_json,
    find_warnings,
    full_json,
    parse_timelines,
    play,
    timeline_tables,
    timelines_schema,
)
from batsched_py.timelines.entries import OnExit, OnFailed
from batsched_py.timelines.kinds import KINDS
from batsched_py.timelines.listing import HEADINGS, rows
from batsched_py.traces.firewheel_file import read_schedule

#: Maximum number of rows of the table: more are unreadable, and slow to print.
_MOST_ROWS: Final = 1000
_LAUNCH: Final = "launch+"
#: Headings of tables of a live site -> members of its answers.
_VM_COLUMNS: Final = {
    "VM": "name",
    "state": "state",
    "hosts": "hosts",
    "held by": "held_by",
    "next entry": "next_entry",
    "at": "next_time",
    "reason": "why",
}
_ENTRY_COLUMNS: Final = {
    "entry": "name",
    "kind": "kind",
    "scheduled": "scheduled",
    "time": "time",
    "late": "late",
    "outcome": "outcome",
    "exit": "exit",
    "reason": "why",
}
#: Width of a picture in inches.
_WIDTH: Final = 7.0


def _read_resumes(
    context: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> Sequence[ExternalResume]:
    """Parse resumes like 1000, vm1=1000 and launch+30."""
    requests = []
    for value in values:
        vm, sign, text = value.rpartition("=")
        after_launch = text.startswith(_LAUNCH)
        try:
            time = float(text.removeprefix(_LAUNCH))
        except ValueError:
            time = math.nan
        if not abs(time) <= LONGEST or (after_launch and time < 0) or (sign and not vm):
            rule = f"must be [VM=]T, where T is seconds of experiment time or launch+S, not {value!r}"
            raise click.BadParameter(rule, context, parameter)
        requests.append(ExternalResume(time, (vm,) if sign else None, after_launch=after_launch))
    return requests


def _read_kind(context: click.Context, parameter: click.Parameter, value: str | None) -> Mapping[str, KindMaker]:
    """Parse FILE.py:CLASS."""
    try:
        return KINDS.find(value or "built-in", load_object).makers
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None


_experiment_option: Final = option(
    "--experiment", "ID", "Experiment, if the site runs the algorithm experiments.", type=click.IntRange(1)
)


class TimelineShowRequest(Struct, frozen=True):
    """The options of `timeline show`."""

    file: Path
    resumes: Sequence[ExternalResume]
    json: bool
    full: bool
    buffer: float | None
    on_exit: OnExit | None
    on_failed: OnFailed | None
    reboot_delay: float | None
    reboot_limit: int | None
    preload_rate: float | None
    kinds: Mapping[str, KindMaker]
    output: Path | None
    width: float | None
    title: str


@click.group(cls=OnceGroup, no_args_is_help=True)
def command() -> None:
    """Show and convert timelines of VMs, and act on those of a live site."""


command.params += COMMON


@typed_command()
@click.argument("file", type=PATH)
@option(
    "--resume resumes",
    "[VM=]T",
    "Resume all held VMs, or one, at this experiment time, or S seconds after the launch (launch+S).",
    multiple=True,
    callback=_read_resumes,
)
@flag("--json", "Print the experiment time of each entry as JSON; null if it never begins.")
@flag("--full", "With --json: print all details.")
@option("--buffer", "S", "Seconds between the configuration of the last VM and the start.", type=Seconds(min=0))
@option("--on-exit", None, "Effect of a nonzero exit code on its VM.", type=click.Choice(get_args(OnExit)))
@option("--on-failed", None, "Effect of a failed VM on the experiment.", type=click.Choice(get_args(OnFailed)))
@option("--reboot-delay", "S", "Duration of a reboot in seconds.", type=Seconds(min=0))
@option("--reboot-limit", "N", "Maximum number of reboots of a VM; after more, it fails.", type=click.IntRange(0))
@option("--preload-rate", "MB/S", "Rate at which files are loaded before the first entry.", type=Number(min=1e-6))
@option(
    "--kind kinds", "FILE:CLASS", "Your own kind of programs, in addition to the built-in ones.", callback=_read_kind
)
@option("-o --output", "FILE", "Write a figure (.pdf, .svg, .png) instead.", type=PATH, callback=read_picture)
@option("--width", "INCHES", "Width of the figure; default: 7.", type=Number(1.0, 100.0))
@option("--title", "TEXT", "Title of the figure.", default="")
def show(request: TimelineShowRequest) -> None:
    """Simulate the timelines in FILE (JSON or YAML), and show when each entry runs, as a table and a chart.

    An entry lasts as long as its member `takes`. Options override members of the same name in the file.
    """
    if request.full and not request.json:
        raise click.UsageError("'--full' needs '--json'")
    _check_output(request)
    timelines = _with_options(
        parse_timelines(str(request.file), read_document(request.file, current_limits())), request
    )
    run, notes = play(timelines, request.resumes, request.kinds)
    warn_all(find_warnings(timelines, request.kinds))
    if request.json:
        content = full_json(run, notes) if request.full else basic_json(run)
        put(json.dumps(content, ensure_ascii=False).encode() + b"\n", is_json=True)
        return
    if request.output is None:
        _show(run)
    else:
        _write(run, request)
    say_all(displayed(note) for note in notes)


@typed_command(limits=False)
def print_schema() -> None:
    """Print the JSON schema of files with timelines."""
    put(json.dumps(timelines_schema(), indent=2).encode() + b"\n", is_json=True)


@typed_command()
@click.argument("files", type=PATH, metavar="FILE...", nargs=-1, required=True)
@option(
    "--input-format source",
    None,
    "Format of the files.",
    type=click.Choice(["firewheel"]),
    required=True,
    expose_value=False,
)
@option(
    "--from moved",
    None,
    "The earlier name of --input-format.",
    cls=MovedOption,
    moved={"firewheel": "--input-format"},
    hidden=True,
    expose_value=False,
    type=click.Choice([]),
)
@option("-o --output", "FILE", "Output file, JSON.", type=PATH, required=True)
def convert(files: tuple[Path, ...], output: Path) -> None:
    """Convert the output of FIREWHEEL's plugin `misc.print_schedule` to timelines.

    Each entry names its VM; if none does, the name is that of FILE. Pickles are refused, because opening them would
    run code.
    """
    check_apart([("FILE", path) for path in files], [("-o", output)])
    vms, notes = dict[str, Any](), list[str]()
    for path in files:
        converter = ScheduleConverter(str(path), path.stem)
        converted = converter.convert(read_schedule(path, current_limits()))
        if twice := next((vm for vm in converted if vm in vms), None):
            raise click.UsageError(f"two files have the VM {displayed(twice)}")
        parse_timelines(str(path), {"vms": converted})
        vms |= converted
        notes += converter.notes()
    check_writable([output])
    with writing(output):
        write_atomically(output, json.dumps({"vms": vms}, indent=1).encode() + b"\n")
    say_all(displayed(line) for line in notes)
    entries = sum(map(len, vms.values()))
    say(f"wrote {output}: {counted(len(vms), 'VM')}, {counted(entries, 'entry', 'entries')}")


@typed_command(limits=False)
@click.argument("vm", required=False)
@_experiment_option
@flag("--json as_json", "Print the answer of the site, JSON.")
@state_option
@part_options
@site_options
def status(place: SitePlace, wanted: ListOptions, vm: str | None, experiment: int | None, *, as_json: bool) -> None:
    """Show the VMs of timelines of a live site; with VM, the entries of one and their outcomes.

    VMs are numbered from 1 in their order, entries those that have begun first; their states are their outcomes.
    """
    client = place.client()
    path = _path(experiment)
    found: Any = _read_vms(client, path, wanted) if vm is None else wanted.read(client, *path, vm, "entries")
    if as_json:
        put(json.dumps(found, ensure_ascii=False).encode() + b"\n", is_json=True)
    elif vm is None:
        _show_vms(found)
    else:
        _show_rows(found, _ENTRY_COLUMNS)


@typed_command(limits=False)
@click.argument("vms", nargs=-1, metavar="[VM]...")
@_experiment_option
@site_options
def resume(place: SitePlace, vms: tuple[str, ...], experiment: int | None) -> None:
    """End the breaks that hold VMs of a live site at this moment: of all VMs, or of those named."""
    _say_accepted("Resumed", place.client().post(*_path(experiment), "resume", body={"vms": list(vms) or "all"}))


@typed_command(limits=False)
@click.argument("vm")
@click.argument("entry", metavar="JSON")
@_experiment_option
@site_options
def add(place: SitePlace, vm: str, entry: str, experiment: int | None) -> None:
    """Add an entry to the timeline of VM at a live site: JSON as in a file, such as '{"at": 40, "run": "probe"}'."""
    members = parse_object("JSON", entry.encode())
    refuse_doubled("JSON", entry.encode())
    _say_accepted("Added", place.client().post(*_path(experiment), vm, "entries", body=members))


command.add_command(show, "show")
command.add_command(status, "status")
command.add_command(resume, "resume")
command.add_command(add, "add")
command.add_command(convert, "convert")
command.add_command(print_schema, "schema")


def _with_options(timelines: Timelines, request: TimelineShowRequest) -> Timelines:
    given: Mapping[str, Any] = {name: getattr(request, name) for name in timelines.rules.__struct_fields__}
    chosen = {name: value for name, value in given.items() if value is not None}
    return Timelines(timelines.vms, replace(timelines.rules, **chosen))


def _check_output(request: TimelineShowRequest) -> None:
    """Refuse incompatible options. UsageError."""
    if request.output is None and (request.width is not None or request.title):
        raise click.UsageError("'--width' and '--title' need '-o'")
    if request.output is not None and request.json:
        raise click.UsageError("'--json' and '-o' cannot be combined")
    if request.output is not None:
        check_apart([("FILE", request.file)], [("-o", request.output)])


def _write(run: TimelineRun, request: TimelineShowRequest) -> None:
    chart = chart_of_tables(timeline_tables(run, {}))
    assert chart is not None  # noqa: S101  # made of our own tables
    picture = PictureOptions(request.output, WHOLE, None, None, request.width or _WIDTH, None, request.title)
    looks = picture.looks
    write_picture("timeline show -o", "timeline_figure", picture, lambda paper: paper.timeline_figure(chart, **looks))


def _show(run: TimelineRun) -> None:
    table = Table(*HEADINGS, box=box.SIMPLE, pad_edge=False)
    for column in (0, 1, 4, 5):
        table.columns[column].justify = "right"
    found = rows(run)
    for row in found[:_MOST_ROWS]:
        table.add_row(*(displayed(getattr(row, name)) for name in row.__struct_fields__))
    show_table(table, folded=len(HEADINGS) - 1)
    if len(found) > _MOST_ROWS:
        say(f"{len(found) - _MOST_ROWS} more; '--json' has all of them")
    console = Output()
    show_picture(console, render_timelines(run, console.width))


def _say_accepted(done: str, accepted: Mapping[str, Any]) -> None:
    """Say when a change takes effect, and warn if that is not decided yet."""
    if not accepted["decided"]:
        warn(UNDECIDED)
    say(f"{done} at {seconds(accepted['time'])}.")


def _path(experiment: int | None) -> tuple[str | int, ...]:
    """Return the resource of timelines in the API of a site."""
    return ("api", "timelines") if experiment is None else ("managed_experiments", experiment, "timelines")


def _read_vms(client: SiteClient, path: tuple[str | int, ...], wanted: ListOptions) -> dict[str, Any]:
    """Return the experiment of timelines with the wanted VMs."""
    seen = list[dict[str, Any]]()

    def vms(part: dict[str, Any]) -> list[Any]:
        seen.append(part)
        return list(part["vms"])

    found = wanted.read(client, *path, items=vms)
    return seen[0] | {"vms": found}


def _show_vms(experiment: Mapping[str, Any]) -> None:
    if experiment["failed"]:
        how = f"has failed: {experiment['failed']}"
    elif experiment["start"] is None:
        how = "has not started"
    else:
        how = f"is at {seconds(experiment['since_start'])} s"
    say(displayed(f"The experiment {how}"))
    _show_rows(experiment["vms"], _VM_COLUMNS)


def _show_rows(found: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> None:
    """Show a table of objects: heading -> member."""
    table = Table(*columns, box=box.SIMPLE, pad_edge=False)
    for row in found:
        cells = (row[member] for member in columns.values())
        texts = ("" if cell is None else seconds(cell) if isinstance(cell, float) else str(cell) for cell in cells)
        table.add_row(*map(displayed, texts))
    show_table(table, folded=len(columns) - 1)

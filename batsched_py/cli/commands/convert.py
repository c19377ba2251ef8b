"""`batsched-py convert`: create a workload from a log in the Standard Workload Format, or from requests for leases."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import click
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.lease_options import LeaseOptions, lease_options
from batsched_py.cli.shared.machine_files import MachineFiles, machine_file_options
from batsched_py.cli.shared.output_paths import check_apart, check_writable
from batsched_py.cli.shared.parameters import HOSTS, PATH, flag, option, read_names
from batsched_py.cli.shared.repetition import MovedOption
from batsched_py.cli.shared.terminal import say, say_all, warn_all
from batsched_py.cli.shared.time_window import SPELLINGS, TimeOrDate, TimeSpan, skip_option
from batsched_py.errors import NothingKeptError
from batsched_py.files.output_file import make_folder
from batsched_py.model.workload import Workload
from batsched_py.protocol.dialect import V4
from batsched_py.protocol.dialects import V5
from batsched_py.reading.limits import Limits
from batsched_py.reporting.formatting import brief
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.text.wording import counted
from batsched_py.traces.cleaning import KEPT_FIELDS, CleaningRules, clean, clean_jobs
from batsched_py.traces.delay_workload import with_work
from batsched_py.traces.formats import (
    FORMATS,
    INPUTS,
    LWF,
    SACCT,
    Format,
    ReadOptions,
    Unit,
    WriteOptions,
    find_format,
    format_to_write,
)
from batsched_py.traces.image_file import read_images
from batsched_py.traces.lease_log import log_requests
from batsched_py.traces.lease_request import LeaseRequest, LeaseSite, LeaseTrace, kinds_of, uniform_site
from batsched_py.traces.lease_workload import lease_workload, site_platform
from batsched_py.traces.other_batsim import lines_on_changes, prepared
from batsched_py.traces.platform_writer import write_flat_platform
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.workload_leases import workload_requests
from batsched_py.traces.workload_parts import part_of, parts_of

_WALLTIME_NOTE: Final = (
    "note: with walltime = run time Batsim ends jobs when they end anyway, but as COMPLETED_WALLTIME_REACHED"
)
#: Protocols of the versions of Batsim with different formats of workloads.
_PROTOCOLS: Final = (V4.name, V5.name)


class ConvertRequest(Struct, frozen=True):
    """The options of `convert`."""

    log: Path
    output: Path
    platform: Path | None
    rules: CleaningRules
    form: Format | None
    protocol: str
    window: WindowChoice
    unit: Unit | None
    every: float | None
    leases_wanted: LeaseOptions
    machine: MachineFiles

    @property
    def content(self) -> type | None:
        """The class of the content of the input."""
        return None if self.form is None else self.form.content

    @property
    def written(self) -> Format:
        """The format of the output."""
        return format_to_write(self.output)

    @property
    def has_leases(self) -> bool:
        """True if the output contains leases rather than jobs."""
        given = self.rules.leases or bool(self.leases_wanted.ar_share)
        return given or LeaseTrace in (self.content, self.written.content)


@typed_command()
@click.argument("log", type=PATH, metavar="LOG")
@option("-o --output", "FILE", "The workload, Batsim JSON, or a lease workload, FILE.lwf.", type=PATH, required=True)
@option(
    "--processors",
    None,
    "Field for the size of a job; if unknown, the other one.",
    type=click.Choice(["requested", "used"]),
    default="requested",
)
@option(
    "--walltime",
    None,
    "The user's estimate, or the run time itself (perfect estimates).",
    type=click.Choice(["request", "run"]),
    default="request",
)
@option("--max-jobs", "N", "Keep only the first N of the remaining jobs.", type=click.IntRange(min=1))
@option(
    "--input-format form",
    None,
    f"Format of LOG: {', '.join(f'{name} ({FORMATS[name].description})' for name in INPUTS)}.  "
    "[default: as its content tells]",
    type=click.Choice(INPUTS),
    callback=lambda _context, _option, name: FORMATS.get(name),
)
@option(
    "--protocol",
    None,
    "The Batsim that reads the workload: 4 or 5.",
    type=click.Choice(_PROTOCOLS),
    default=V4.name,
)
@option(
    "--from --start begin",
    "TIME",
    f"Only what was submitted from then on: {SPELLINGS}.",
    type=TimeOrDate(),
    cls=MovedOption,
    moved={"sacct": "--input-format"},
)
@option(
    "--to --end until",
    "TIME",
    "Only what was submitted before then.",
    type=TimeOrDate(),
    cls=MovedOption,
    moved=dict.fromkeys(_PROTOCOLS, "--protocol"),
)
@skip_option
@option(
    "--unit",
    None,
    "Of sacct's output: what a host of the workload represents.  [default: cpus]",
    type=click.Choice(["cpus", "nodes"]),
)
@option("--every", "TIME", "A workload for each 7d or so: FILE-1.json, FILE-2.json...", type=TimeSpan())
@option(
    "--hosts",
    "N",
    "Size of the machine; larger jobs are dropped. Default: as in the log.",
    type=HOSTS,
    callback=lambda _context, _option, hosts: hosts or 0,
)
@option(
    "--keep",
    "FIELD,...",
    f"Other fields of jobs that become members: {', '.join(KEPT_FIELDS)}; with --input-format sacct any, like QOS.",
    multiple=True,
    callback=lambda *arguments: tuple(dict.fromkeys(read_names(*arguments))),
)
@flag("--feedback", "Submissions follow earlier jobs of the user (simulate --feedback).")
@flag("--dependencies", "Jobs wait for the end of their preceding jobs, plus the think times.")
@flag("--cancelled", "Keep jobs that were cancelled before their start; their users cancel them at the same time.")
@flag("--demands", "Jobs request cores and memory, and with sacct's TRES GPUs, of each node.")
@flag("--slurm-members", "Of sacct's output: jobs have the member slurm, for the algorithm slurm.")
@flag("--recorded-waits", "Jobs have the member recorded_wait, how long they waited in the log, for slurm fit.")
@flag("--strict", "A duplicate job number, or a row of sacct that cannot be read, is an error.")
@option("--platform", "FILE", "Also write a platform with the machine's hosts.", type=PATH)
@machine_file_options
@lease_options
def command(request: ConvertRequest) -> None:
    """Convert LOG to a workload, and report how many jobs each cleaning rule dropped or corrected.

    LOG is in the Standard Workload Format, or in Haizea's format (LWF), or the output of sacct --parsable2; format and
    compression are detected from its content. A JSON workload is cut, converted to a lease workload, or written for
    another Batsim.
    """
    log, output, options = request.log, request.output, request.leases_wanted
    check_apart(
        [("LOG", log), ("--injectionfile", options.injection), ("--imagefile", options.images)],
        [("-o", output), ("--platform", request.platform)],
    )
    request.machine.check(request.platform)
    check_writable([output, request.platform])
    request = replace(request, form=request.form or find_format(log, current_limits()))
    if request.has_leases:
        for name in ("cancelled", "dependencies", "feedback", "demands", "slurm_members", "recorded_waits"):
            if getattr(request.rules, name):
                raise click.UsageError(f"'--{name.replace('_', '-')}' is for workloads of jobs, not for leases")
        if request.protocol != V4.name:
            raise click.UsageError("'--protocol' is for workloads of jobs, not for leases")
        if request.every is not None:
            raise click.UsageError("'--every' is for workloads of jobs, not for leases")
        if request.machine.supplied:
            raise click.UsageError("'--profiles', '--speed' and '--power' are for workloads of jobs, not for leases")
        with _counts_reported():
            _convert_leases(request)
        return
    for name in options.supplied():
        raise click.UsageError(f"'{name}' is for leases; '--leases' makes leases of a log")
    with _counts_reported():
        _convert_log(request)


@contextmanager
def _counts_reported() -> Iterator[None]:
    """Print the counts of the cleaning rules even if no job is kept."""
    try:
        yield
    except NothingKeptError as error:
        say_all(error.lines)
        raise


def _convert_log(request: ConvertRequest) -> None:
    """Create one workload or several from a log."""
    workload, lines = _cleaned(request, current_limits())
    if request.platform is not None and not workload.host_count:
        raise click.UsageError(f"'--platform' needs '--hosts': {request.log} does not say how many there are")
    write = _write_whole if request.every is None else _write_parts
    written = write(request, workload)
    say_all(lines)
    if request.rules.walltime == "run":
        say(_WALLTIME_NOTE)
    if request.platform is not None:
        request.machine.write_platform(request.platform, workload.host_count)
        say(_written(request.platform, workload.host_count))
    say_all(written)


def _cleaned(request: ConvertRequest, limits: Limits) -> tuple[Workload, Sequence[str]]:
    """Return the workload of a log, or a part of a workload, with lines for the user."""
    if request.content is SwfLog:
        workload, report = clean(*_read_log(request, limits), request.machine.work)
        return workload, report.lines()
    _refuse_rules(request)
    whole = _read_workload(request, limits)
    window = request.window.found(str(request.log), whole.log_start, min(whole.submissions(), default=0.0), math.inf)
    part = part_of(whole, window.begin, window.end)
    warn_all(part.notes[len(whole.notes) :])
    if request.machine.computes:
        part = with_work(part, request.machine.work)
    out = len(whole.jobs) - len(part.jobs)
    lines = [f"{counted(len(whole.jobs), 'job')} in the workload", f"{counted(len(part.jobs), 'job')} kept"]
    return part, [*lines, f"{out} left out: submitted outside the window"] if out else lines


def _read(request: ConvertRequest, limits: Limits) -> SwfLog | Workload | LeaseTrace:
    """Read the input."""
    assert request.form is not None  # noqa: S101 - it was found
    rules, starttime, unit = request.rules, request.leases_wanted.starttime, request.unit or request.form.default_unit
    if rules.slurm_members and request.form is not SACCT:
        raise click.UsageError(f"'--slurm-members' is for Slurm's accounting, and {request.log} is none")
    for given, name in ((rules.demands, "demands"), (rules.slurm_members, "slurm-members")):
        if given and unit is not None:
            if request.unit == "cpus":
                raise click.UsageError(f"'--{name}' needs '--unit nodes': amounts are those of each node")
            unit = "nodes"
    chosen = (rules.dependencies, rules.demands, rules.slurm_members)
    return request.form.read(request.log, ReadOptions(limits, unit, rules.keep, rules.strict, starttime, *chosen))


def _read_workload(request: ConvertRequest, limits: Limits) -> Workload:
    """Read a workload, and warn of its members without effect."""
    workload = _read(request, limits)
    assert isinstance(workload, Workload)  # noqa: S101 - the content of its format
    warn_all(workload.notes)
    return workload


def _refuse_rules(request: ConvertRequest) -> None:
    """Refuse rules that apply only to logs. UsageError."""
    if request.rules != CleaningRules(leases=request.rules.leases):
        raise click.UsageError(f"rules of cleaning are for logs, and {request.log} is none")


def _read_log(request: ConvertRequest, limits: Limits) -> tuple[SwfLog, CleaningRules]:
    """Read a log, and determine the window on its clock."""
    log, rules = _read(request, limits), request.rules
    assert isinstance(log, SwfLog)  # noqa: S101 - the content of its format
    warn_all(log.notes)
    if request.window.whole:
        return log, rules
    window = request.window.since(log.zero).found(str(request.log), log.start, log.first, math.inf)
    end = None if request.window.until is None else window.end
    return log, dataclasses.replace(rules, start=window.begin, end=end)


def _write_whole(request: ConvertRequest, workload: Workload) -> list[str]:
    """Write the workload, and return lines for the user."""
    make_folder(request.output)
    kept = prepared(workload, request.protocol)
    request.written.write(request.output, kept, WriteOptions(_description(request.log), request.protocol))
    return [*lines_on_changes(workload, request.protocol), _written(request.output, workload.host_count)]


def _write_parts(request: ConvertRequest, workload: Workload) -> list[str]:
    """Write a workload for each part, and return lines for the user."""
    assert request.every is not None  # noqa: S101 - parts are made because it was given
    parts, output = parts_of(workload, request.every), request.output
    last = parts[-1].number
    paths = [output.with_name(f"{output.stem}-{part.number:0{len(str(last))}d}{output.suffix}") for part in parts]
    check_apart([("LOG", request.log)], [("-o", path) for path in paths])
    make_folder(output)
    lines = [*lines_on_changes(workload, request.protocol)]
    for path, part in zip(paths, parts, strict=True):
        warn_all(part.workload.notes[len(workload.notes) :])
        when = f"submitted from {brief(part.begin)} to {brief(part.end)}"
        kept = prepared(part.workload, request.protocol)
        request.written.write(path, kept, WriteOptions(f"{_description(request.log)}: {when}", request.protocol))
        lines.append(f"{_written(path, workload.host_count)}: {counted(len(part.workload.jobs), 'job')} {when}")
    empty = last - len(parts)
    return [*lines, f"{counted(empty, 'part')} without a job: not written"] if empty else lines


class _Requests(NamedTuple):
    """Requests from a file, the hosts in the same file, and lines for the user."""

    requests: tuple[LeaseRequest, ...]
    site: LeaseSite | None
    lines: tuple[str, ...] = ()


def _convert_leases(request: ConvertRequest) -> None:
    """Create a workload of leases, or a lease trace."""
    options, limits = request.leases_wanted, current_limits()
    site, changes = options.site(), options.changes()
    requests, own_site, lines = _read_requests(request, limits)
    site = site or own_site
    if request.platform is not None and site is None:
        raise click.UsageError(f"'--platform' needs '--resources': {request.log} does not say what the hosts have")
    if options.injection is not None:
        injected = _warned(LWF.read(options.injection, ReadOptions(limits, starttime=options.starttime))).requests
        lines = (*lines, f"{counted(len(injected), 'request')} injected")
        requests = (*requests, *injected)
    if options.images is not None:
        images = read_images(options.images, limits=limits)
        left_over = images.left_over(len(requests))
        lines = (*lines, f"{counted(left_over, 'image')} left over") if left_over else lines
        changes = replace(changes, images=images)
    requests = changes.apply(str(request.log), requests)
    _write(request, requests, site)
    say_all((*lines, *kinds_of(requests)))
    if request.platform is not None and site is not None:
        say(_written(request.platform, site.size))
    say(_written(request.output, 0 if site is None else site.size))


def _read_requests(request: ConvertRequest, limits: Limits) -> _Requests:
    """Read a trace, a log or a workload."""
    log = request.log
    if request.content is SwfLog:
        read, rules = _read_log(request, limits)
        cleaned = clean_jobs(read, dataclasses.replace(rules, leases=True))
        site = uniform_site(cleaned.machine_size) if cleaned.machine_size else None
        return _Requests(log_requests(cleaned.jobs), site, cleaned.report.lines())
    _refuse_rules(request)
    if not request.window.whole:
        raise click.UsageError(f"'--from', '--to' and '--skip' cut logs and workloads of jobs; {log} is none")
    if request.content is Workload:
        return _Requests(workload_requests(_read_workload(request, limits)), None)
    trace = _warned(_read(request, limits))
    return _Requests(trace.requests, trace.site)


def _warned(trace: object) -> LeaseTrace:
    """Return a lease workload, and warn of its parts without effect."""
    assert isinstance(trace, LeaseTrace)  # noqa: S101 - the content of its format
    warn_all(trace.notes)
    return trace


def _write(request: ConvertRequest, requests: Sequence[LeaseRequest], site: LeaseSite | None) -> None:
    log, output, platform = request.log, request.output, request.platform
    if platform is not None and site is not None:
        make_folder(platform)
        write_flat_platform(platform, site_platform(str(log), site, requests))
    make_folder(output)
    content: Workload | LeaseTrace
    if request.written.content is LeaseTrace:
        content = LeaseTrace(str(log), tuple(requests), site, output.stem, _description(log))
    else:
        content = lease_workload(str(log), requests, 0 if site is None else site.size)
    request.written.write(output, content, WriteOptions(_description(log)))


def _description(log: Path) -> str:
    return f"made from {log.name} by batsched-py convert"


def _written(path: Path, hosts: int) -> str:
    return f"wrote {path}" + (f" for {counted(hosts, 'host')}" if hosts else "")

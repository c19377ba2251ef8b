"""`batsched-py convert`: create a workload from a log in the Standard Workload Format, or from requests for leases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click
from msgspec.structs import replace

from batsched_py.cli.shared.collection import uncollected
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.conversion_report import Conversion, counts_reported, write_report
from batsched_py.cli.shared.convert_request import (
    ConvertRequest,
    description,
    read_log,
    read_workload,
    refuse_rules,
    written_line,
)
from batsched_py.cli.shared.lease_conversion import convert_leases
from batsched_py.cli.shared.lease_options import lease_options
from batsched_py.cli.shared.machine_files import machine_file_options
from batsched_py.cli.shared.output_paths import check_apart, check_writable
from batsched_py.cli.shared.parameters import HOSTS, PATH, flag, option, read_names
from batsched_py.cli.shared.repetition import MovedOption
from batsched_py.cli.shared.terminal import say, say_all, warn_all
from batsched_py.cli.shared.time_window import SPELLINGS, TimeOrDate, TimeSpan, skip_option
from batsched_py.files.output_file import make_folder
from batsched_py.model.workload import Workload
from batsched_py.protocol.dialect import V4
from batsched_py.protocol.dialects import V5
from batsched_py.reading.limits import Limits
from batsched_py.reporting.formatting import brief
from batsched_py.text.wording import counted
from batsched_py.traces.cleaning import KEPT_FIELDS, clean
from batsched_py.traces.cleaning_report import CleaningReport
from batsched_py.traces.delay_workload import with_work
from batsched_py.traces.formats import (
    CSV,
    FORMATS,
    INPUTS,
    PARQUET,
    TABLES,
    Format,
    WriteOptions,
    find_format,
)
from batsched_py.traces.other_batsim import lines_on_changes, prepared
from batsched_py.traces.rule_effects import without_effect
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_columns import QUANTITIES, TableColumns
from batsched_py.traces.table_presets import PRESETS, chosen_columns
from batsched_py.traces.workload_parts import part_of, parts_of

_WALLTIME_NOTE: Final = (
    "note: with walltime = run time Batsim ends jobs when they end anyway, but as COMPLETED_WALLTIME_REACHED"
)
#: Protocols of the versions of Batsim with different formats of workloads.
_PROTOCOLS: Final = (V4.name, V5.name)


@typed_command()
@click.argument("logs", type=PATH, metavar="LOG...", nargs=-1, required=True)
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
    "--columns",
    "QUANTITY=COLUMN,...",
    "Of a table of jobs: its columns, like submit=QUEUED_AT,run=SECONDS,size=NODES, or the name of public data, before "
    f"other columns.  Quantities: {', '.join(QUANTITIES)}.  Data: {', '.join(PRESETS)}.",
    multiple=True,
    callback=lambda _context, _option, texts: _columns(texts),
)
@option(
    "--zone",
    "NAME",
    "Time zone of dates without an offset in tables and accounting, like Europe/Paris.  [default: UTC]",
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
    moved=dict.fromkeys(("sacct", "csv"), "--input-format"),
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
    "Of accounting: what a host of the workload represents.  [default: cpus]",
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
    f"Other fields of jobs that become members: {', '.join(KEPT_FIELDS)}; of sacct and tables any, like QOS.",
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
@option(
    "--report",
    "FILE",
    "Also write what was kept, dropped by each rule, and assumed: JSON, or Markdown, FILE.md.",
    type=PATH,
)
@machine_file_options
@lease_options
def command(request: ConvertRequest) -> None:
    """Convert LOG to a workload, and report how many jobs each cleaning rule dropped or corrected.

    LOG is in the Standard Workload Format, or in Haizea's format (LWF), or accounting of Slurm, PBS or LSF; format and
    compression are detected from its content. Several files of accounting, such as those of days, are one log. A JSON
    workload is cut, converted to a lease workload, or written for another Batsim.
    """
    output, options = request.output, request.leases_wanted
    check_apart(
        [
            *(("LOG", log) for log in request.logs),
            ("--injectionfile", options.injection),
            ("--imagefile", options.images),
        ],
        [("-o", output), ("--platform", request.platform), ("--report", request.report)],
    )
    request.machine.check(request.platform)
    check_writable([output, request.platform, request.report])
    request = replace(request, form=_format(request))
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
        write_report(request, convert_leases(request))
        return
    for name in options.supplied():
        raise click.UsageError(f"'{name}' is for leases; '--leases' makes leases of a log")
    with uncollected():
        converted = _convert_log(request)
    write_report(request, converted)


def _format(request: ConvertRequest) -> Format:
    """Return the format of the log: as chosen, else a table if its columns are named, else as its content tells."""
    form = request.form or find_format(request.log, current_limits())
    if request.columns is not None and request.form is None and form is not PARQUET:
        form = CSV
    if request.columns is not None and form not in TABLES:
        raise click.UsageError(f"'--columns' is for tables of jobs, and {request.log} is {form.description}")
    if request.zone and not form.dated:
        rule = f"and {request.log} is {form.description}"
        raise click.UsageError(f"'--zone' is for dates without an offset in tables and accounting, {rule}")
    if request.further and not form.joined:
        rule = f"and {request.log} is {form.description}"
        raise click.UsageError(f"only files of accounting and tables of jobs are one log, {rule}")
    for path in request.further:
        _refuse_other(path, form)
    return form


def _refuse_other(path: Path, form: Format) -> None:
    """Refuse a further file of a log that has another format. UsageError."""
    found = find_format(path, current_limits())
    if form is CSV and found is not PARQUET:
        return
    if found is not form and path.is_file():
        raise click.UsageError(f"all files must have one format: {path} is {found.description}, not {form.description}")


def _columns(texts: Sequence[str]) -> TableColumns | None:
    try:
        return chosen_columns(texts)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _convert_log(request: ConvertRequest) -> Conversion:
    """Create one workload or several from a log."""
    content, workload, counts, lines = _cleaned(request, current_limits())
    if request.platform is not None and not workload.host_count:
        raise click.UsageError(f"'--platform' needs '--hosts': {request.log} does not say how many there are")
    write = _write_whole if request.every is None else _write_parts
    written, outputs = write(request, workload)
    say_all(lines)
    if request.rules.walltime == "run":
        say(_WALLTIME_NOTE)
    if request.platform is not None:
        request.machine.write_platform(request.platform, workload.host_count)
        say(written_line(request.platform, workload.host_count))
        outputs = [*outputs, request.platform]
    say_all(written)
    return Conversion(content, counts, outputs)


class _CleanedContent(NamedTuple):
    """The content of a file, its workload, the counts of the rules, and lines about them for the user."""

    content: SwfLog | Workload
    workload: Workload
    counts: CleaningReport
    lines: Sequence[str]


def _cleaned(request: ConvertRequest, limits: Limits) -> _CleanedContent:
    """Return the workload of a log, or a part of a workload."""
    if request.content is SwfLog:
        log, rules = read_log(request, limits)
        with counts_reported(request, log):
            workload, report = clean(log, rules, request.machine.work)
        return _CleanedContent(log, workload, report, [*report.lines(), *without_effect(rules, workload)])
    refuse_rules(request)
    whole = read_workload(request, limits)
    window = request.window.found(str(request.log), whole.log_start, min(whole.submissions(), default=0.0), math.inf)
    part = part_of(whole, window.begin, window.end)
    warn_all(part.notes[len(whole.notes) :])
    if request.machine.computes:
        part = with_work(part, request.machine.work)
    jobs, kept = len(whole.jobs), len(part.jobs)
    counts = CleaningReport(jobs, kept, {"left_out_by_window": jobs - kept})
    total, *others = counts.lines()
    return _CleanedContent(whole, part, counts, [total.replace("in the log", "in the workload"), *others])


def _write_whole(request: ConvertRequest, workload: Workload) -> tuple[list[str], list[Path]]:
    """Write the workload, and return lines for the user and the file."""
    make_folder(request.output)
    kept = prepared(workload, request.protocol)
    request.written.write(request.output, kept, WriteOptions(description(request.log), request.protocol))
    lines = [*lines_on_changes(workload, request.protocol), written_line(request.output, workload.host_count)]
    return lines, [request.output]


def _write_parts(request: ConvertRequest, workload: Workload) -> tuple[list[str], list[Path]]:
    """Write a workload for each part, and return lines for the user and the files."""
    assert request.every is not None  # noqa: S101 - parts are made because it was given
    parts, output = parts_of(workload, request.every), request.output
    last = parts[-1].number
    paths = [output.with_name(f"{output.stem}-{part.number:0{len(str(last))}d}{output.suffix}") for part in parts]
    check_apart([("LOG", log) for log in request.logs], [("-o", path) for path in paths])
    make_folder(output)
    lines = [*lines_on_changes(workload, request.protocol)]
    for path, part in zip(paths, parts, strict=True):
        warn_all(part.workload.notes[len(workload.notes) :])
        when = f"submitted from {brief(part.begin)} to {brief(part.end)}"
        kept = prepared(part.workload, request.protocol)
        request.written.write(path, kept, WriteOptions(f"{description(request.log)}: {when}", request.protocol))
        lines.append(f"{written_line(path, workload.host_count)}: {counted(len(part.workload.jobs), 'job')} {when}")
    empty = last - len(parts)
    return [*lines, f"{counted(empty, 'part')} without a job: not written"] if empty else lines, paths

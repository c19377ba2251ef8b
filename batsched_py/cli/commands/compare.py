"""`batsched-py compare`: several algorithms on the same workloads, with confidence intervals of their differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from batsched_py.campaigns.algorithm_seeds import repeat_for_seeds
from batsched_py.campaigns.comparison import find_cautions
from batsched_py.campaigns.comparison_files import write_csv, write_groups, write_json, write_latex
from batsched_py.campaigns.comparison_page import write_page
from batsched_py.campaigns.figure_kinds import KINDS
from batsched_py.campaigns.figures import draw_comparison
from batsched_py.campaigns.group_tables import explain_groups, group_table
from batsched_py.campaigns.methods.description import Methods, changed_settings, write_methods
from batsched_py.campaigns.metrics import METRICS, SHOWN
from batsched_py.campaigns.series import ComparisonSeries
from batsched_py.campaigns.study import group_lines
from batsched_py.campaigns.study_files import StudyFiles
from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.campaign_tables import inference_options, interval_options, show_series
from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.compared_inputs import (
    ComparedInputs,
    CompareRequest,
    read_inputs,
    read_methods,
    read_warm_up,
)
from batsched_py.cli.shared.completion import complete_list
from batsched_py.cli.shared.console import Output, show_table
from batsched_py.cli.shared.described_runs import this_call
from batsched_py.cli.shared.output_paths import Named, check_apart, check_writable
from batsched_py.cli.shared.parameters import INPUT, PATH, clock_option, flag, option, read_names
from batsched_py.cli.shared.progress import runs_bar
from batsched_py.cli.shared.run_limit_options import run_limit_options
from batsched_py.cli.shared.runs import read_picture, save_picture
from batsched_py.cli.shared.signal_options import signal_files, signal_options
from batsched_py.cli.shared.simulation_options import behaviour_options, machine_options, platform_option
from batsched_py.cli.shared.sources import read_loads, read_seeds, say_seeds
from batsched_py.cli.shared.terminal import say, say_all
from batsched_py.cli.shared.time_window import TimeSpan, window_options
from batsched_py.cli.shared.variants import OrderedCommand, variant_options
from batsched_py.errors import OptionError
from batsched_py.files.output_file import writing
from batsched_py.loading import require
from batsched_py.runs.inputs import WorkloadLike
from batsched_py.runs.run_description import (
    other_files,
)
from batsched_py.simulator.generation import generation_of
from batsched_py.text.display import displayed
from batsched_py.text.wording import unlike

#: Limits; larger numbers are typing errors: more resamples change nothing, and no machine has more cores.
_MOST_PROCESSES: Final = 4096
#: Option, and field of the request -> the writer of its file.
_WRITERS: Final[Mapping[str, Callable[[Path, ComparisonSeries], None]]] = {
    "csv": write_csv,
    "groups": write_groups,
    "json": write_json,
    "latex": write_latex,
}


@typed_command(kind=OrderedCommand)
@platform_option
@option(
    "-w --workload files",
    "FILE",
    "Workload, Batsim JSON; each is a separate run for each algorithm.",
    type=INPUT,
    multiple=True,
)
@option(
    "--generate models",
    "MODEL:KEY=VALUE,...",
    "Instead of -w: generate a workload for each seed, such as lublin:jobs=300,load=0.9 (see generate); may be given"
    " several times.",
    multiple=True,
)
@option(
    "--seeds",
    "N|A-B,...",
    "Seeds for --generate: N of them, from 1 on, or those of a list such as 1-20,30  [default: 0-0]; with -w, for"
    " algorithms with an option seed.",
    callback=read_seeds,
    multiple=True,
)
@option(
    "--load loads",
    "L,...",
    "Loads for --generate, such as 0.6,0.8,1: the algorithms are compared at each.",
    callback=read_loads,
    multiple=True,
)
@option(
    "--every",
    "TIME",
    "With -w: each part of FILE of this length (7d), a workload or a log, is a workload.",
    type=TimeSpan(),
)
@variant_options
@option("--baseline", "NAME", "Algorithm to compare the others with.  [default: the first -s]")
@option(
    "--metrics",
    "NAME,...",
    f"Metrics to show, of {', '.join(METRICS)}.  [default: {', '.join(SHOWN)}]",
    multiple=True,
    callback=read_names,
    shell_complete=complete_list(METRICS),
)
@option(
    "--by",
    "MEMBER,...",
    "Also compare the waits of groups of jobs, by user, account, qos, partition, another member of jobs, or size.",
    multiple=True,
    callback=read_names,
)
@interval_options
@inference_options
@window_options("Measure what was submitted")
@option(
    "--warm-up",
    "auto|JOBS|TIME",
    "Do not measure the beginning of each run: until waits settle (auto: MSER-5, each run is made twice), so many jobs"
    " (500jobs), or a time (2d, as --skip).",
    callback=read_warm_up,
)
@flag("--differences", "Show differences from the baseline instead of ratios.")
@option(
    "--processes",
    "N",
    "Number of parallel runs.  [default: one for each core]",
    type=click.IntRange(1, _MOST_PROCESSES),
)
@run_limit_options
@option("-e --export", "FOLDER", "Write FOLDER/WORKLOAD/ALGORITHM_jobs.csv...", type=PATH)
@option("--csv", "FILE", "Write a row for each run.", type=PATH)
@option("--groups", "FILE", "Write a row for each group of --by and each algorithm (CSV).", type=PATH)
@option("--json", "FILE", "Write all runs, metrics and intervals.", type=PATH)
@option("--latex", "FILE", "Write the tables for a paper (booktabs).", type=PATH)
@option(
    "--methods",
    "FILE",
    "Describe algorithms, workloads, metrics and statistics for a paper (.tex, .md), and write their sources (.bib).",
    type=PATH,
    callback=read_methods,
)
@option("--figure", "FILE", "Draw the comparison (.pdf, .svg, .png).", type=PATH, callback=read_picture)
@option(
    "--figure-kind",
    None,
    "Kind of figure: ratios with intervals, values on all workloads, or means against an option that varies."
    "  [default: curve if one option varies, else forest]",
    type=click.Choice(KINDS),
)
@option("--report", "FILE", "Write an HTML page with tables, figures and every workload.", type=PATH)
@machine_options
@behaviour_options
@signal_options
@clock_option
@flag("--quiet", "No progress bar and no tables.")
def command(request: CompareRequest) -> int:
    """Run several algorithms on the same workloads, and compare them workload by workload.

    Each -s adds an algorithm; -o, --options-file and --name apply to the preceding -s. Each -w, or each seed, is one
    observation. Confidence intervals are over workloads, so a single workload has none.

    If an algorithm fails, that is reported, the others are compared, and the exit code is 3.
    """
    _check_options(request)
    inputs = read_inputs(request)
    keep = _writer(request, inputs)
    say_seeds()
    with runs_bar(wanted=not request.quiet) as progress:
        study = inputs.run(request, keep, progress)
    series = inputs.compare(request, study)
    _write_files(request, inputs, series)
    if keep is not None:
        events = other_files(events=request.events, **signal_files(request.settings))
        sources = inputs.workloads
        keep.describe(study, sources, inputs.settings, inputs.code, clock=request.clock, files=events, call=this_call())
    if not request.quiet:
        _show(series, differences=request.differences)
    return _report(series)


def _check_options(request: CompareRequest) -> None:
    """Check that options go together, and that extras are there. UsageError, ExtraError."""
    if request.warm_up is not None and not request.window.whole:
        raise click.UsageError("'--warm-up' and '--from', '--to', '--skip' exclude each other")
    if request.figure_kind is not None and request.figure is None:
        raise click.UsageError("'--figure-kind' goes with '--figure'")
    _check_groups(request)
    request.inference.check("compare --tests" if request.inference.tests else "compare --precision")
    for name in ("figure", "report"):
        if getattr(request, name) is not None:
            require("matplotlib", f"compare --{name}", "plot")  # checked before the runs, which may take long


def _writer(request: CompareRequest, inputs: ComparedInputs) -> StudyFiles | None:
    """Return the writer of the files of runs, if there is one, after checking all files. UsageError."""
    keep = None
    if request.export is not None:
        files = generation_of(inputs.settings).files
        keep = StudyFiles(request.export, inputs.settings.trace_machine_states, inputs.settings.energy, files)
    runs = {name: workload for name, (workload, _) in repeat_for_seeds(inputs.workloads, inputs.seeds).items()}
    names = [variant.name for variant in inputs.variants]
    read = [(file.role, Path(file.path)) for files in inputs.code.values() for file in files]
    _check_files(request, read, [] if keep is None else _paths(keep, runs, names))
    return keep


def _write_files(request: CompareRequest, inputs: ComparedInputs, series: ComparisonSeries) -> None:
    for name, path in request.files.items():
        with writing(path):
            if name in _WRITERS:
                _WRITERS[name](path, series)
            elif name == "methods":
                changed = changed_settings(inputs.settings)
                write_methods(path, Methods(series.parts, inputs.code, changed, clock=(request.clock,)))
            elif name == "report":
                write_page(path, series)
            else:
                save_picture(path, draw_comparison(series.parts, request.figure_kind))


def _check_groups(request: CompareRequest) -> None:
    """Raise UsageError for a member that is named twice, or a file of groups without any."""
    if request.groups is not None and not request.by:
        raise click.UsageError("'--groups' goes with '--by'")
    if len(set(request.by)) < len(request.by):
        raise click.UsageError(f"'--by' must name each member once, not {displayed(','.join(request.by))}")


def _paths(keep: StudyFiles, runs: Mapping[str, WorkloadLike], variants: Sequence[str]) -> list[Path]:
    """Return the paths of the files of all runs. UsageError if two are the same."""
    try:
        return keep.paths(runs, variants)
    except OptionError as error:
        raise click.UsageError(str(error)) from None


def _check_files(request: CompareRequest, read: Sequence[Named], results: Sequence[Path]) -> None:
    """Check before the runs, which may take long, that files are writable, none is an input, and all differ.

    `read` are the files of the algorithms.
    """
    inputs = [
        ("-p", request.platform),
        *(("-w", path) for path in request.workloads.files),
        ("--events", request.events),
        *((f"--{name}", path) for name, path in signal_files(request.settings).items()),
    ]
    inputs += [("--options-file", path) for path in request.variants.options_files]
    inputs += read
    outputs = [*((f"--{name}", path) for name, path in request.files.items()), *(("-e", path) for path in results)]
    if request.methods is not None:
        outputs.append(("--methods", request.methods.with_suffix(".bib")))
    check_apart(inputs, outputs)
    check_writable([path for _, path in outputs])


def _show(series: ComparisonSeries, *, differences: bool) -> None:
    show_series(series.parts, differences=differences)
    for part in series.parts:
        for one in part.comparison.groups:
            say()
            if part.name:
                say(displayed(part.name))
            show_table(group_table(one), folded=1)
            say_all(one.verdicts())
    if any(one.groups for one in series.comparisons):
        say()
        Output().print(explain_groups(series.comparisons[0].baseline), highlight=False)


def _report(series: ComparisonSeries) -> int:
    """Write warnings, approximations and errors to stderr, and return the exit code."""
    study = series.study
    warn = Warnings()
    for line in dict.fromkeys(line for one in series.comparisons for line in find_cautions(one)):
        warn(line)
    for where, line in group_lines((outcome, line) for outcome in study.outcomes for line in outcome.warnings):
        warn(f"{where}: {line}")
    for line in unlike(line for outcome in study.outcomes for line in outcome.approximations):
        say(f"approximation: {line}", err=True)
    for where, line in group_lines((outcome, outcome.error) for outcome in study.failures):
        say(f"batsched-py: error: {where}: {line}", err=True)
    return max((outcome.exit_code for outcome in study.failures), default=0)

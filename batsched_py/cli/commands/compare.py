"""`batsched-py compare`: several algorithms on the same workloads, with confidence intervals of their differences."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import click
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.campaigns.comparison import AlgorithmComparison, compare_algorithms, find_baseline, find_cautions
from batsched_py.campaigns.comparison_files import write_csv, write_groups, write_json, write_latex
from batsched_py.campaigns.comparison_page import write_page
from batsched_py.campaigns.comparison_table import comparison_tables, legend
from batsched_py.campaigns.figures import KINDS, Kind, draw_comparison
from batsched_py.campaigns.group_tables import explain_groups, group_table
from batsched_py.campaigns.metrics import ENERGY, METRICS, SHOWN, find_metrics
from batsched_py.campaigns.run_limits import RunLimits
from batsched_py.campaigns.study import group_lines
from batsched_py.campaigns.study_files import StudyFiles
from batsched_py.campaigns.study_runner import repeat_for_seeds, run_study
from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.campaign_tables import interval_options
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.completion import complete_list
from batsched_py.cli.shared.console import Output, show_table
from batsched_py.cli.shared.described_runs import this_call
from batsched_py.cli.shared.output_paths import Named, check_apart, check_writable
from batsched_py.cli.shared.parameters import INPUT, PATH, clock_option, flag, option, read_names
from batsched_py.cli.shared.progress import runs_bar
from batsched_py.cli.shared.run_limit_options import run_limit_options
from batsched_py.cli.shared.runs import read_picture, save_picture
from batsched_py.cli.shared.simulation_options import behaviour_options, machine_options, platform_option, read_machine
from batsched_py.cli.shared.sources import read_seeds, read_sources
from batsched_py.cli.shared.terminal import say, say_all
from batsched_py.cli.shared.time_window import window_options
from batsched_py.cli.shared.variants import OrderedCommand, VariantOptions, read_variants, variant_options
from batsched_py.errors import OptionError
from batsched_py.files.output_file import writing
from batsched_py.loading import require
from batsched_py.model.settings import Settings
from batsched_py.reporting.algorithm_files import files_of_algorithm
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.runs.inputs import WorkloadLike
from batsched_py.runs.run_description import (
    other_files,
    platform_file,
)
from batsched_py.simulator.generation import generation_of
from batsched_py.text.display import displayed
from batsched_py.text.wording import unlike

#: Limits; larger numbers are typing errors: more resamples change nothing, and no machine has more cores.
_MOST_PROCESSES: Final = 4096
#: Option, and field of the request -> the writer of its file.
_WRITERS: Final[Mapping[str, Callable[[Path, AlgorithmComparison], None]]] = {
    "csv": write_csv,
    "groups": write_groups,
    "json": write_json,
    "latex": write_latex,
    "report": write_page,
}


class CompareRequest(Struct, frozen=True):
    """The options of `compare`."""

    platform: Path
    workloads: tuple[Path, ...]
    models: tuple[str, ...]
    seeds: tuple[int, ...]
    variants: VariantOptions
    baseline: str | None
    metrics: tuple[str, ...]
    by: tuple[str, ...]
    level: float
    resamples: int
    differences: bool
    processes: int | None
    export: Path | None
    csv: Path | None
    json: Path | None
    groups: Path | None
    latex: Path | None
    figure: Path | None
    figure_kind: Kind | None
    report: Path | None
    settings: Settings
    events: Path | None
    clock: str
    quiet: bool
    window: WindowChoice
    limits: RunLimits

    @property
    def files(self) -> dict[str, Path]:
        """The requested files of the comparison, by option."""
        return {name: path for name in (*_WRITERS, "figure") if (path := getattr(self, name)) is not None}

    @property
    def shown(self) -> list[str]:
        """The names of the metrics to show. UsageError."""
        if not self.metrics:
            return [*SHOWN, ENERGY] if self.settings.energy else list(SHOWN)
        if ENERGY in self.metrics and not self.settings.energy:
            raise click.UsageError(f"'--metrics {ENERGY}' goes with '-E'")
        return list(self.metrics)


@typed_command(kind=OrderedCommand)
@platform_option
@option(
    "-w --workload workloads",
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
    "A-B,...",
    "Seeds for --generate, such as 1-20  [default: 0]; with -w, for algorithms with an option seed.",
    callback=read_seeds,
    multiple=True,
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
@window_options("Measure what was submitted")
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
@clock_option
@flag("--quiet", "No progress bar and no tables.")
def command(request: CompareRequest) -> int:
    """Run several algorithms on the same workloads, and compare them workload by workload.

    Each -s adds an algorithm; -o, --options-file and --name apply to the preceding -s. Each -w, or each seed, is one
    observation. Confidence intervals are over workloads, so a single workload has none.

    If an algorithm fails, that is reported, the others are compared, and the exit code is 3.
    """
    if request.figure_kind is not None and request.figure is None:
        raise click.UsageError("'--figure-kind' goes with '--figure'")
    _check_groups(request)
    for name in ("figure", "report"):
        if getattr(request, name) is not None:
            require("matplotlib", f"compare --{name}", "plot")  # checked before the runs, which may take long
    variants = read_variants(request.variants)
    baseline = find_baseline([variant.name for variant in variants], request.baseline)
    metrics = find_metrics(request.shown)
    platform, settings = read_machine(request.platform, request.events, request.settings)
    hosts = platform.with_roles(settings.roles).compute_hosts(settings.master_host)[: settings.machines]
    workloads = read_sources(request.workloads, request.models, request.seeds, len(hosts))
    seeds = request.seeds if request.workloads else ()  # for generated workloads, otherwise for algorithms
    if seeds and not any(variant.takes_seed for variant in variants):
        raise click.UsageError("'--seeds' goes with '--generate', or with an algorithm that has an option seed")
    keep = None
    if request.export is not None:
        files = generation_of(settings).files
        keep = StudyFiles(request.export, settings.trace_machine_states, settings.energy, files)
    machine = platform_file(request.platform)
    code = {one.name: files_of_algorithm(str(one.algorithm), one.options) for one in variants}
    runs = {name: workload for name, (workload, _) in repeat_for_seeds(workloads, seeds).items()}
    read = [(file.role, Path(file.path)) for files in code.values() for file in files]
    _check_files(request, read, [] if keep is None else _paths(keep, runs, [variant.name for variant in variants]))
    with runs_bar(wanted=not request.quiet) as progress:
        study = run_study(
            platform,
            workloads,
            variants,
            seeds=seeds,
            settings=settings,
            clock=request.clock,
            processes=request.processes or os.cpu_count() or 1,
            keep=keep,
            open_log=None if keep is None else keep.decisions,
            progress=progress,
            limits=current_limits(),
            window=request.window,
            run_limits=request.limits,
            by=request.by,
        )
    study = replace(study, platform=machine)
    comparison = compare_algorithms(study, metrics, baseline=baseline, level=request.level, resamples=request.resamples)
    for name, path in request.files.items():
        with writing(path):
            if name in _WRITERS:
                _WRITERS[name](path, comparison)
            else:
                save_picture(path, draw_comparison(comparison, request.figure_kind))
    if keep is not None:
        events = other_files(events=request.events)
        keep.describe(study, workloads, settings, code, clock=request.clock, files=events, call=this_call())
    if not request.quiet:
        _show(comparison, differences=request.differences)
    return _report(comparison)


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
    inputs = [("-p", request.platform), *(("-w", path) for path in request.workloads), ("--events", request.events)]
    inputs += [("--options-file", path) for path in request.variants.options_files]
    inputs += read
    outputs = [*((f"--{name}", path) for name, path in request.files.items()), *(("-e", path) for path in results)]
    check_apart(inputs, outputs)
    check_writable([path for _, path in outputs])


def _show(comparison: AlgorithmComparison, *, differences: bool) -> None:
    for table in comparison_tables(comparison, differences=differences):
        show_table(table, folded=0)
        say()
    Output().print(legend(comparison), highlight=False)
    for one in comparison.groups:
        say()
        show_table(group_table(one), folded=1)
        say_all(one.verdicts())
    if comparison.groups:
        say()
        Output().print(explain_groups(comparison.baseline), highlight=False)


def _report(comparison: AlgorithmComparison) -> int:
    """Write warnings, approximations and errors to stderr, and return the exit code."""
    study = comparison.study
    warn = Warnings()
    for line in find_cautions(comparison):
        warn(line)
    for where, line in group_lines((outcome, line) for outcome in study.outcomes for line in outcome.warnings):
        warn(f"{where}: {line}")
    for line in unlike(line for outcome in study.outcomes for line in outcome.approximations):
        say(f"approximation: {line}", err=True)
    for where, line in group_lines((outcome, outcome.error) for outcome in study.failures):
        say(f"batsched-py: error: {where}: {line}", err=True)
    return max((outcome.exit_code for outcome in study.failures), default=0)

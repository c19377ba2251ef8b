"""The options of `compare`, the inputs that it reads by them, and the study and comparisons that it makes of these."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.campaigns.algorithm_seeds import repeat_for_seeds
from batsched_py.campaigns.comparison import compare_algorithms, find_baseline
from batsched_py.campaigns.figure_kinds import Kind
from batsched_py.campaigns.inference import with_inference
from batsched_py.campaigns.methods.forms import FORMS
from batsched_py.campaigns.metrics import ENERGY, SHOWN, find_metrics
from batsched_py.campaigns.run_limits import RunLimits
from batsched_py.campaigns.series import ComparisonSeries, SeriesPart, WorkloadGroup, study_of
from batsched_py.campaigns.study import Study
from batsched_py.campaigns.study_files import StudyFiles
from batsched_py.campaigns.study_runner import ShowProgress, run_study
from batsched_py.campaigns.variant import Variant
from batsched_py.campaigns.warm_up import WarmUpChoice, parse_warm_up
from batsched_py.cli.shared.campaign_tables import InferenceChoice
from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.signal_options import SIGNAL_METRICS, signals_of
from batsched_py.cli.shared.simulation_options import read_machine
from batsched_py.cli.shared.sources import WorkloadOptions
from batsched_py.cli.shared.variants import VariantOptions, read_variants
from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.reporting.algorithm_files import files_of_algorithm
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.results.run_file import InputFile, OtherFile
from batsched_py.runs.inputs import WorkloadLike
from batsched_py.runs.run_description import platform_file

#: Options that name files of the comparison, and fields of the request.
FILES: Final = ("csv", "groups", "json", "latex", "methods", "report", "figure")


def read_methods(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """Check that the name of a text for a paper has a known suffix."""
    if value is not None and value.suffix not in FORMS:
        raise click.BadParameter(f"must end with {' or '.join(FORMS)}, not {value.name!r}", context, parameter)
    return value


def read_warm_up(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> WarmUpChoice | WindowChoice | None:
    """Parse "auto", "500jobs" or "2d". UsageError."""
    try:
        return None if value is None else parse_warm_up(value)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None


class CompareRequest(Struct, frozen=True):
    """The options of `compare`."""

    platform: Path
    workloads: WorkloadOptions
    variants: VariantOptions
    baseline: str | None
    metrics: tuple[str, ...]
    by: tuple[str, ...]
    level: float
    resamples: int
    inference: InferenceChoice
    differences: bool
    processes: int | None
    export: Path | None
    csv: Path | None
    json: Path | None
    groups: Path | None
    latex: Path | None
    methods: Path | None
    figure: Path | None
    figure_kind: Kind | None
    report: Path | None
    settings: Settings
    events: Path | None
    clock: str
    quiet: bool
    window: WindowChoice
    warm_up: WarmUpChoice | WindowChoice | None
    limits: RunLimits

    @property
    def files(self) -> dict[str, Path]:
        """The requested files of the comparison, by option."""
        return {name: path for name in FILES if (path := getattr(self, name)) is not None}

    @property
    def shown(self) -> list[str]:
        """The names of the metrics to show. UsageError."""
        signals = signals_of(self.settings)
        if not self.metrics:
            energy = [ENERGY, *(SIGNAL_METRICS[name] for name in signals)] if self.settings.energy else []
            return [*SHOWN, *energy]
        for name, metric in SIGNAL_METRICS.items():
            if metric in self.metrics and name not in signals:
                raise click.UsageError(f"'--metrics {metric}' goes with '--{name}'")
        if ENERGY in self.metrics and not self.settings.energy:
            raise click.UsageError(f"'--metrics {ENERGY}' goes with '-E'")
        return list(self.metrics)


class ComparedInputs(Struct, frozen=True):
    """The inputs of `compare`, all read before the first run.

    Attributes:
        platform, file: the hosts, and their file.
        settings: of the simulator, with external events.
        variants: the algorithms.
        code: algorithm -> its files.
        baseline: name of the algorithm that the others are compared with.
        metrics: the metrics to show.
        groups: the workloads.
        seeds: of the algorithms.
    """

    platform: Platform
    file: InputFile
    settings: Settings
    variants: Sequence[Variant]
    code: Mapping[str, tuple[OtherFile, ...]]
    baseline: str
    metrics: tuple[MetricInfo, ...]
    groups: tuple[WorkloadGroup, ...]
    seeds: tuple[int, ...]

    @property
    def workloads(self) -> dict[str, WorkloadLike]:
        """The workloads of all groups."""
        return {name: one for group in self.groups for name, one in group.workloads.items()}

    def run(self, request: CompareRequest, keep: StudyFiles | None, progress: ShowProgress | None) -> Study:
        """Execute all runs."""
        study = run_study(
            self.platform,
            self.workloads,
            self.variants,
            seeds=self.seeds,
            settings=self.settings,
            clock=request.clock,
            processes=request.processes or os.cpu_count() or 1,
            keep=keep,
            open_log=None if keep is None else keep.decisions,
            progress=progress,
            limits=current_limits(),
            window=request.warm_up if isinstance(request.warm_up, WindowChoice) else request.window,
            run_limits=request.limits,
            by=request.by,
            warm_up=request.warm_up if isinstance(request.warm_up, WarmUpChoice) else None,
        )
        known = {
            run: group.origins[name]
            for group in self.groups
            for name in group.origins
            for run in repeat_for_seeds({name: group.workloads[name]}, self.seeds)
        }
        return replace(study, platform=self.file, origins={**study.origins, **known})

    def compare(self, request: CompareRequest, study: Study) -> ComparisonSeries:
        """Compare the algorithms in each group."""
        parts = []
        for group in self.groups:
            part = study_of(study, repeat_for_seeds(group.workloads, self.seeds))
            found = compare_algorithms(
                part, self.metrics, baseline=self.baseline, level=request.level, resamples=request.resamples
            )
            parts.append(SeriesPart(group.values, found))
        tested = with_inference([part.comparison for part in parts], request.inference.wanted, "compare")
        whole = (replace(part, comparison=one) for part, one in zip(parts, tested, strict=True))
        return ComparisonSeries(study, tuple(whole))


def read_inputs(request: CompareRequest) -> ComparedInputs:
    """Read and check all inputs. UsageError, InputError, OptionError, PluginError."""
    variants = read_variants(request.variants)
    baseline = find_baseline([variant.name for variant in variants], request.baseline)
    metrics = find_metrics(request.shown)
    if request.inference.wanted.wanted and len(variants) == 1:
        raise click.UsageError("'--tests' and '--precision' need several algorithms: name another with '-s'")
    platform, settings = read_machine(request.platform, request.events, request.settings)
    hosts = platform.with_roles(settings.roles).compute_hosts(settings.master_host)[: settings.machines]
    groups = request.workloads.groups(len(hosts), current_limits())
    seeds = request.workloads.seeds if request.workloads.files else ()
    if seeds and not any(variant.takes_seed for variant in variants):
        raise click.UsageError("'--seeds' goes with '--generate', or with an algorithm that has an option seed")
    code = {one.name: files_of_algorithm(str(one.algorithm), one.options) for one in variants}
    machine = platform_file(request.platform)
    return ComparedInputs(platform, machine, settings, variants, code, baseline, metrics, groups, seeds)

"""Tables of campaigns on a terminal: their progress, and the algorithms in each group of workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import click
from msgspec import Struct
from msgspec.structs import replace
from rich import box
from rich.table import Table
from rich.text import Text

from batsched_py.campaigns.bootstrap import LEVEL, RESAMPLES
from batsched_py.campaigns.comparison import Inference, find_cautions
from batsched_py.campaigns.comparison_table import comparison_tables, legend
from batsched_py.campaigns.execution.campaign_runner import CampaignState
from batsched_py.campaigns.inference import with_inference
from batsched_py.campaigns.metrics import ENERGY, METRICS, SHOWN, find_metrics
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.pair_tests import require_scipy
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.results.dimensions import series_of
from batsched_py.campaigns.results.groups import GroupComparison, compare_groups, group_studies
from batsched_py.campaigns.series import SeriesPart
from batsched_py.campaigns.study import group_lines
from batsched_py.campaigns.tuning.trial import Trial, best_trials
from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.completion import complete_list
from batsched_py.cli.shared.console import Output, show_table
from batsched_py.cli.shared.parameters import Number, Percentage, flag, option, read_names, together
from batsched_py.cli.shared.terminal import say
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, spelled, unlike

#: Upper limit: more are a typing error.
_MOST_RESAMPLES: Final = 1_000_000

#: Maximum number of displayed trials of a search.
_BEST: Final = 10

interval_options: Final = together(
    option(
        "--level",
        "P",
        "Level of the confidence intervals.",
        type=Number(0, 1, min_open=True, max_open=True),
        default=LEVEL,
    ),
    option(
        "--resamples",
        "N",
        "Number of bootstrap resamples for the intervals.",
        type=click.IntRange(100, _MOST_RESAMPLES),
        default=RESAMPLES,
    ),
)
inference_options: Final = together(
    flag(
        "--tests",
        "Also show effect sizes, and p values of signed-rank tests by Holm's procedure (extra statistics).",
    ),
    option(
        "--precision",
        "P%",
        "Also show how many workloads differences need to be known within P % of the baseline's mean (extra"
        " statistics).",
        type=Percentage(),
    ),
)
comparison_options: Final = together(
    option(
        "--metrics",
        "NAME,...",
        "Metrics to show.  [default: those of the study file, or those of compare]",
        multiple=True,
        callback=read_names,
        shell_complete=complete_list(METRICS),
    ),
    interval_options,
)


class InferenceChoice(Struct, frozen=True):
    """The values of `inference_options`."""

    tests: bool
    precision: float | None

    def check(self, use: str) -> None:
        """Check before runs, which may take long, that scipy is there. ExtraError."""
        if self.wanted.wanted:
            require_scipy(use)

    @property
    def wanted(self) -> Inference:
        """The statistics that are asked for."""
        return Inference(self.tests, self.precision)


def infer(groups: Sequence[GroupComparison], inference: Inference, use: str) -> list[GroupComparison]:
    """Return the groups with the statistics that are asked for. ExtraError."""
    tested = with_inference([one.comparison for one in groups], inference, use)
    return [replace(one, comparison=comparison) for one, comparison in zip(groups, tested, strict=True)]


class GroupsCompared(Struct, frozen=True):
    """The values of `comparison_options`."""

    metrics: tuple[str, ...]
    level: float
    resamples: int

    def of(self, plan: CampaignPlan, state: CampaignState) -> Sequence[GroupComparison]:
        """Compare the algorithms in each group; without chosen metrics, by those of the study file. OptionError."""
        metrics = metrics_of(plan, self.metrics)
        groups, baseline = group_studies(plan, state.ended), plan.campaign.baseline
        return compare_groups(groups, metrics, baseline, level=self.level, resamples=self.resamples)


def metrics_of(plan: CampaignPlan, wanted: Sequence[str] = ()) -> tuple[MetricInfo, ...]:
    """Return the wanted metrics, or else those of the study file, or the usual ones. OptionError."""
    energy = all(setting.environment.settings.energy for setting in plan.settings)
    usual = [*SHOWN, ENERGY] if energy else list(SHOWN)
    return find_metrics(wanted or plan.campaign.metrics or usual)


def state_table(plan: CampaignPlan, state: CampaignState) -> Table:
    """Return a table of the numbers of all, done, failed and missing runs, by setting, group and algorithm."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("platform", "workloads", "algorithm"):
        table.add_column(heading)
    for heading in ("runs", "done", "failed", "missing"):
        table.add_column(heading, justify="right")
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for run in plan.runs:
        count = counts.setdefault((run.setting.name, run.source.group, run.variant.name), Counter())
        what = "done" if run.key in state.done else "failed" if run.key in state.failed else "missing"
        count.update(("runs", what))
    for names, count in counts.items():
        numbers = (str(count[name]) for name in ("runs", "done", "failed", "missing"))
        table.add_row(*(Text(displayed(name)) for name in names), *numbers)
    return table


def progress_text(plan: CampaignPlan, state: CampaignState) -> str:
    """Return the progress of a campaign as a line, which counts identical runs once."""
    counts = f"{len(state.done)} done, {len(state.failed)} failed, {len(state.missing)} missing"
    return f"{counted(len(plan.keys), 'run')}: {counts}"


def trials_table(trials: Sequence[Trial], metric: MetricInfo) -> Table:
    """Return a table of the best trials, the best first, without those that have no value."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("trial", justify="right")
    table.add_column(metric.heading, justify="right")
    for name in trials[0].options:
        table.add_column(displayed(name))
    best = best_trials(trials, metric)[:_BEST]
    metric = metric.rounded(trial.value for trial in best if trial.value is not None)
    for trial in best:
        value = "" if trial.value is None else metric.text(trial.value)
        table.add_row(str(trial.number), value, *(Text(displayed(spelled(one))) for one in trial.options.values()))
    return table


def report_approximations(plan: CampaignPlan, state: CampaignState) -> None:
    """Write the approximations of successful runs to stderr, each once."""
    ended = (state.done[run.key] for run in plan.runs if run.key in state.done)
    for line in dict.fromkeys(line for run in ended for line in run.outcome.approximations):
        say(f"approximation: {line}", err=True)


def report_failures(plan: CampaignPlan, state: CampaignState) -> int:
    """Write the errors of runs to stderr, each once for an algorithm, and return the exit code."""
    failures = [
        replace(state.failed[run.key].outcome, workload=run.workload, variant=run.variant.name)
        for run in plan.runs
        if run.key in state.failed
    ]
    for where, line in group_lines((outcome, outcome.error) for outcome in failures):
        say(f"batsched-py: error: {where}: {line}", err=True)
    return max((outcome.exit_code for outcome in failures), default=0)


def show_groups(groups: Sequence[GroupComparison], *, differences: bool) -> None:
    """Print the tables of all groups, with a column for what distinguishes them; the name of the only one above it."""
    if len(groups) == 1:
        say(displayed(groups[0].group.name))
        say()
    show_series(series_of(groups), differences=differences)


def show_series(parts: Sequence[SeriesPart], *, differences: bool) -> None:
    """Print the tables of a series, and what they mean."""
    for table in comparison_tables(parts, differences=differences):
        show_table(table, folded=0)
        say()
    Output().print(legend(*(part.comparison for part in parts)), highlight=False)


def warn_of_groups(groups: Sequence[GroupComparison]) -> None:
    """Write cautions, warnings and approximations of the runs to stderr, each once."""
    warn = Warnings()
    for line in dict.fromkeys(line for one in groups for line in find_cautions(one.comparison)):
        warn(line)
    outcomes: list[Outcome] = [outcome for one in groups for outcome in one.comparison.study.outcomes]
    for where, line in group_lines((outcome, line) for outcome in outcomes for line in outcome.warnings):
        warn(f"{where}: {line}")
    for line in unlike(line for outcome in outcomes for line in outcome.approximations):
        say(f"approximation: {line}", err=True)

"""Studies: the outcomes of several algorithms on several workloads, with their warnings and errors."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from batsched_py.campaigns.data_frame import data_frame
from batsched_py.campaigns.metrics import METRICS, SHOWN, find_metrics
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.variant import Variant
from batsched_py.reporting.metrics.catalogue import metric_names
from batsched_py.reporting.metrics.job_sample import JobSample
from batsched_py.reporting.pictures.html.markup import paragraph, plain_table
from batsched_py.reporting.schedules.time_window import WHOLE, WindowChoice
from batsched_py.results.run_file import InputFile, WorkloadFile
from batsched_py.text.display import displayed
from batsched_py.text.representation import Brief
from batsched_py.text.wording import NOTHING, counted, seconds

if TYPE_CHECKING:
    from pandas import DataFrame

    from batsched_py.campaigns.figure_kinds import Kind
    from batsched_py.reporting.pictures.drawing import Picture

#: Number of workloads that a line about several workloads names.
_NAMED: Final = 3
#: Maximum number of runs of a study that a notebook shows; a data frame has all.
MOST_RUNS: Final = 50


class WarmUp(Brief, frozen=True):
    """The beginnings of the runs of a study that are not measured.

    Attributes:
        rule: the rule in words, for "Warm-up cut: ...".
        begins: workload -> seconds on its clock from which on submitted jobs, and the time of hosts, are measured.
        unsteady: the workloads on which no end of the warm-up was found: only half of their jobs are left.
    """

    rule: str
    begins: Mapping[str, float]
    unsteady: tuple[str, ...] = ()

    def of(self, runs: Collection[str], seeds: Sequence[int]) -> WarmUp:
        """Return the same for the workloads that have these runs, which seeds of algorithms repeat."""
        names = [name for name in self.begins if name in runs or any(f"{name}-seed-{seed}" in runs for seed in seeds)]
        begins = {name: self.begins[name] for name in names}
        return WarmUp(self.rule, begins, tuple(name for name in self.unsteady if name in begins))

    def __str__(self) -> str:
        """Return what was cut: "the first 50 jobs of each workload, 3600 to 7200 s"; without times before any run."""
        if not self.begins:
            return self.rule
        low, high = min(self.begins.values()), max(self.begins.values())
        return f"{self.rule}, {seconds(low)}{f' to {seconds(high)}' if low < high else ''} s"


class Study(Brief, frozen=True):
    """All runs of several algorithms on several workloads.

    Attributes:
        workloads: names.
        variants: the algorithms.
        outcomes: all algorithms on the first workload, then all on the second...
        seeds: seeds of the algorithms' own random numbers; `workloads` has each workload once for each seed, side by
            side. Empty if algorithms were not given seeds.
        origins: workload -> where it is from: its file, or the model that it was drawn from.
        platform: the file of the hosts; None if it is not known.
        window: the part of each run that was measured.
        by: what jobs are grouped by: members of jobs, or "size".
        warm_up: what is not measured at the beginning of each run; None for nothing, or what `window` says.
    """

    workloads: tuple[str, ...]
    variants: tuple[Variant, ...]
    outcomes: tuple[Outcome, ...]
    seeds: tuple[int, ...] = ()
    origins: Mapping[str, WorkloadFile] = {}
    platform: InputFile | None = None
    window: WindowChoice = WHOLE
    by: tuple[str, ...] = ()
    warm_up: WarmUp | None = None

    def seed_of(self, outcome: Outcome) -> int | None:
        """Return the seed of a run: the workload's or the algorithm's; None if it has none."""
        origin = self.origins.get(outcome.workload)
        drawn = None if origin is None or self.seeds else origin.generator.get("seed")
        seed = outcome.options.get("seed") if drawn is None else drawn
        return seed if isinstance(seed, int) else None

    @property
    def observed(self) -> str:
        """The unit of observation: "workloads", or "seeds" if there is one workload with several seeds."""
        return "seeds" if 1 < len(self.seeds) == len(self.workloads) else "workloads"

    @property
    def observations(self) -> int:
        """The number of observations: a workload that was run with several seeds is one, unless it is the only one."""
        return len(self.workloads) if self.observed == "seeds" else len(self.workloads) // max(len(self.seeds), 1)

    def of(self, variant: str) -> tuple[Outcome, ...]:
        """Return the runs of an algorithm, in the order of the workloads."""
        return tuple(outcome for outcome in self.outcomes if outcome.variant == variant)

    @property
    def job_samples(self) -> dict[str, list[JobSample]]:
        """Variant -> the jobs of each of its runs.

        An algorithm that failed on a workload is left out: its jobs would be others than those of the others.
        """
        samples = {}
        for variant in self.variants:
            outcomes = self.of(variant.name)
            found = [outcome.jobs for outcome in outcomes if outcome.jobs is not None]
            if len(found) == len(outcomes):
                samples[variant.name] = found
        return samples

    def columns(self) -> dict[str, list[Any]]:
        """Return the runs as columns, name -> values: names, seed, all metrics in SI units, and the error."""
        outcomes = self.outcomes
        columns: dict[str, list[Any]] = {
            "workload": [outcome.workload for outcome in outcomes],
            "algorithm": [outcome.variant for outcome in outcomes],
            "seed": [self.seed_of(outcome) for outcome in outcomes],
        }
        names = metric_names(outcome.metrics for outcome in outcomes if outcome.metrics is not None)
        values = [{} if outcome.metrics is None else outcome.metrics.by_name for outcome in outcomes]
        columns |= {name: [one.get(name) for one in values] for name in names}
        return {**columns, "error": [outcome.error for outcome in outcomes]}

    def frame(self) -> DataFrame:
        """Return the runs as a DataFrame of pandas: a row each, the columns of `columns()`. ExtraError without it."""
        return data_frame(self.columns(), "Study.frame")

    def plot(
        self,
        kind: Kind = "boxes",
        metrics: Sequence[str] = SHOWN,
        *,
        width: float = 3.5,
        height: float | None = None,
        title: str = "",
    ) -> Picture:
        """Draw the algorithms by these metrics, as `AlgorithmComparison.plot` does; boxes are over all workloads.

        OptionError for an unknown metric, or if there is nothing of that kind; ExtraError without matplotlib (`plot`).
        """
        comparison = importlib.import_module("batsched_py.campaigns.comparison")  # it imports this module
        compared = comparison.compare_algorithms(self, find_metrics(metrics))
        picture: Picture = compared.plot(kind, width=width, height=height, title=title)
        return picture

    def _repr_html_(self) -> str:
        metrics = [METRICS[name] for name in SHOWN]

        def cells(outcome: Outcome) -> list[str]:
            run = outcome.metrics
            values = [None if run is None else metric.of(run) for metric in metrics]
            texts = [
                NOTHING if value is None else metric.text(value) for metric, value in zip(metrics, values, strict=True)
            ]
            return [escape(displayed(text)) for text in (outcome.workload, outcome.variant, *texts, outcome.error)]

        caption = f"{counted(len(self.variants), 'algorithm')} on {counted(len(self.workloads), 'workload')}"
        heads = ["workload", "algorithm", *(metric.heading for metric in metrics), "error"]
        table = plain_table(caption, heads, map(cells, self.outcomes[:MOST_RUNS]))
        left = len(self.outcomes) - MOST_RUNS
        return table + (paragraph(f"and {counted(left, 'more run', 'more runs')}") if left > 0 else "")

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The runs that failed."""
        return tuple(outcome for outcome in self.outcomes if outcome.failed)


def group_lines(lines: Iterable[tuple[Outcome, str]]) -> Iterator[tuple[str, str]]:
    """Yield each line of an algorithm once, after its runs: "easy on w1", "easy on 7 workloads (w1, w2, w3...)"."""
    workloads: dict[tuple[str, str], list[str]] = {}
    for outcome, line in lines:
        workloads.setdefault((outcome.variant, line), []).append(outcome.workload)
    for (variant, line), names in workloads.items():
        distinct = list(dict.fromkeys(names))
        some = ", ".join(distinct[:_NAMED]) + ("..." if len(distinct) > _NAMED else "")
        yield f"{variant} on {some if len(distinct) == 1 else f'{len(distinct)} workloads ({some})'}", line

"""Studies: the outcomes of several algorithms on several workloads, with their warnings and errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from batsched_py.campaigns.study_tables import data_frame, study_columns, study_html
from batsched_py.model.features import Features
from batsched_py.reporting.metrics.catalogue import RunMetrics
from batsched_py.reporting.schedules.time_window import WHOLE, WindowChoice
from batsched_py.results.run_file import InputFile, WorkloadFile
from batsched_py.runs.choice import AlgorithmLike, load_class
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import describe_options
from batsched_py.text.representation import Brief
from batsched_py.text.wording import spelled

if TYPE_CHECKING:
    from pandas import DataFrame

#: Number of workloads that a line about several workloads names.
_NAMED: Final = 3


class Variant(Struct, frozen=True):
    """An algorithm with its options and a name for tables.

    Attributes:
        name: unique in the study.
        algorithm: a name as after `-s`, or a class.
        options: texts as after `-o`, or values.
    """

    name: str
    algorithm: AlgorithmLike
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scheduler(self) -> type[Scheduler[Any]]:
        """The algorithm's class. PluginError."""
        return load_class(self.algorithm)

    @property
    def takes_seed(self) -> bool:
        """True if the algorithm has an option `seed` that is not given. PluginError."""
        known = {info.name for info in describe_options(self.scheduler.options_type)}
        return "seed" in known and "seed" not in self.options

    def with_seed(self, seed: int | None) -> Variant:
        """Return the variant with this seed, or the variant itself if it takes none."""
        if seed is None or not self.takes_seed:
            return self
        return replace(self, options={**self.options, "seed": seed})


class Outcome(Brief, frozen=True):
    """The outcome of one algorithm on one workload.

    Attributes:
        workload, variant: names.
        metrics: the metrics of the run, as `batsched-py metrics` has them; None if it failed.
        ran: equal for two runs if the same jobs ran, whatever their final states.
        succeeded: equal for two runs if the same jobs succeeded.
        warnings: warnings, a line each.
        approximations: simplifications of the simulator, a line each.
        error: one line if the run failed; "" if it ended normally.
        exit_code: the exit code for the error; 0 without one.
        options: options that the algorithm ran with, defaults included, as JSON values.
        features: the features that the algorithm requested of Batsim 5; None for earlier versions.
    """

    workload: str
    variant: str
    metrics: RunMetrics | None = None
    ran: str = ""
    succeeded: str = ""
    warnings: tuple[str, ...] = ()
    approximations: tuple[str, ...] = ()
    error: str = ""
    exit_code: int = 0
    options: Mapping[str, Any] = {}
    features: Features | None = None

    @property
    def failed(self) -> bool:
        """True if the run ended with an error."""
        return bool(self.error)


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
    """

    workloads: tuple[str, ...]
    variants: tuple[Variant, ...]
    outcomes: tuple[Outcome, ...]
    seeds: tuple[int, ...] = ()
    origins: Mapping[str, WorkloadFile] = {}
    platform: InputFile | None = None
    window: WindowChoice = WHOLE

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

    def columns(self) -> dict[str, list[Any]]:
        """Return the runs as columns, name -> values: names, seed, all metrics in SI units, and the error."""
        return study_columns(self)

    @property
    def runs(self) -> DataFrame:
        """The runs as a DataFrame of pandas, a row each, with the columns of `columns()`. ExtraError without it."""
        return data_frame(self.columns(), "Study.runs")

    def _repr_html_(self) -> str:
        return study_html(self)

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The runs that failed."""
        return tuple(outcome for outcome in self.outcomes if outcome.failed)


def label_variant(algorithm: str, options: Mapping[str, Any]) -> str:
    """Return the name of an algorithm with its given options, written as after -o."""
    told = ", ".join(f"{key}={spelled(value)}" for key, value in options.items())
    return f"{algorithm}({told})" if told else algorithm


def group_lines(lines: Iterable[tuple[Outcome, str]]) -> Iterator[tuple[str, str]]:
    """Yield each line of an algorithm once, after its runs: "easy on w1", "easy on 7 workloads (w1, w2, w3...)"."""
    workloads: dict[tuple[str, str], list[str]] = {}
    for outcome, line in lines:
        workloads.setdefault((outcome.variant, line), []).append(outcome.workload)
    for (variant, line), names in workloads.items():
        distinct = list(dict.fromkeys(names))
        some = ", ".join(distinct[:_NAMED]) + ("..." if len(distinct) > _NAMED else "")
        yield f"{variant} on {some if len(distinct) == 1 else f'{len(distinct)} workloads ({some})'}", line

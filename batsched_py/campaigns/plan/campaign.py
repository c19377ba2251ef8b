"""A campaign: platforms, workloads, algorithms, options and settings; each combination of these is a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from msgspec import Struct

from batsched_py.campaigns.plan.paper_table import PaperChoice
from batsched_py.campaigns.run_limits import NO_LIMITS, RunLimits
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.reporting.schedules.time_window import WHOLE, WindowChoice
from batsched_py.traces.cleaning import CleaningRules
from batsched_py.traces.delay_workload import DELAYS, TimedWork
from batsched_py.traces.formats import Unit

#: The simulator: the embedded one, or the program `batsim` on the workers' path.
SimulatorName = Literal["embedded", "batsim"]


class PlatformChoice(Struct, frozen=True):
    """A platform file, under its name in tables."""

    name: str
    path: Path


class FileWorkloads(Struct, frozen=True):
    """Workload files, Batsim JSON; each is an observation of the group `name`."""

    name: str
    paths: tuple[Path, ...]

    @property
    def least(self) -> int:
        """The number of its workloads."""
        return len(self.paths)


class LogWorkloads(Struct, frozen=True):
    """A log, divided into workloads, each an observation of the group `name`.

    Attributes:
        name: of the group.
        path: a log, or a workload in JSON.
        form: the name of a format of logs; "" for the one that its content tells.
        every: seconds of each part; None for the log as one workload.
        window: the part of the log that is used.
        rules: rules of cleaning.
        unit: the unit that a host represents, for formats with a choice; None for the first one.
        work: the kind of work of its jobs.
    """

    name: str
    path: Path
    form: str = ""
    every: float | None = None
    window: WindowChoice = WHOLE
    rules: CleaningRules = CleaningRules()
    unit: Unit | None = None
    work: TimedWork = DELAYS
    #: The minimum number of its workloads; the number of parts is known only after the log is read.
    least: ClassVar[int] = 1


class ModelWorkloads(Struct, frozen=True):
    """Workloads drawn from the Lublin model: a group for each combination of parameters, an observation for each seed.

    Attributes:
        name: prefix of the names of the groups.
        parameters: parameter -> values: jobs, load, overestimate, hosts, speed. Without `hosts`, those of the platform.
        seeds: of the workloads.
    """

    name: str
    parameters: Mapping[str, tuple[Any, ...]]
    seeds: tuple[int, ...]

    @property
    def least(self) -> int:
        """The number of its workloads."""
        return _combinations(self.parameters) * len(self.seeds)


WorkloadChoice = FileWorkloads | LogWorkloads | ModelWorkloads


class AlgorithmSweep(Struct, frozen=True):
    """An algorithm with values for its options: each combination of them is a variant.

    Attributes:
        algorithm: as after -s.
        options: option -> values.
        name: prefix of the names of its variants; "" for the name of its class.
    """

    algorithm: str
    options: Mapping[str, tuple[Any, ...]]
    name: str = ""


class SimulatorSettings(Struct, frozen=True):
    """The settings of some runs.

    Attributes:
        settings: those of the simulator, without external events.
        events: file of external events; None for none.
        carbon, price: files of the carbon intensity and the price of energy; None for none.
        clock: the time that decisions take, as after --clock.
        simulator: the simulator.
        given: name -> value, as the study file has them.
    """

    settings: Settings = DEFAULTS
    events: Path | None = None
    carbon: Path | None = None
    price: Path | None = None
    clock: str = "zero"
    simulator: SimulatorName = "embedded"
    given: Mapping[str, Any] = {}


class TuningChoice(Struct, frozen=True):
    """The search for options of an algorithm, as the study file describes it.

    Attributes:
        algorithm: as after -s.
        options: option -> its possible values: true for all that its type allows, a list, or bounds.
        fixed: options that are not tuned.
        metric: name of the metric by which options are judged.
        trials: number of options to try.
        seed: of the search.
    """

    algorithm: str
    options: Mapping[str, Any]
    fixed: Mapping[str, Any] = {}
    metric: str = "mean_bounded_slowdown"
    trials: int = 50
    seed: int = 0


class Campaign(Struct, frozen=True):
    """The content of a study file.

    Attributes:
        source: the study file.
        platforms, workloads, algorithms, settings: at least one each; each combination of them is run.
        title: title in figures and tables.
        seeds: seeds of the algorithms that take one; each workload is run once for each of them. Empty for none.
        window: the part of each run that is measured.
        warm_up_jobs: the number of jobs of each workload that are not measured, instead of a window; 0 for none.
        baseline: name of the variant that others are compared with; None for the first.
        metrics: names of the metrics that tables show; empty for the usual ones.
        jobs: True if the dataset also has a row for each job.
        tuning: the search for options; None if there is none.
        limits: of each run.
        paper: the statistics and the figures of the folder for a paper.
    """

    source: Path
    platforms: tuple[PlatformChoice, ...]
    workloads: tuple[WorkloadChoice, ...]
    algorithms: tuple[AlgorithmSweep, ...]
    settings: tuple[SimulatorSettings, ...] = (SimulatorSettings(),)
    title: str = ""
    seeds: tuple[int, ...] = ()
    window: WindowChoice = WHOLE
    warm_up_jobs: int = 0
    baseline: str | None = None
    metrics: tuple[str, ...] = ()
    jobs: bool = False
    tuning: TuningChoice | None = None
    limits: RunLimits = NO_LIMITS
    paper: PaperChoice = PaperChoice()

    @property
    def least_runs(self) -> int:
        """The minimum number of its runs: each log counts as one workload."""
        variants = sum(_combinations(one.options) for one in self.algorithms)
        workloads = sum(one.least for one in self.workloads)
        return len(self.platforms) * len(self.settings) * workloads * (len(self.seeds) or 1) * variants


def _combinations(values: Mapping[str, tuple[Any, ...]]) -> int:
    return math.prod(map(len, values.values()))

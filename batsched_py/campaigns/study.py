"""A study: each of several algorithms on each of several workloads, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from signal import Signals
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from batsched_py.brief import Brief
from batsched_py.campaigns.portable import check_portable
from batsched_py.campaigns.processes import run_apart
from batsched_py.campaigns.simulate import PlatformLike, Run, simulate
from batsched_py.campaigns.sources import Source, read_source
from batsched_py.errors import BatschedError, OptionError
from batsched_py.model.limits import LIMITS, Limits
from batsched_py.model.platform import Platform
from batsched_py.plugins import load
from batsched_py.reporting.metrics.run_figures import RunFigures, measure_run
from batsched_py.reporting.metrics.same_jobs import marks_of
from batsched_py.reporting.schedules.schedule import schedule_of
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import describe_options
from batsched_py.session.clock import parse_clock
from batsched_py.session.session import Session
from batsched_py.simulator.records import Result
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.simulation import DEFAULTS, Simulation
from batsched_py.traces.simgrid_xml import read_platform

#: Is called with the names of a workload and of an algorithm, and what the simulation left.
Keep = Callable[[str, str, Result], None]


class Variant(Struct, frozen=True):
    """An algorithm with its options, under the name that tables call it by.

    Attributes:
        name: unlike all others of the study.
        algorithm: what comes after `-s`, or a class.
        options: texts as after `-o`, or values.
    """

    name: str
    algorithm: str | type[Scheduler[Any]]
    options: Mapping[str, Any] = field(default_factory=dict)


class Outcome(Brief, frozen=True):
    """What became of one algorithm on one workload.

    Attributes:
        workload, variant: their names.
        figures: of the run, as `batsched-py metrics` has them; None if it failed.
        ran: the same for two runs if the same jobs ran, whatever became of them.
        succeeded: the same for two runs if the same jobs succeeded.
        warnings: what was strange but legal, a line each.
        approximations: what the simulator simplified, a line each.
        error: one line if the run failed; "" if it came to its end.
        exit_code: what the error is worth; 0 without one.
    """

    workload: str
    variant: str
    figures: RunFigures | None = None
    ran: str = ""
    succeeded: str = ""
    warnings: tuple[str, ...] = ()
    approximations: tuple[str, ...] = ()
    error: str = ""
    exit_code: int = 0


class Study(Brief, frozen=True):
    """All runs.

    Attributes:
        workloads: their names.
        variants: the algorithms.
        outcomes: all algorithms on the first workload, then all on the second...
        seeds: of the algorithms' own random numbers; `workloads` has each workload once for each of them, side by side.
            Empty if algorithms were not given seeds.
    """

    workloads: tuple[str, ...]
    variants: tuple[Variant, ...]
    outcomes: tuple[Outcome, ...]
    seeds: tuple[int, ...] = ()

    @property
    def observed(self) -> str:
        """What one observation is of: "workloads", or "seeds" if there is one workload for several of them."""
        return "seeds" if 1 < len(self.seeds) == len(self.workloads) else "workloads"

    @property
    def observations(self) -> int:
        """How many there are: a workload that several seeds ran is one, unless it is the only one."""
        return len(self.workloads) if self.observed == "seeds" else len(self.workloads) // max(len(self.seeds), 1)

    def of(self, variant: str) -> tuple[Outcome, ...]:
        """The runs of an algorithm, in the order of the workloads."""
        return tuple(outcome for outcome in self.outcomes if outcome.variant == variant)

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The runs that did not come to their end."""
        return tuple(outcome for outcome in self.outcomes if outcome.error)


def takes_seed(variant: Variant) -> bool:
    """True if its algorithm has an option `seed` that is still to be given. PluginError."""
    scheduler = load(variant.algorithm) if isinstance(variant.algorithm, str) else variant.algorithm
    known = {info.name for info in describe_options(scheduler.options_type)}
    return "seed" in known and "seed" not in variant.options


def seeded(workloads: Mapping[str, Source], seeds: Sequence[int]) -> dict[str, tuple[Source, int | None]]:
    """Each workload once for each seed of the algorithms, under a name of its own; as it is without seeds."""
    if not seeds:
        return {name: (source, None) for name, source in workloads.items()}
    return {f"{name}-seed-{seed}": (source, seed) for name, source in workloads.items() for seed in seeds}


def run_study(
    platform: PlatformLike,
    workloads: Mapping[str, Source],
    variants: Sequence[Variant],
    *,
    seeds: Sequence[int] = (),
    settings: Settings = DEFAULTS,
    clock: str = "zero",
    processes: int | None = None,
    keep: Keep | None = None,
    progress: Callable[[int, int], None] | None = None,
    limits: Limits = LIMITS,
) -> Study:
    """Simulate each workload with each algorithm. An algorithm that fails spoils its own run only.

    Args:
        platform: a SimGrid file, or a platform.
        workloads: name -> a Batsim file, a workload, or a model to draw it from.
        variants: the algorithms, each under a name of its own.
        seeds: each workload is run once for each, by algorithms that have an option `seed`; the others do the same for
            each, and run once unless there is a `keep`.
        settings: what `simulate` has options for.
        clock: how long decisions take, as after `--clock`.
        processes: how many runs at a time, each in a process of its own; None for one after the other in this process.
            The outcomes are the same. What is handed over is pickled then, classes of a script or a notebook with what
            they use of it.
        keep: is called after each run, in the process that ran it, with the names of the workload and of the algorithm
            and the result, which has the rows of the trace files then.
        progress: is called with the number of runs that are over, from 0 on, and of all.
        limits: how much is read of files.

    Raises what is wrong with the input before anything runs, as `simulate` does: PlatformError, WorkloadError,
    PluginError and OptionError.
    """
    machine = platform if isinstance(platform, Platform) else read_platform(Path(platform), limits=limits)
    settings = replace(settings, roles=dict(settings.roles))  # which can be pickled
    _check(machine, workloads, variants, settings, clock, limits=limits)
    if processes is not None:
        for variant in variants:
            check_portable(variant.algorithm, variant.name)
        check_portable(keep, "keep")
    runs = seeded(workloads, seeds)
    tasks: dict[tuple[object, ...], _Task] = {}  # by what tells them apart
    places = []
    for name, (source, seed) in runs.items():
        for variant in variants:
            mine = _with_seed(variant, seed)
            key = (name if keep is not None or mine is not variant or seed is None else id(source), variant.name)
            tasks.setdefault(key, _Task(machine, name, source, mine, settings, clock, keep, limits))
            places.append((name, key))
    outcomes: dict[int, Outcome] = {}
    if progress is not None:
        progress(0, len(tasks))
    with closing(_outcomes(list(tasks.values()), processes)) as ending:
        for position, outcome in ending:
            outcomes[position] = outcome
            if progress is not None:
                progress(len(outcomes), len(tasks))
    ended = {key: outcomes[position] for position, key in enumerate(tasks)}
    whole = tuple(replace(ended[key], workload=name) for name, key in places)
    return Study(tuple(runs), tuple(variants), whole, tuple(seeds))


def _with_seed(variant: Variant, seed: int | None) -> Variant:
    """The same variant if it takes none."""
    if seed is None or not takes_seed(variant):
        return variant
    return replace(variant, options={**variant.options, "seed": seed})


def _check(
    platform: Platform,
    workloads: Mapping[str, Source],
    variants: Sequence[Variant],
    settings: Settings,
    clock: str,
    *,
    limits: Limits,
) -> None:
    """What can be known before the first run, which may be far from the last."""
    names = [variant.name for variant in variants]
    if len(set(names)) < len(names):
        raise OptionError(f"algorithms of a study must have names of their own, not {', '.join(names)}")
    for variant in variants:
        scheduler = load(variant.algorithm) if isinstance(variant.algorithm, str) else variant.algorithm
        Session(scheduler, variant.options, clock=parse_clock(clock, time.perf_counter))
    for source in workloads.values():
        Simulation(platform, [read_source(source, limits)], settings)


class _Task(Struct, frozen=True):
    """One run that is still to come; it can be pickled."""

    platform: Platform
    workload: str
    source: Source
    variant: Variant
    settings: Settings
    clock: str
    keep: Keep | None
    limits: Limits

    def __call__(self) -> Outcome:
        """Run it; whatever it fails of is told, so that the other runs are not lost."""
        warnings: list[str] = []
        try:
            run = self._simulate(warnings)
            figures = measure_run(schedule_of(run.result, self.variant.name))
        except BatschedError as error:
            return self._failed(str(error).partition("\n")[0], error.exit_code)
        except Exception as error:  # noqa: BLE001 - a defect of ours must not take the other runs with it
            return self._failed(f"internal error: {type(error).__name__}: {error}", 3)
        marks = marks_of(run.result.jobs)
        return Outcome(
            self.workload,
            self.variant.name,
            figures=figures,
            ran=marks.ran,
            succeeded=marks.succeeded,
            warnings=tuple(warnings),
            approximations=run.result.approximations,
        )

    def died(self, exit_code: int) -> Outcome:
        """What is left if its process ended in the middle of it."""
        how = f"with exit code {exit_code}" if exit_code >= 0 else f"by {Signals(-exit_code).name}"
        return self._failed(f"its process ended {how} in the middle of the run", 3)

    def _simulate(self, warnings: list[str]) -> Run:
        run = simulate(
            self.platform,
            read_source(self.source, self.limits),
            self.variant.algorithm,
            self.variant.options,
            settings=self.settings,
            clock=self.clock,
            warn=warnings.append,
            trace=self.keep is not None,
        )
        if self.keep is not None:
            self.keep(self.workload, self.variant.name, run.result)
        return run

    def _failed(self, error: str, exit_code: int) -> Outcome:
        return Outcome(self.workload, self.variant.name, error=error, exit_code=exit_code)


def _outcomes(tasks: Sequence[_Task], processes: int | None) -> Generator[tuple[int, Outcome], None, None]:
    """Each with its position, as they come; closed, it stops those that run."""
    if processes is None:
        yield from ((position, task()) for position, task in enumerate(tasks))
        return
    with closing(run_apart(tasks, processes)) as ending:
        for ended in ending:
            yield ended.position, ended.value or tasks[ended.position].died(ended.exit_code)

"""The runner of studies: each of several algorithms on each of several workloads, in separate processes if wanted.

`run_study` checks all inputs, makes a task of each run, executes the tasks and sorts their outcomes. A failing
algorithm or a dying process affects its own runs only.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.campaigns.algorithm_seeds import repeat_for_seeds
from batsched_py.campaigns.execution.planned import Keep, OpenLog, execute
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.plan.run_spec import RunEnvironment, RunSpec
from batsched_py.campaigns.processes import check_portable, run_apart
from batsched_py.campaigns.run_limits import NO_LIMITS, RunLimits
from batsched_py.campaigns.study import Study, WarmUp
from batsched_py.campaigns.variant import Variant
from batsched_py.campaigns.warm_up import WarmUpChoice, windows_after_jobs, windows_found
from batsched_py.errors import OptionError
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.plugins import name_of
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.schedules.time_window import WHOLE, WindowChoice
from batsched_py.results.run_file import InputFile, WorkloadFile
from batsched_py.runs.choice import Choice, make_session
from batsched_py.runs.inputs import PlatformLike, WorkloadLike, as_platform, as_workload, origin_of, platform_origin

#: The values that distinguish the runs to execute.
_Key = tuple[str | int, str]
#: A function of the number of runs that ended and the number of all runs.
ShowProgress = Callable[[int, int], None]


def run_study(
    platform: PlatformLike,
    workloads: Mapping[str, WorkloadLike],
    variants: Sequence[Variant],
    *,
    seeds: Sequence[int] = (),
    settings: Settings = DEFAULTS,
    clock: str = "zero",
    processes: int | None = None,
    keep: Keep | None = None,
    open_log: OpenLog | None = None,
    progress: ShowProgress | None = None,
    limits: Limits = LIMITS,
    window: WindowChoice = WHOLE,
    run_limits: RunLimits = NO_LIMITS,
    by: Sequence[str] = (),
    warm_up: WarmUpChoice | None = None,
) -> Study:
    """Simulate each workload with each algorithm. A failing algorithm affects its own runs only.

    Args:
        platform: a SimGrid file, or a platform.
        workloads: name -> a Batsim file, a workload, or a model to draw it from.
        variants: the algorithms, under unique names.
        seeds: each workload is run once for each seed, by algorithms that have an option `seed`; the others do not
            depend on it, and run once unless there is a `keep` or an `open_log`.
        settings: the options of `batsched-py simulate`.
        clock: the time that decisions take, as after `--clock`.
        processes: the number of runs at a time, each in a process of its own; None for one after the other in this
            process. The outcomes are the same. Processes exchange pickles; classes of a script or a notebook are
            pickled with their code.
        keep: called after each run, in the process that executed it, with the names of the workload and of the
            algorithm and the result, which then has the rows of the trace files.
        open_log: called before each run, in its process, with the same names; returns a context that receives its
            decisions.
        progress: called with the number of runs that ended, from 0 on, and of all.
        limits: how much is read of files.
        run_limits: how long each run may take, and how much memory its process may have; a run that needs more fails.
            They go with `processes`.
        window: the part of each run that is measured: the jobs that were submitted in it, and the hosts' time in it.
        by: members of jobs (or "size") by which the jobs of each run are grouped, for `compare_algorithms`.
        warm_up: how much of the beginning of each run is not measured, the same for all algorithms on a workload;
            instead of a `window`. To find it in the runs, all are executed twice.

    Wrong input is an error before anything runs, as in `simulate`: PlatformError, WorkloadError, PluginError and
    OptionError.
    """
    if processes is None and run_limits.limited:
        raise OptionError("limits of time and memory go with processes: they hold for a process")
    if warm_up is not None and not window.whole:
        raise OptionError("a warm-up and a window exclude each other")
    if processes is not None:
        _check_portable(variants, keep, open_log)
    machine, file = as_platform(platform, limits), platform_origin(platform)
    settings = replace(settings, roles=dict(settings.roles))  # a dict can be pickled
    environment = RunEnvironment(machine, settings, clock, window, by=tuple(by))
    runner = _Runner(environment, workloads, variants, tuple(seeds), file, processes, progress, limits, run_limits)
    if warm_up is None:
        return runner.run(keep, open_log)
    if warm_up.jobs is not None:
        return runner.run(keep, open_log, windows_after_jobs(workloads, warm_up.jobs, limits))
    names = {name: tuple(repeat_for_seeds({name: source}, seeds)) for name, source in workloads.items()}
    return runner.run(keep, open_log, windows_found(runner.run(find_warm_up=True), names))


class _Runner(Struct, frozen=True):
    """The inputs of a study, to be run once or, if runs show how to measure them, twice."""

    environment: RunEnvironment
    workloads: Mapping[str, WorkloadLike]
    variants: Sequence[Variant]
    seeds: tuple[int, ...]
    platform: InputFile | None
    processes: int | None
    progress: ShowProgress | None
    limits: Limits
    run_limits: RunLimits

    def run(
        self,
        keep: Keep | None = None,
        open_log: OpenLog | None = None,
        warm_up: WarmUp | None = None,
        *,
        find_warm_up: bool = False,
    ) -> Study:
        """Check all inputs, make a task of each run, execute the tasks, and sort their outcomes."""
        workloads, variants, limits = self.workloads, self.variants, self.limits
        base = replace(self.environment, find_warm_up=find_warm_up)
        begins = {} if warm_up is None else warm_up.begins
        environments = {
            name: replace(base, window=WindowChoice(begin=begins[name])) if begins.get(name) else base
            for name in workloads
        }
        known, origins = _check(environments, workloads, variants, limits)
        runs, originals = repeat_for_seeds(workloads, self.seeds), list(_originals(workloads, self.seeds))
        make = partial(_Task, keep=keep, open_log=open_log, limits=limits, run_limits=self.run_limits)
        places = {run: environments[name] for run, name in zip(runs, originals, strict=True)}
        planned = list(_plan(runs, variants, known, places, make))
        tasks: dict[_Key, _Task] = {}
        for key, task, _ in planned:
            tasks.setdefault(key, task)
        executed = _run_all(list(tasks.values()), self.processes, self.progress, self.run_limits)
        ended = dict(zip(tasks, executed, strict=True))
        whole = tuple(
            replace(ended[key], workload=task.spec.workload, options=options) for key, task, options in planned
        )
        named = {run: origins[name] for run, name in zip(runs, originals, strict=True)}
        return Study(
            tuple(runs),
            tuple(variants),
            whole,
            self.seeds,
            named,
            self.platform,
            base.window,
            base.by,
            warm_up,
        )


def _plan(
    runs: Mapping[str, tuple[WorkloadLike, int | None]],
    variants: Sequence[Variant],
    known: Mapping[str, Mapping[str, Any]],
    environments: Mapping[str, RunEnvironment],
    make: Callable[[RunEnvironment, WorkloadLike, RunSpec], _Task],
) -> Iterator[tuple[_Key, _Task, Mapping[str, Any]]]:
    """Yield a key, a task and the options of the algorithm for each run; of runs with the same key one is enough."""
    for name, (workload, seed) in runs.items():
        for variant in variants:
            seeded, options = variant.with_seed(seed), known[variant.name]
            task = make(environments[name], workload, RunSpec(name, seeded))
            # A run that does not depend on the seed is executed once, unless its files are wanted under each name.
            alone = task.writes or seeded is not variant or seed is None
            key = (name if alone else id(workload), variant.name)
            yield key, task, options if seeded is variant else {**options, "seed": seed}


def _check_portable(variants: Sequence[Variant], keep: Keep | None, open_log: OpenLog | None) -> None:
    """Raise OptionError for an algorithm or a function that cannot be sent to another process."""
    for variant in variants:
        check_portable(variant.algorithm, variant.name)
    check_portable(keep, "keep")
    check_portable(open_log, "open_log")


def _originals(workloads: Iterable[str], seeds: Sequence[int]) -> Iterator[str]:
    """Yield the workload of each run of `repeat_for_seeds`."""
    for name in workloads:
        yield from [name] * max(len(seeds), 1)


def _check(
    environments: Mapping[str, RunEnvironment],
    workloads: Mapping[str, WorkloadLike],
    variants: Sequence[Variant],
    limits: Limits,
) -> tuple[dict[str, Mapping[str, Any]], dict[str, WorkloadFile]]:
    """Check all inputs before the first run, which may be long before the last.

    `environments` are those of the workloads. Return the options of each variant, without a seed of the study, and the
    origins of the workloads.
    """
    names = [variant.name for variant in variants]
    if len(set(names)) < len(names):
        raise OptionError(f"algorithms of a study must have names of their own, not {', '.join(names)}")
    options: dict[str, Mapping[str, Any]] = {}
    origins = {}
    clock = next((one.clock for one in environments.values()), "zero")
    for variant in variants:
        choice = Choice(name_of(variant.algorithm), variant.options, clock)
        options[variant.name] = make_session(choice, variant.scheduler).options
    for name, given in workloads.items():
        workload = as_workload(given, limits)
        environments[name].check(name, workload)
        origins[name] = origin_of(given, workload)
    return options, origins


class _Task(Struct, frozen=True):
    """A function that executes one run and can be pickled."""

    environment: RunEnvironment
    workload: WorkloadLike
    spec: RunSpec
    keep: Keep | None
    open_log: OpenLog | None
    limits: Limits
    run_limits: RunLimits

    @property
    def writes(self) -> bool:
        """True if the run is kept, or its decisions are."""
        return self.keep is not None or self.open_log is not None

    def __call__(self) -> Outcome:
        """Run it."""
        run = execute(
            self.environment,
            self.workload,
            self.spec,
            keep=self.keep,
            open_log=self.open_log,
            limits=self.limits,
            run_limits=self.run_limits,
        )
        return run.outcome


def _run_all(
    tasks: Sequence[_Task], processes: int | None, progress: ShowProgress | None, limits: RunLimits
) -> list[Outcome]:
    """Run the tasks and return their outcomes, in the order of the tasks."""
    outcomes: dict[int, Outcome] = {}
    if progress is not None:
        progress(0, len(tasks))
    with closing(_outcomes(tasks, processes, limits)) as ending:
        for position, outcome in ending:
            outcomes[position] = outcome
            if progress is not None:
                progress(len(outcomes), len(tasks))
    return [outcomes[position] for position in range(len(tasks))]


def _outcomes(
    tasks: Sequence[_Task], processes: int | None, limits: RunLimits
) -> Generator[tuple[int, Outcome], None, None]:
    """Yield positions of tasks with their outcomes, as runs end; closing the generator stops running tasks."""
    if processes is None:
        yield from ((position, task()) for position, task in enumerate(tasks))
        return
    with closing(run_apart(tasks, processes, limits)) as ending:
        for ended in ending:
            yield ended.position, tasks[ended.position].spec.ended(ended)

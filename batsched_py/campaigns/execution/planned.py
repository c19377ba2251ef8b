"""A planned run: its inputs, its execution, and its outcome, also if it fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.campaigns.execution.batsim_run import simulate_with_batsim
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.plan.run_spec import RunEnvironment, RunSpec
from batsched_py.campaigns.run_limits import NO_LIMITS, RunLimits, is_memory_error
from batsched_py.errors import BatschedError, DeadlockError
from batsched_py.interruption import is_interruption
from batsched_py.model.workload import Workload
from batsched_py.plugins import name_of
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.metrics.job_sample import sample_jobs
from batsched_py.reporting.metrics.run_metrics import measure_run
from batsched_py.reporting.metrics.same_jobs import marks_of
from batsched_py.reporting.metrics.warm_up import WarmUpEnd, after_jobs, find_warm_up
from batsched_py.reporting.schedules.run_reader import schedule_of
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.results.records import Result
from batsched_py.runs.choice import Choice
from batsched_py.runs.inputs import WorkloadLike, as_workload
from batsched_py.runs.session_run import run_algorithm
from batsched_py.session.decision_log import PassOn

#: A function of the names of a workload and of an algorithm, and of the result of the run.
Keep = Callable[[str, str, Result], None]
#: A function of the same names that opens a log of decisions; it is closed with an error if the run fails.
OpenLog = Callable[[str, str], AbstractContextManager[PassOn]]


class ExecutedRun(Struct, frozen=True):
    """An executed run: its outcome and its schedule (within the window, if there is one); no schedule if it failed."""

    outcome: Outcome
    schedule: Schedule | None = None


def execute(
    environment: RunEnvironment,
    source: WorkloadLike,
    spec: RunSpec,
    *,
    keep: Keep | None = None,
    open_log: OpenLog | None = None,
    limits: Limits = LIMITS,
    run_limits: RunLimits = NO_LIMITS,
) -> ExecutedRun:
    """Execute a run. Any failure becomes an outcome, so that other runs are not lost.

    `run_limits` are the limits of the process; the outcome names the one that the run exceeded.

    `keep` is called with the names of the workload and of the algorithm and the result, which then has the rows of the
    trace files. It is called before the log of decisions that `open_log` opened is closed.
    """
    warnings: list[str] = []
    try:
        workload = as_workload(source, limits)
        names = spec.workload, spec.variant.name
        with nullcontext() if open_log is None else open_log(*names) as log:
            schedule, result = _simulate(environment, workload, spec, warnings, keep=keep, log=log)
        choice, end = _measured(environment, workload, spec, schedule)
        window = choice.on(schedule)
        metrics = measure_run(schedule, window=window, signals=environment.signals)
        counted = schedule if window is None else window.submitted(schedule)
        jobs = sample_jobs(counted, environment.by) if environment.by else None
    except BatschedError as error:
        text = (error.why if isinstance(error, DeadlockError) else str(error)).partition("\n")[0]
        if run_limits.memory is not None and is_memory_error(error):
            text = f"{run_limits.too_large}: {text}"
        return ExecutedRun(spec.failed(text, error.exit_code))
    except BaseException as error:  # a defect here or in user code must not end the other runs
        if is_interruption(error):
            raise
        if run_limits.memory is not None and is_memory_error(error):
            return ExecutedRun(spec.failed(run_limits.too_large))
        return ExecutedRun(spec.failed(f"internal error: {type(error).__name__}: {error}"))
    marks = marks_of(counted.jobs, counted.attempts.firsts)
    outcome = Outcome(
        spec.workload,
        spec.variant.name,
        metrics=metrics,
        ran=marks.ran,
        succeeded=marks.succeeded,
        warnings=tuple(warnings),
        approximations=() if result is None else result.approximations,
        features=None if result is None else result.features,
        jobs=jobs,
        warm_up=end,
    )
    return ExecutedRun(outcome, counted)


def _measured(
    environment: RunEnvironment, workload: Workload, spec: RunSpec, schedule: Schedule
) -> tuple[WindowChoice, WarmUpEnd | None]:
    """Return the part of a run to measure, and the end of the warm-up if it is to be cut or found. OptionError."""
    if environment.warm_up_jobs:
        end = after_jobs(spec.workload, workload.submissions(), environment.warm_up_jobs)
        return WindowChoice(begin=end.begin), end
    return environment.window, find_warm_up(schedule) if environment.find_warm_up else None


def _simulate(
    environment: RunEnvironment,
    workload: Workload,
    spec: RunSpec,
    warnings: list[str],
    *,
    keep: Keep | None,
    log: PassOn | None,
) -> tuple[Schedule, Result | None]:
    """Return the schedule of a run, and the result of the embedded simulator; None if real Batsim ran it."""
    batsim, settings, variant, warn = environment.batsim, environment.settings, spec.variant, warnings.append
    if batsim is not None:
        return simulate_with_batsim(batsim, settings, workload, variant, clock=environment.clock, warn=warn), None
    algorithm, sharing = variant.algorithm, settings.compute_sharing
    choice = Choice(name_of(algorithm), variant.options, environment.clock, compute_sharing=sharing)
    machine, trace = environment.platform, keep is not None or environment.signals.known
    result, _ = run_algorithm(machine, [workload], algorithm, choice, settings, trace=trace, warn=warn, log=log)
    if keep is not None:
        keep(spec.workload, variant.name, result)
    return replace(schedule_of(result, spec.workload), log_start=workload.log_start), result

"""The execution of a batch of runs in a worker."""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

import batsched_py
from batsched_py.builds import code_digest
from batsched_py.campaigns.execution.arrow_columns import encode_table, make_column
from batsched_py.campaigns.execution.batches import FinishedRun
from batsched_py.campaigns.execution.planned import ExecutedRun, execute
from batsched_py.campaigns.execution.stored_run import encode_run, stored
from batsched_py.campaigns.execution.user_modules import forgotten_modules, runs_user_code
from batsched_py.campaigns.plan.run_spec import RunEnvironment, RunSpec
from batsched_py.campaigns.processes import children_allowed, run_apart
from batsched_py.campaigns.run_limits import NO_LIMITS, RunLimits
from batsched_py.errors import BatschedError, OptionError
from batsched_py.reporting.metrics.job_metrics import job_columns
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.runs.inputs import WorkloadLike, as_workload

#: Threshold of the cyclic garbage collector, as in the program: runs leave few cycles.
_GARBAGE: Final = 100_000


def run_batch(
    environment: RunEnvironment,
    source: WorkloadLike,
    specs: Sequence[RunSpec],
    *,
    jobs: bool,
    code: str,
    limits: RunLimits = NO_LIMITS,
    apart: bool = True,
) -> list[FinishedRun]:
    """Execute the runs of a batch in a worker. The workload is read or drawn once.

    With `apart`, a run of user code, or with limits, is executed in a process of its own: the worker and other runs
    survive its failure.

    `code` is the digest of the modules that is part of the keys. OptionError if the worker has other modules: its
    results would be stored under wrong keys.
    """
    if code != code_digest():
        raise OptionError(f"a worker has another batsched-py (it says {batsched_py.__version__}): install the same")
    gc.set_threshold(_GARBAGE)
    with suppress(BatschedError):  # each run says so
        source = as_workload(source)
    return [_finished(_PicklableRun(environment, source, spec, jobs, limits), apart=apart) for spec in specs]


class _PicklableRun(Struct, frozen=True):
    """A function that executes a run and can be pickled."""

    environment: RunEnvironment
    source: WorkloadLike
    spec: RunSpec
    jobs: bool
    limits: RunLimits

    def __call__(self) -> ExecutedRun:
        """Execute the run; return its schedule, too, if rows of its jobs are wanted."""
        with forgotten_modules(self.spec.variant, self.environment.code_folder):
            executed = execute(self.environment, self.source, self.spec, run_limits=self.limits)
        return executed if self.jobs else replace(executed, schedule=None)


def _apart(piece: _PicklableRun) -> ExecutedRun:
    """Execute a run in a process of its own."""
    with children_allowed():
        [result] = run_apart([piece], 1, piece.limits)
    return result.value or ExecutedRun(piece.spec.failed(result.failure))


def _finished(piece: _PicklableRun, *, apart: bool) -> FinishedRun:
    began, jobs = time.perf_counter(), piece.jobs
    alone = piece.limits.limited or runs_user_code(piece.spec.variant)
    executed = _apart(piece) if apart and alone else piece()
    rows = None if executed.schedule is None or not jobs else _encode_jobs(executed.schedule)
    return FinishedRun(encode_run(stored(executed.outcome, time.perf_counter() - began, rows)), rows)


def _encode_jobs(schedule: Schedule) -> bytes:
    """Return a Parquet file with the rows and the columns of `metrics --per-job`; needs pyarrow."""
    arrow = importlib.import_module("pyarrow")
    return encode_table({name: make_column(arrow, values) for name, values in job_columns(schedule).items()})

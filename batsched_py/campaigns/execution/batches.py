"""Batches of runs: the unit of work of a worker, and its results."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

import batsched_py
from batsched_py.campaigns.execution.job_rows import encode_jobs
from batsched_py.campaigns.execution.planned import ExecutedRun, RunEnvironment, RunSpec, execute
from batsched_py.campaigns.execution.stored_run import encode_run, stored
from batsched_py.campaigns.execution.user_modules import forgotten_modules, runs_user_code
from batsched_py.campaigns.plan.planner import PlannedRun
from batsched_py.campaigns.plan.run_key import code_digest
from batsched_py.campaigns.processes import children_allowed, run_apart
from batsched_py.campaigns.run_limits import NO_LIMITS, RunLimits
from batsched_py.errors import BatschedError, OptionError
from batsched_py.model.workload import Workload
from batsched_py.runs.inputs import WorkloadLike, as_workload

#: Jobs of a batch: enough to amortise its transfer, few enough that little is lost when a worker dies.
_JOBS: Final = 4000
#: Maximum number of runs of a batch, however short they are.
_MOST: Final = 50
#: Minimum number of batches for each worker, so that no worker idles long before the last batch ends.
_SHARES: Final = 4
#: Threshold of the cyclic garbage collector, as in the program: runs leave few cycles.
_GARBAGE: Final = 100_000


class Batch(Struct, frozen=True):
    """Runs of one workload on one platform with the same settings.

    Attributes:
        runs: the planned runs.
        jobs: True if rows of the jobs are wanted.
        limits: of each run.
    """

    runs: tuple[PlannedRun, ...]
    jobs: bool = False
    limits: RunLimits = NO_LIMITS

    @property
    def environment(self) -> RunEnvironment:
        """The platform and the settings of all runs."""
        return self.runs[0].setting.environment

    @property
    def workload(self) -> WorkloadLike:
        """The workload of all runs."""
        return self.runs[0].source.workload

    @property
    def specs(self) -> tuple[RunSpec, ...]:
        """The runs as they are executed, one after the other."""
        return tuple(run.spec for run in self.runs)

    @property
    def singles(self) -> list[Batch]:
        """Each run as a batch of its own."""
        return [Batch((run,), self.jobs, self.limits) for run in self.runs]


class FinishedRun(Struct, frozen=True):
    """An executed run, encoded for storage.

    Attributes:
        content: the file of the run.
        jobs: the file of its jobs, if it is wanted and the run did not fail.
    """

    content: bytes
    jobs: bytes | None = None


def make_batches(
    runs: Iterable[PlannedRun], *, jobs: bool, count: int, workers: int, limits: RunLimits = NO_LIMITS
) -> Iterator[Batch]:
    """Group runs into batches of `count`, in their order; batches are smaller if there are few runs for each worker."""
    share = max(count // (workers * _SHARES), 1)
    for _, group in groupby(runs, key=lambda run: (id(run.setting), id(run.source))):
        together = list(group)
        size = min(max(_JOBS // max(_job_count(together[0]), 1), 1), _MOST, share)
        for first in range(0, len(together), size):
            yield Batch(tuple(together[first : first + size]), jobs, limits)


def _job_count(run: PlannedRun) -> int:
    workload = run.source.workload
    return len(workload.jobs) if isinstance(workload, Workload) else workload.jobs


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
    return [_finished(_Piece(environment, source, spec, jobs, limits), apart=apart) for spec in specs]


class _Piece(Struct, frozen=True):
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


def _apart(piece: _Piece) -> ExecutedRun:
    """Make a run in a process of its own."""
    with children_allowed():
        [result] = run_apart([piece], 1, piece.limits)
    return result.value or ExecutedRun(piece.spec.failed(result.failure))


def _finished(piece: _Piece, *, apart: bool) -> FinishedRun:
    began, jobs = time.perf_counter(), piece.jobs
    alone = piece.limits.given or runs_user_code(piece.spec.variant)
    executed = _apart(piece) if apart and alone else piece()
    rows = None if executed.schedule is None or not jobs else encode_jobs(executed.schedule)
    return FinishedRun(encode_run(stored(executed.outcome, time.perf_counter() - began, rows)), rows)

"""Batches of runs: what a worker executes at a time, and what it returns."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Final

from msgspec import Struct

import batsched_py
from batsched_py.campaigns.execution.job_rows import encode_jobs
from batsched_py.campaigns.execution.planned import RunEnvironment, RunSpec, execute
from batsched_py.campaigns.execution.stored_run import encode_run, stored
from batsched_py.campaigns.execution.user_modules import forgotten_modules
from batsched_py.campaigns.inputs import WorkloadLike, as_workload
from batsched_py.campaigns.plan.planner import PlannedRun
from batsched_py.campaigns.plan.run_key import code_digest
from batsched_py.errors import BatschedError, OptionError
from batsched_py.model.workload import Workload

#: Jobs of a batch: enough that handing it over costs little of it, few enough that little is lost with a worker.
_JOBS: Final = 4000
#: Runs of a batch, however short they are.
_MOST: Final = 50
#: Batches for each worker, so that none waits long for the last one.
_SHARES: Final = 4
#: Threshold of the cyclic garbage collector, as in the program: runs leave few cycles.
_GARBAGE: Final = 100_000


class Batch(Struct, frozen=True):
    """Runs of one workload on one platform with the same settings.

    Attributes:
        runs: the planned runs.
        jobs: True if rows of the jobs are wanted.
    """

    runs: tuple[PlannedRun, ...]
    jobs: bool = False

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
        return [Batch((run,), self.jobs) for run in self.runs]


class FinishedRun(Struct, frozen=True):
    """A run that was made, as bytes to be kept.

    Attributes:
        content: the file of the run.
        jobs: the file of its jobs, if it is wanted and the run did not fail.
    """

    content: bytes
    jobs: bytes | None = None


def make_batches(runs: Iterable[PlannedRun], *, jobs: bool, count: int, workers: int) -> Iterator[Batch]:
    """Make batches of `count` runs, in their order; smaller ones where there are few runs for each worker."""
    share = max(count // (workers * _SHARES), 1)
    for _, group in groupby(runs, key=lambda run: (id(run.setting), id(run.source))):
        together = list(group)
        size = min(max(_JOBS // max(_job_count(together[0]), 1), 1), _MOST, share)
        for first in range(0, len(together), size):
            yield Batch(tuple(together[first : first + size]), jobs)


def _job_count(run: PlannedRun) -> int:
    workload = run.source.workload
    return len(workload.jobs) if isinstance(workload, Workload) else workload.jobs


def run_batch(
    environment: RunEnvironment, source: WorkloadLike, specs: Sequence[RunSpec], *, jobs: bool, code: str
) -> list[FinishedRun]:
    """Make the runs of a batch, in a worker. The workload is read or drawn once.

    `code` is the digest of the modules that keys count on. OptionError if those of the worker are others: what it made
    would be kept under a key that is not its own.
    """
    if code != code_digest():
        raise OptionError(f"a worker has another batsched-py (it says {batsched_py.__version__}): install the same")
    gc.set_threshold(_GARBAGE)
    with suppress(BatschedError):  # each run says so
        source = as_workload(source)
    return [_run(environment, source, spec, jobs=jobs) for spec in specs]


def _run(environment: RunEnvironment, source: WorkloadLike, spec: RunSpec, *, jobs: bool) -> FinishedRun:
    began = time.perf_counter()
    with forgotten_modules(spec.variant, environment.code_folder):
        executed = execute(environment, source, spec)
    rows = None if executed.schedule is None or not jobs else encode_jobs(executed.schedule)
    return FinishedRun(encode_run(stored(executed.outcome, time.perf_counter() - began, rows)), rows)

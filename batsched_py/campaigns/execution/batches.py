"""Batches of runs: the unit of work of a worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from msgspec import Struct

from batsched_py.campaigns.plan.campaign_plan import PlannedRun
from batsched_py.campaigns.plan.run_spec import RunEnvironment, RunSpec
from batsched_py.campaigns.run_limits import NO_LIMITS, RunLimits
from batsched_py.model.workload import Workload
from batsched_py.runs.inputs import WorkloadLike

#: Jobs of a batch: enough to amortise its transfer, few enough that little is lost when a worker dies.
_JOBS: Final = 4000
#: Maximum number of runs of a batch, however short they are.
_MOST: Final = 50
#: Minimum number of batches for each worker, so that no worker idles long before the last batch ends.
_SHARES: Final = 4


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

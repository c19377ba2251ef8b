"""Numbers of jobs and their amounts of resources by account, user and QOS, added up as jobs come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from batsched_py.slurm.jobs import SlurmJob

#: An association, a QOS, or a QOS and a user, by `id()`, whose jobs are counted together.
UsageGroup = int | tuple[int, str]
#: The name under which numbers of jobs are counted, besides names of resources.
JOBS: Final = "jobs"


class UsageCounts:
    """Numbers and amounts of the jobs of each group."""

    def __init__(self) -> None:
        self._sums: Counter[tuple[UsageGroup, str]] = Counter()
        #: The groups of each job, and what it was counted as.
        self._counted: dict[SlurmJob, tuple[tuple[UsageGroup, ...], dict[str, int]]] = {}

    def add(self, job: SlurmJob, groups: Iterable[UsageGroup], amounts: dict[str, int]) -> None:
        """Count a job in each of the groups, once, with amounts of resources and as one job."""
        counted = {JOBS: 1, **amounts}
        self._counted[job] = here, _ = tuple(dict.fromkeys(groups)), counted
        for group in here:
            for name, many in counted.items():
                self._sums[group, name] += many

    def remove(self, job: SlurmJob) -> None:
        """Count a job no more."""
        groups, counted = self._counted.pop(job)
        for group in groups:
            for name, many in counted.items():
                self._sums[group, name] -= many

    def of(self, group: UsageGroup, name: str = JOBS) -> int:
        """Return the number of jobs of a group, or their amount of a resource."""
        return self._sums[group, name]

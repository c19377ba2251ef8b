"""Sources of workloads for episodes: a fixed one, random windows of a log, or a model."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.model.workload import Workload
from batsched_py.runs.inputs import WorkloadLike, as_workload
from batsched_py.text.wording import counted
from batsched_py.traces.lublin import Drawn
from batsched_py.traces.workload_parts import jobs_of

#: Upper limit of seeds of models.
_SEEDS = 2**31


class Episodes(ABC):
    """A source of workloads, used once for each episode."""

    @abstractmethod
    def draw(self, random: np.random.Generator) -> Workload:
        """Return the next episode's workload; the same numbers give the same workload. WorkloadError, OptionError."""


class WholeWorkload(Episodes):
    """The same workload in each episode."""

    def __init__(self, workload: WorkloadLike) -> None:
        """Read or generate the workload. WorkloadError, OptionError."""
        self._workload = as_workload(workload)

    def draw(self, random: np.random.Generator) -> Workload:  # noqa: ARG002  (nothing is left to chance)
        """Return the workload."""
        return self._workload


class LogWindows(Episodes):
    """Windows of `jobs` consecutive jobs of a log at random positions; each episode begins with an empty machine."""

    def __init__(self, workload: WorkloadLike, jobs: int = 256) -> None:
        """Read the log. WorkloadError if it cannot be read, or has fewer jobs."""
        self._workload, self._jobs = as_workload(workload), jobs
        total = len(self._workload.jobs)
        if not 1 <= jobs <= total:
            rule = f"has {counted(total, 'job')}: windows must have from 1 to as many, not {jobs}"
            raise WorkloadError(self._workload.source, "", rule)

    def draw(self, random: np.random.Generator) -> Workload:
        """Return a window; all windows have the same probability."""
        return jobs_of(self._workload, int(random.integers(len(self._workload.jobs) - self._jobs + 1)), self._jobs)


class Model(Episodes):
    """Workloads of a model, each with another seed."""

    def __init__(self, drawn: Drawn) -> None:
        """Take all but the seed from `drawn`."""
        self._drawn = drawn

    def draw(self, random: np.random.Generator) -> Workload:
        """Return a workload. OptionError for a parameter of the model."""
        return replace(self._drawn, seed=int(random.integers(_SEEDS))).draw()


def as_episodes(workload: Episodes | WorkloadLike) -> Episodes:
    """Return the episodes; a workload, or a file with one, is used in each episode. WorkloadError, OptionError."""
    return workload if isinstance(workload, Episodes) else WholeWorkload(workload)

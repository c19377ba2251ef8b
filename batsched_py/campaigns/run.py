"""Results of runs: simulated in this process, or read from files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any

from batsched_py.campaigns.shown_run import ShownRun
from batsched_py.model.limits import LIMITS, Limits
from batsched_py.reporting.metrics.summary import Summary
from batsched_py.reporting.schedules.decisions_table import Decisions, read_decisions_of, with_outages
from batsched_py.reporting.schedules.schedule import Schedule, read_schedule, schedule_of
from batsched_py.results.records import Result


class Run(ShownRun, frozen=True):
    """The results of one simulation. A notebook shows the main metrics.

    Attributes:
        metrics: mean wait, bounded slowdown... (docs/metrics.md defines them).
        result: a record of each job, and facts of the run.
        rejections: job id -> reason.
        algorithm: its name, as in lists.
        options: its options as they were given.
    """

    metrics: Summary
    result: Result
    rejections: Mapping[str, str]
    algorithm: str = ""
    options: Mapping[str, Any] = MappingProxyType({})

    @property
    def name(self) -> str:
        """Return its name in tables and pictures: the algorithm and its options."""
        return " ".join([self.algorithm or "run", *(f"{key}={value}" for key, value in self.options.items())])

    @cached_property
    def schedule(self) -> Schedule:
        """The jobs and traces from which metrics, pictures and reports are computed."""
        return schedule_of(self.result, self.name)


class RunFiles(ShownRun, frozen=True):
    """The files of a run, as `read_run` reads them."""

    read: Schedule
    said: Decisions | None = None

    @property
    def schedule(self) -> Schedule:
        """The jobs and traces from which metrics, pictures and reports are computed."""
        return self.read

    @property
    def decisions(self) -> Decisions | None:
        """The promises and the reasons to wait that the algorithm gave; None if there is no such file."""
        return self.said


def read_run(path: str | PathLike[str], *, hosts: int | None = None, limits: Limits = LIMITS) -> RunFiles:
    """Read the files of a run of Batsim or of `simulate -e`, or a log, as `batsched-py metrics` does. InputError.

    `path` is a prefix such as "out/easy", a `_jobs.csv`, a folder with one, or a log; `hosts` is the number of compute
    hosts, if the files do not contain it.
    """
    schedule = read_schedule(str(path), hosts=hosts, limits=limits)
    decisions = read_decisions_of(schedule, limits=limits)
    return RunFiles(with_outages(schedule, decisions), decisions)

"""Results of runs: simulated in this process, or read from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any

from batsched_py.campaigns.shown_run import ShownRun
from batsched_py.errors import OptionError
from batsched_py.model.decision_row import DecisionRow
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.metrics.summary import Summary
from batsched_py.reporting.schedules.decisions_table import Decisions, decisions_of, read_decisions_of, with_outages
from batsched_py.reporting.schedules.schedule import Schedule, read_schedule, schedule_of
from batsched_py.results.records import Result
from batsched_py.runs.decision_spool import DecisionSpool
from batsched_py.runs.result_writer import write_result, written_files
from batsched_py.runs.run_description import Call, Decider, RunInputs, describe_run, write_description
from batsched_py.text.representation import Brief


class RunOrigin(Brief, frozen=True):
    """The origin of a run, for its description.

    Attributes:
        inputs: the files that it read, as they were before it.
        decider: the algorithm with its options, defaults included.
        settings: those of the simulator.
        call: when the run began.
        rows: holds, promises and rejections; None if they were not kept.
    """

    inputs: RunInputs
    decider: Decider
    settings: Mapping[str, Any]
    call: Call
    rows: Sequence[DecisionRow] | None = None


class Run(ShownRun, frozen=True):
    """The results of one simulation. A notebook shows the main metrics.

    Attributes:
        metrics: mean wait, bounded slowdown... (docs/metrics.md defines them).
        result: a record of each job, and facts of the run.
        rejections: job id -> reason.
        algorithm: its name, as in lists.
        options: its options as they were given.
        origin: the inputs of the run; None if they are unknown.
    """

    metrics: Summary
    result: Result
    rejections: Mapping[str, str]
    algorithm: str = ""
    options: Mapping[str, Any] = MappingProxyType({})
    origin: RunOrigin | None = None

    def write(self, prefix: str | PathLike[str]) -> None:
        """Write the files of `batsched-py simulate -e PREFIX`: PREFIX_jobs.csv, PREFIX_run.json and the others.

        All commands that read runs read them, and so does `read_run`. Traces are among them if the run was made with
        `trace=True`, decisions if with `decisions=True`; with both, the bytes are those of the command, except for
        times that were measured and for the words of the command. InputError if a file cannot be written.
        """
        at, origin = str(prefix), self.origin
        if origin is None:
            raise OptionError("write: the origin of this run is unknown: only runs by simulate() can be written")
        write_result(at, self.result)
        if origin.rows is not None:
            with DecisionSpool(at) as spool:
                spool.add(origin.rows)
                spool.write()
        results = written_files(at, self.result, decisions=origin.rows is not None)
        told = self.result.approximations
        run = describe_run(
            origin.inputs, origin.decider, origin.settings, approximations=told, results=results, call=origin.call
        )
        write_description(at, run)

    @cached_property
    def decisions(self) -> Decisions | None:
        """The promises and the reasons to wait that the algorithm gave; None without `decisions=True`."""
        rows = None if self.origin is None else self.origin.rows
        return None if rows is None else decisions_of(rows)

    @property
    def name(self) -> str:
        """Return its name in tables and pictures: the algorithm and its options."""
        return " ".join([self.algorithm or "run", *(f"{key}={value}" for key, value in self.options.items())])

    @cached_property
    def schedule(self) -> Schedule:
        """The jobs and traces from which metrics, pictures and reports are computed."""
        return with_outages(schedule_of(self.result, self.name), self.decisions)


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

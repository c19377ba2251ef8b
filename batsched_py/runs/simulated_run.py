"""A simulated run: its result, and the files that it can write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

from batsched_py.model.decision_row import DecisionRow
from batsched_py.reporting.metrics.machine_groups import NO_SIGNALS, EnergySignals
from batsched_py.reporting.schedules.decisions_table import decisions_of, with_outages
from batsched_py.reporting.schedules.run_reader import schedule_of
from batsched_py.results.records import Result
from batsched_py.runs.decision_spool import decision_spool
from batsched_py.runs.result_writer import write_run
from batsched_py.runs.run import Run
from batsched_py.runs.run_description import RunOrigin


class SimulatedRun(Run, frozen=True, kw_only=True):
    """A run that was simulated in this process.

    Attributes:
        result: a record of each job, and facts of the run.
        rejections: job id -> reason.
        origin: the inputs of the run, its algorithm, options and settings.
        rows: holds, promises and rejections; None if they were not kept.
    """

    result: Result
    rejections: Mapping[str, str]
    origin: RunOrigin
    rows: Sequence[DecisionRow] | None = None

    def write(self, prefix: str | PathLike[str]) -> None:
        """Write the files of `batsched-py simulate -e PREFIX`: PREFIX_jobs.csv, PREFIX_run.json and the others.

        All commands that read runs read them, and so does `Run.read`. Traces are among them if the run was made with
        `trace=True`, decisions if with `decisions=True`; with both, the bytes are those of the command, except for
        times that were measured and for the words of the command. InputError if a file cannot be written.
        """
        at, rows = str(prefix), self.rows
        with decision_spool(None if rows is None else at) as spool:
            if spool is not None:
                spool.add(rows or ())
            write_run(at, self.result, self.origin, decisions=spool)


def simulated_run(
    name: str,
    result: Result,
    rejections: Mapping[str, str],
    origin: RunOrigin,
    rows: Sequence[DecisionRow] | None = None,
    *,
    signals: EnergySignals = NO_SIGNALS,
) -> SimulatedRun:
    """Return the run of a result under its name in tables and pictures."""
    decisions = None if rows is None else decisions_of(rows)
    schedule = with_outages(schedule_of(result, name), decisions)
    return SimulatedRun(
        schedule, decisions, signals, result=result, rejections=dict(rejections), origin=origin, rows=rows
    )

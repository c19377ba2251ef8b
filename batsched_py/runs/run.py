"""A run for scripts and notebooks: metrics, a table of jobs, pictures, a report."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batsched_py.errors import OptionError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.hostset import HostSet
from batsched_py.loading import require
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.metrics.catalogue import RunMetrics
from batsched_py.reporting.metrics.job_metrics import job_columns
from batsched_py.reporting.metrics.machine_groups import NO_SIGNALS, EnergySignals
from batsched_py.reporting.metrics.run_metrics import measure_run
from batsched_py.reporting.pictures.drawing import Picture, draw
from batsched_py.reporting.pictures.html.document import plotly_js, report_page
from batsched_py.reporting.pictures.html.metric_rows import metrics_table, summary_rows
from batsched_py.reporting.pictures.lanes import Rows
from batsched_py.reporting.pictures.window import window_on
from batsched_py.reporting.schedules.decisions_table import DecisionTable, read_decisions_of, with_outages
from batsched_py.reporting.schedules.run_reader import read_schedule
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.waits.explained_waits import ExplainedWaits
from batsched_py.reporting.waits.finding import find_job
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.walk import explain
from batsched_py.runs.job_wait import JobWait
from batsched_py.text.representation import Brief
from batsched_py.text.wording import unknown

if TYPE_CHECKING:
    from pandas import DataFrame

#: The kinds of curves, as `batsched-py plot` names them.
CURVES = ("waits", "slowdowns", "utilisation", "queue")


class Run(Brief, frozen=True, dict=True):  # dict: for what is computed once
    """A run, simulated or read from files. A notebook shows the main metrics.

    Attributes:
        schedule: the jobs and traces from which metrics, pictures and reports are computed.
        decisions: the promises and the reasons to wait that the algorithm gave; None if they were not kept.
        signals: the carbon intensity and the price of energy, for `metrics`.
    """

    schedule: Schedule
    decisions: DecisionTable | None = None
    signals: EnergySignals = NO_SIGNALS

    @staticmethod
    def read(path: str | PathLike[str], *, hosts: int | None = None, limits: Limits = LIMITS) -> Run:
        """Read the files of a run of Batsim or of `simulate -e`, or a log, as `batsched-py metrics` does. InputError.

        `path` is a prefix such as "out/easy", a `_jobs.csv`, a folder with one, or a log; `hosts` is the number of
        compute hosts, if the files do not contain it. Files of signals that its description names are not read.
        """
        schedule = read_schedule(str(path), hosts=hosts, limits=limits)
        decisions = read_decisions_of(schedule, limits=limits)
        return Run(with_outages(schedule, decisions), decisions)

    @property
    def name(self) -> str:
        """The name of the run in tables and pictures."""
        return self.schedule.name

    @cached_property
    def metrics(self) -> RunMetrics:
        """The metrics that `batsched-py metrics` shows: mean wait, bounded slowdown... (docs/metrics.md)."""
        return measure_run(self.schedule, signals=self.signals)

    def columns(self) -> dict[str, list[Any]]:
        """Return the jobs as columns, name -> values, as in `metrics --per-job`; None where there is no value.

        Any data-frame library accepts them: `polars.DataFrame(run.columns())`, `pyarrow.table(run.columns())`.
        """
        return job_columns(self.schedule)

    @property
    def jobs(self) -> DataFrame:
        """The jobs as a DataFrame of pandas, a row each, with the columns of `columns()`. ExtraError without it."""
        require("pandas", "Run.jobs", "notebook")
        table: DataFrame = importlib.import_module("pandas").DataFrame(self.columns())
        return table

    def gantt(
        self,
        *,
        begin: float | None = None,
        end: float | None = None,
        only: str | None = None,
        by: str = "job",
        panels: Sequence[str] = (),
        rows: Rows = "host",
        width: float = 7.0,
        height: float | None = None,
        title: str = "",
    ) -> Picture:
        """Draw the Gantt chart, as `batsched-py gantt -o` does: a notebook shows it, its `save` writes it.

        Args:
            begin: first second shown.
            end: last second shown.
            only: hosts shown, like "0-15".
            by: attribute that colours distinguish (docs/pictures.md).
            panels: charts below: utilisation, resources, queue, power, states, timelines.
            rows: what a row is, host or gpu; jobs that share it are stacked.
            width: inches.
            height: inches; None to choose a suitable one.
            title: above it.

        ExtraError without matplotlib (`plot`), OptionError for a window without time or hosts.
        """
        hosts = None if only is None else HostSet.parse(only)
        window = window_on([self.schedule], begin, end, hosts)
        looks = {"by": by, "panels": panels, "rows": rows, "width": width, "height": height, "title": title}
        return draw("Run.gantt", "gantt_figure", lambda paper: paper.gantt_figure([self.schedule], window, **looks))

    def report(self, path: str | PathLike[str], *others: Run, title: str = "") -> Path:
        """Write a page that shows this run, and the `others` compared with it, as `report` does; return its path.

        The reasons to wait are from the schedules alone, unless the decisions are known.
        ExtraError without plotly (`report`).
        """
        require("plotly", "Run.report", "report")
        path = Path(path)
        histories = [run._history for run in (self, *others)]
        found = ExplainedWaits.of(histories)
        schedules = [history.schedule for history in histories]
        page = report_page(
            schedules,
            plotly_js(),
            title,
            waits=found.waits,
            explanations=found.explanations,
            signals=[run.signals for run in (self, *others)],
        )
        write_atomically(path, page)
        return path

    def plot(
        self, kind: str, *others: Run, width: float = 3.5, height: float | None = None, title: str = ""
    ) -> Picture:
        """Draw a curve for this run, and one for each of the `others`, as `batsched-py plot` does.

        `kind` is waits, slowdowns, utilisation or queue; `width` and `height` are inches. ExtraError without matplotlib
        (`plot`), OptionError for another kind.
        """
        if kind not in CURVES:
            raise OptionError(f"plot {kind}: {unknown(kind, CURVES)}")
        schedules = [run.schedule for run in (self, *others)]
        window = window_on(schedules, None, None, None)
        looks = {"width": width, "height": height, "title": title}
        return draw("Run.plot", "curves", lambda paper: paper.curves_figure(kind, schedules, window, **looks))

    @cached_property
    def _history(self) -> RunHistory:
        return RunHistory(self.schedule, self.decisions)

    def explain(self, job: str) -> JobWait:
        """Explain why a job waited, as `batsched-py explain` does; a notebook shows it as a table.

        `job` is an id such as "w0!12", or "12" if it is unique. The reasons are from the schedule alone, unless the
        decisions are known. InputError for an unknown job.
        """
        record = find_job(self._history, job)
        return JobWait(explain(self._history, record), self.decisions is not None)

    def _repr_html_(self) -> str:
        rows = summary_rows([self.metrics], ranked=False)
        return metrics_table(f"{self.schedule.hosts} hosts", [self.name], rows)

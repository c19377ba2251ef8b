"""The results of one simulation, for scripts and notebooks: metrics, a table of jobs, pictures, a report."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from batsched_py.hostset import HostSet
from batsched_py.loading import require
from batsched_py.reporting.metrics.job_metrics import job_columns
from batsched_py.reporting.metrics.run_metrics import RunMetrics, measure_run
from batsched_py.reporting.metrics.summary import Summary
from batsched_py.reporting.pictures.drawing import Picture, draw
from batsched_py.reporting.pictures.html.document import plotly_js, report_page
from batsched_py.reporting.pictures.html.markup import metrics_table
from batsched_py.reporting.pictures.html.metric_rows import summary_rows
from batsched_py.reporting.pictures.window import window_on
from batsched_py.reporting.schedules.schedule import Schedule, schedule_of
from batsched_py.simulator.records import Result
from batsched_py.text.representation import Brief
from batsched_py.traces.atomic_file import write_atomically

if TYPE_CHECKING:
    from pandas import DataFrame


class Run(Brief, frozen=True, dict=True):  # dict: for what is computed once
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
        """Return what tables and pictures call it: the algorithm and its options."""
        return " ".join([self.algorithm or "run", *(f"{key}={value}" for key, value in self.options.items())])

    @cached_property
    def schedule(self) -> Schedule:
        """The jobs and traces that metrics, pictures and reports are made of."""
        return schedule_of(self.result, self.name)

    @cached_property
    def all_metrics(self) -> RunMetrics:
        """All metrics that `batsched-py metrics` shows of a run."""
        return measure_run(self.schedule)

    def columns(self) -> dict[str, list[Any]]:
        """Return the jobs as columns, name -> values, as in `metrics --per-job`; None where there is no value.

        Any library makes a table of them: `polars.DataFrame(run.columns())`, `pyarrow.table(run.columns())`.
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
        width: float = 7.0,
        height: float | None = None,
        title: str = "",
    ) -> Picture:
        """Draw the Gantt chart, as `batsched-py gantt -o` does: a notebook shows it, its `save` writes it.

        Args:
            begin: first second shown.
            end: last second shown.
            only: hosts shown, like "0-15".
            by: what colours tell apart (docs/pictures.md).
            panels: charts below: utilisation, queue, power, states, timelines.
            width: inches.
            height: inches; what suits it if None.
            title: above it.

        ExtraError without matplotlib (`plot`), OptionError for a window without time or hosts.
        """
        hosts = None if only is None else HostSet.parse(only)
        window = window_on([self.schedule], begin, end, hosts)
        looks = {"by": by, "panels": panels, "width": width, "height": height, "title": title}
        return draw("Run.gantt", "gantt_figure", lambda paper: paper.gantt_figure([self.schedule], window, **looks))

    def report(self, path: str | PathLike[str], *others: Run, title: str = "") -> Path:
        """Write a page that shows this run, and the `others` compared with it, as `report` does; return its path.

        ExtraError without plotly (`report`).
        """
        require("plotly", "Run.report", "report")
        path = Path(path)
        write_atomically(path, report_page([run.schedule for run in (self, *others)], plotly_js(), title))
        return path

    def _repr_html_(self) -> str:
        rows = summary_rows([self.all_metrics], ranked=False)
        return metrics_table(f"{self.result.host_count} hosts", [self.name], rows)

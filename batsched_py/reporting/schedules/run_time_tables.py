"""Tables of predicted run times, of a run whose algorithm has a predictor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from batsched_py.model.table import Table
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.notes import Notes
from batsched_py.reporting.schedules.tabular import Tabular

#: The suffix of the file name, and the name of the table.
RUN_TIMES: Final = "_run_times.csv"
_TABLE: Final = "run_times"


class RunTimeRow(NamedTuple):
    """The predicted run time of a job at its start and its run time, in seconds, and the number of corrections."""

    predicted: float
    run_time: float
    corrections: int


#: Columns of the table: the job, then those of a row.
COLUMNS: Final = ("job", *RunTimeRow._fields)


def run_times_of(tables: Iterable[Table]) -> Mapping[str, RunTimeRow] | None:
    """Return job id -> row for a run in this process, from the tables of its algorithm; None if there are none."""
    table = next((one for one in tables if one.name == _TABLE and tuple(one.header) == COLUMNS), None)
    if table is None:
        return None
    return {str(job): RunTimeRow(float(predicted), float(run), int(count)) for job, predicted, run, count in table.rows}


def read_run_times(
    path: Path, *, limits: Limits = LIMITS, notes: Notes | None = None
) -> Mapping[str, RunTimeRow] | None:
    """Read a `_run_times.csv`; InputError names file, line and rule.

    None if columns are missing: a user's own algorithm may use this name. `notes` receives a line for each unknown
    column.
    """
    table = Tabular(path, limits)
    if not set(COLUMNS) <= set(table.header):
        return None
    job, predicted, run_time, corrections = map(table.column, COLUMNS)
    table.report_unknown("run times", notes)
    found: dict[str, RunTimeRow] = {}
    for row in table.rows():
        seconds = table.number(row, predicted), table.number(row, run_time)
        if min(seconds) < 0.0:
            raise table.error("must be at least 0", column=predicted if seconds[0] < 0.0 else run_time)
        found[row[job]] = RunTimeRow(*seconds, table.count(row, corrections))
    return found

"""Tables of placements: the work to place each job of a run with the algorithm `placer`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from batsched_py.model.table import Table
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.notes import Notes
from batsched_py.reporting.schedules.tabular import Tabular

#: The suffix of the file name, and the name of the table.
PLACEMENTS: Final = "_placements.csv"
_TABLE: Final = "placements"


class PlacementRow(NamedTuple):
    """The work to place a job: proposals, requests to hosts, released grants, refusals, and lost placements."""

    proposals: int
    requests: int
    releases: int
    refusals: int
    losses: int = 0


#: Columns of the table: the job, then those of a row.
COLUMNS: Final = ("job", *PlacementRow._fields)


def placements_of(tables: Iterable[Table]) -> Mapping[str, PlacementRow] | None:
    """Return job id -> row for a run in this process, from the tables of its algorithm; None if there are none."""
    table = next((one for one in tables if one.name == _TABLE and tuple(one.header) == COLUMNS), None)
    return None if table is None else {str(row[0]): PlacementRow(*map(int, row[1:])) for row in table.rows}


def read_placements(
    path: Path, *, limits: Limits = LIMITS, notes: Notes | None = None
) -> Mapping[str, PlacementRow] | None:
    """Read a `_placements.csv`; InputError names file, line and rule.

    None if columns are missing: a user's own algorithm may use this name. `notes` receives a line for each unknown
    column.
    """
    table = Tabular(path, limits)
    if not set(COLUMNS) <= set(table.header):
        return None
    job, *columns = map(table.column, COLUMNS)
    table.report_unknown("placements", notes)
    return {row[job]: PlacementRow(*[table.count(row, column) for column in columns]) for row in table.rows()}

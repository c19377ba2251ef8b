"""The reader of `_decisions.csv`: holds, promises, rejections, and hosts that could not be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

from msgspec.structs import replace

from batsched_py.hostset import HostSet
from batsched_py.model.decision_row import ROW_KINDS, Cause, DecisionRow, HoldKind
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.notes import Notes
from batsched_py.reporting.schedules.outages import find_outages
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.results.decisions_file import COLUMNS, DECISIONS, TERMS
from batsched_py.results.file_forms import split_jobs_name
from batsched_py.results.run_file import belongs
from batsched_py.text.display import shown
from batsched_py.text.representation import Brief

#: The allowed values in the column of reasons.
_REASONS: Final = frozenset({"", "shared", *get_args(HoldKind), *get_args(Cause)})


class DecisionTable(Brief, frozen=True):
    """The decisions of a scheduler, apart from starts.

    Attributes:
        of_jobs: job id -> its rows, in order of time.
        down: rows of the hosts that could not take jobs, in order of time.
        hosts: all compute hosts; None if no row has them.
        shared: True if jobs could share hosts.
        unavailable: rows of the hosts that external events made unavailable, in order of time.
        notes: a line for each unknown column.
    """

    of_jobs: Mapping[str, Sequence[DecisionRow]] = {}
    down: Sequence[DecisionRow] = ()
    hosts: HostSet | None = None
    shared: bool = False
    unavailable: Sequence[DecisionRow] = ()
    notes: tuple[str, ...] = ()


def read_decisions_of(schedule: Schedule, *, limits: Limits = LIMITS) -> DecisionTable | None:
    """Read the decisions of a run, in the folder of its jobs file; None if missing, or of another run. InputError."""
    named = split_jobs_name(schedule.source)
    path = None if named is None else Path(named[0] + DECISIONS)
    if path is None or not path.is_file():
        return None
    run = schedule.run
    if run is not None and not ("decisions" in run.results and belongs(run, {"decisions": path})):
        return None
    return read_decisions(path, limits=limits)


def with_outages(schedule: Schedule, decisions: DecisionTable | None) -> Schedule:
    """Return the schedule with the outages of hosts that are recorded in the decisions of its run."""
    rows = () if decisions is None else decisions.unavailable
    return replace(schedule, outages=find_outages(rows, schedule.end)) if rows else schedule


def read_decisions(path: Path, *, limits: Limits = LIMITS) -> DecisionTable:
    """Read the file, with columns in any order; InputError names file, line, column and rule."""
    notes = Notes(path.name)
    table = Tabular(path, limits)
    terms = [table.column(name) for name in TERMS] if TERMS[0] in table.header else ()  # older files lack them
    at = [table.column(name) for name in COLUMNS if name not in TERMS]
    table.report_unknown("decisions", notes)
    return replace(decisions_of(_rows(table, at, terms)), notes=notes.lines())


def decisions_of(rows: Iterable[DecisionRow]) -> DecisionTable:
    """Return the decisions that rows contain, in order of time."""
    of_jobs: dict[str, list[DecisionRow]] = {}
    #: Kind of a row about hosts -> those rows.
    of_hosts: dict[str, list[DecisionRow]] = {"down": [], "unavailable": []}
    hosts, shared = None, False
    for row in rows:
        if row.kind == "hosts":
            hosts, shared = row.hosts, row.reason == "shared"
        elif row.kind in of_hosts:
            of_hosts[row.kind].append(row)
        else:
            of_jobs.setdefault(row.job, []).append(row)
    return DecisionTable(of_jobs, of_hosts["down"], hosts, shared, of_hosts["unavailable"])


def _rows(table: Tabular, at: Sequence[int], terms: Sequence[int]) -> Iterator[DecisionRow]:
    """Yield the rows of a file; InputError if one is wrong, or before the row above."""
    latest = 0.0
    for cells in table.rows():
        row = _row(table, cells, at)
        if row.kind == "unfinished" or (terms and cells[terms[0]]):
            row = _with_terms(table, row, cells, terms)
        if row.time < latest:
            raise table.error("must not be before the row above", column=at[0])
        latest = row.time
        yield row


def _row(table: Tabular, cells: Sequence[str], at: Sequence[int]) -> DecisionRow:
    kind, job, start, reason, jobs, words = (cells[at[column]] for column in (1, 2, 3, 4, 5, 7))
    if kind not in ROW_KINDS:
        raise table.error(f"must be one of {', '.join(ROW_KINDS)}, not {shown(kind)}", column=at[1])
    if reason not in _REASONS:
        raise table.error(f"must be one of {', '.join(sorted(_REASONS - {''}))}, not {shown(reason)}", column=at[4])
    if not job and kind not in ("hosts", "down", "unavailable"):
        raise table.error("must name a job", column=at[2])
    return DecisionRow(
        table.number(cells, at[0]),
        kind,
        job,
        table.number(cells, at[3]) if start or kind == "promised" else None,
        reason,
        tuple(jobs.split(",")) if jobs else (),
        table.hosts(cells, at[6]),
        words,
    )


def _with_terms(table: Tabular, row: DecisionRow, cells: Sequence[str], at: Sequence[int]) -> DecisionRow:
    """Return the row with the submission, size and walltime of its job."""
    if not at:
        raise table.error(f"is {row.kind}, which needs the columns {', '.join(TERMS)}")
    submitted, size, walltime = at
    return replace(
        row,
        submitted=table.number(cells, submitted),
        size=table.count(cells, size),
        walltime=table.number(cells, walltime) if cells[walltime] else None,
    )

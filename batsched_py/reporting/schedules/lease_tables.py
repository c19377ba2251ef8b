"""The lease tables of a run: the outcome of each lease, its use of hosts, and cached images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, get_type_hints

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.table import Table
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.schedules.file_notes import OTHER_COLUMNS, FileNotes
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.results.lease_rows import KINDS, ImageRow, LeaseRow, PredictionRow, ReservationRow, ReservationUse
from batsched_py.results.records import JobRecord
from batsched_py.text.display import shown
from batsched_py.text.representation import Brief
from batsched_py.text.wording import seconds

#: Suffixes of the file names.
LEASES: Final = "_leases.csv"
RESERVATIONS: Final = "_reservations.csv"
IMAGES: Final = "_images.csv"
PREDICTIONS: Final = "_predictions.csv"

#: The column with the ids of a lease's jobs, separated by blanks, in addition to the fields of LeaseRow.
_JOB: Final = "job"
#: Kinds of the use of hosts by leases.
_USES: Final = tuple(use.value for use in ReservationUse)
RUN: Final = ReservationUse.VM.value
#: Column -> its allowed values.
_WORDS: Final = {"type": tuple(KINDS.values()), "kind": _USES}
#: The largest delay of a job in Batsim after its lease's run, caused by messages, in seconds.
_LATE: Final = 1.0


_Row = LeaseRow | ReservationRow | ImageRow | PredictionRow
_AnyRow = TypeVar("_AnyRow", ImageRow, PredictionRow)


class LeaseSpan(Struct, frozen=True):
    """An interval in which a lease uses hosts, for a run or for another operation on its machines.

    Attributes:
        lease: the number of the lease.
        kind: vm, shutdown, suspend, resume, migrate-disk, migrate-memory or transfer.
        start: the start in seconds.
        end: the end in seconds; None if it was under way when the run stopped.
        hosts: the hosts; the targets of a transfer or migration.
        lost: True for a discarded run.
    """

    lease: int
    kind: str
    start: float
    end: float | None
    hosts: HostSet
    lost: bool = False


class LeaseTables(Brief, frozen=True):
    """The leases of a run.

    Attributes:
        leases: number -> row of each lease, in ascending order.
        jobs: id of a job -> the number of the lease that it requested.
        spans: the uses of hosts, in the order of their starts.
        images: the cached images.
        predictions: the predicted starts of leases.
    """

    leases: Mapping[int, LeaseRow]
    jobs: Mapping[str, int]
    spans: tuple[LeaseSpan, ...]
    images: tuple[ImageRow, ...] = ()
    predictions: tuple[PredictionRow, ...] = ()

    def of_jobs(self, records: Iterable[JobRecord]) -> Mapping[str, int]:
        """Return job id -> number of its lease, for the first jobs of leases and later segments.

        A segment has the id of the first job before its last "#". With Batsim 1, which has other names, the lease is
        the one with a run on the same hosts from the same time on.
        """
        found = dict[str, int]()
        runs = {(span.hosts.bits, round(span.start / _LATE)): span.lease for span in self.spans if span.kind == RUN}
        for record in records:
            lease = self.jobs.get(record.job.id, self.jobs.get(record.job.id.rpartition("#")[0]))
            if lease is None and not record.rejected:
                at = round(record.start / _LATE)
                near = (runs.get((record.hosts.bits, second)) for second in (at, at - 1, at + 1))
                lease = next((one for one in near if one is not None), None)
            if lease is not None:
                found[record.job.id] = lease
        return found

    @property
    def end(self) -> float:
        """Return the last end of a span, 0 if there are none."""
        return max((span.start if span.end is None else span.end for span in self.spans), default=0.0)

    def until(self, span: LeaseSpan) -> float:
        """Return the end of a span; one under way when the run stopped lasts until the last end of all."""
        return max(span.start, self.end) if span.end is None else span.end


def lease_tables_of(tables: Iterable[Table]) -> LeaseTables | None:
    """Return the leases of a run in this process, from the tables of its algorithm; None if there are none."""
    named = {table.name: table for table in tables}
    leases, spans, images, predicted = (named.get(name) for name in ("leases", "reservations", "images", "predictions"))
    if leases is None or spans is None or not _have_columns(leases.header, spans.header):
        return None
    place = list(leases.header).index(_JOB)
    return _tables(
        [(LeaseRow(*row[: len(LeaseRow._fields)]), row[place]) for row in leases.rows],
        [_span(ReservationRow(*row)) for row in spans.rows],
        [ImageRow(*row) for row in images.rows] if images is not None and _has(images.header, ImageRow) else [],
        [PredictionRow(*row) for row in predicted.rows]
        if predicted is not None and _has(predicted.header, PredictionRow)
        else [],
    )


def read_lease_tables(
    leases: Path,
    spans: Path,
    images: Path | None = None,
    predictions: Path | None = None,
    *,
    notes: FileNotes,
    limits: Limits = LIMITS,
) -> LeaseTables | None:
    """Read a `_leases.csv`, a `_reservations.csv`, and perhaps an `_images.csv` and a `_predictions.csv`.

    InputError names file, line and rule.

    None if they have other columns: a user's own algorithm may use these names.
    """
    rows, held = Tabular(leases, limits), Tabular(spans, limits)
    if not _have_columns(rows.header, held.header):
        return None
    rows.report_unknown("a table of leases", notes.of(leases), {*LeaseRow._fields, _JOB})
    held.report_unknown("a table of reservations", notes.of(spans), ReservationRow._fields)
    cached = _read_rows(images, ImageRow, "a table of images", limits, notes)
    predicted = _read_rows(predictions, PredictionRow, "a table of predicted starts", limits, notes)
    return _tables(_read_leases(rows), _read_spans(held), cached, predicted)


def _have_columns(leases: Sequence[str], spans: Sequence[str]) -> bool:
    return _has(leases, LeaseRow) and _JOB in leases and _has(spans, ReservationRow)


def _has(header: Sequence[str], row: type[_Row]) -> bool:
    return set(row._fields) <= set(header)


def _tables(
    rows: Iterable[tuple[LeaseRow, str | None]],
    spans: Iterable[LeaseSpan],
    images: Iterable[ImageRow],
    predictions: Iterable[PredictionRow],
) -> LeaseTables:
    known = sorted(rows, key=lambda pair: pair[0].lease)
    jobs = {job: row.lease for row, names in known for job in (names or "").split(" ") if job}
    return LeaseTables(
        MappingProxyType({row.lease: row for row, _ in known}),
        MappingProxyType(jobs),
        tuple(sorted(spans, key=lambda span: (span.start, span.lease))),
        tuple(images),
        tuple(predictions),
    )


def _span(row: ReservationRow) -> LeaseSpan:
    return LeaseSpan(row.lease, row.kind, row.start, row.end, HostSet.parse(row.hosts), bool(row.lost))


class _Columns:
    """The columns of a file for the fields of a row, in the order of the fields."""

    def __init__(self, table: Tabular, kind: type[_Row]) -> None:
        self._table = table
        self._columns = [(table.column(name), hint, _WORDS.get(name)) for name, hint in get_type_hints(kind).items()]

    def cells(self, row: list[str]) -> list[Any]:
        """Return the values of a row's cells, with the types of the fields; InputError for an invalid one."""
        return [self._cell(row, *column) for column in self._columns]

    def _cell(self, row: list[str], column: int, hint: Any, words: Sequence[str] | None) -> Any:
        text = row[column]
        if hint is str:
            if words is not None and text not in words:
                raise self._table.error(f"must be one of {', '.join(words)}, not {shown(text)}", column=column)
            return text
        if hint is int:
            return self._table.count(row, column)
        return None if hint is not float and not text else self._table.number(row, column)


def _read_leases(table: Tabular) -> list[tuple[LeaseRow, str]]:
    columns, job = _Columns(table, LeaseRow), table.column(_JOB)
    found, lines = list[tuple[LeaseRow, str]](), dict[int, int]()
    for row in table.rows():
        one = LeaseRow(*columns.cells(row))
        before = lines.setdefault(one.lease, table.line)
        if before != table.line:
            raise table.error(f"repeats lease {one.lease} of line {before}")
        found.append((one, row[job]))
    return found


def _read_spans(table: Tabular) -> Iterator[LeaseSpan]:
    columns, hosts = _Columns(table, ReservationRow), table.column("hosts")
    for row in table.rows():
        lease, kind, start, end, _, lost = columns.cells(row)
        if end is not None and end < start:
            raise table.error(f"must not be before the start, as {seconds(end)} is", column=table.column("end"))
        yield LeaseSpan(lease, kind, start, end, table.hosts(row, hosts), bool(lost))


def _read_rows(path: Path | None, kind: type[_AnyRow], what: str, limits: Limits, notes: FileNotes) -> list[_AnyRow]:
    """Return the rows of a file that a run may have; none if it has other columns."""
    if path is None:
        return []
    table = Tabular(path, limits)
    if not _has(table.header, kind):
        notes.add(f"{path.name} is left out: {OTHER_COLUMNS}")
        return []
    table.report_unknown(what, notes.of(path), kind._fields)
    columns = _Columns(table, kind)
    return [kind(*columns.cells(row)) for row in table.rows()]

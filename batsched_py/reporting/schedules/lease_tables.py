"""The lease tables of a run: what became of each lease, what it had of which hosts, and images that hosts kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, get_type_hints

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.leases.accounting.columns import KINDS, ImageRow, LeaseRow, ReservationRow
from batsched_py.leases.lease import Use
from batsched_py.model.limits import LIMITS, Limits
from batsched_py.model.table import Table
from batsched_py.reporting.schedules.file_notes import OTHER_COLUMNS, FileNotes
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.results.records import JobRecord
from batsched_py.text.display import shown
from batsched_py.text.representation import Brief
from batsched_py.text.wording import seconds

#: Endings of the files.
LEASES: Final = "_leases.csv"
RESERVATIONS: Final = "_reservations.csv"
IMAGES: Final = "_images.csv"

#: Column of a lease's row that is not among its figures: the ids of its jobs, with blanks between them.
_JOB: Final = "job"
#: Kinds of what leases have of hosts.
_USES: Final = tuple(use.value for use in Use)
RUN: Final = Use.VM.value
#: Column -> what may stand there.
_WORDS: Final = {"type": tuple(KINDS.values()), "kind": _USES}
#: Seconds between a lease's run and its job in Batsim, whose messages take time.
_LATE: Final = 1.0


class LeaseSpan(Struct, frozen=True):
    """A use of hosts by a lease for a time: a run, or something that is done with its machines.

    Attributes:
        lease: its number.
        kind: vm, shutdown, suspend, resume, migrate-disk, migrate-memory or transfer.
        start: in seconds.
        end: None if it was under way when the run stopped.
        hosts: the ones used; if something moves, the ones it moves to.
        lost: True for a run that was thrown away.
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
        leases: by number, ascending.
        jobs: id of a job -> the number of the lease that it asked for.
        spans: in the order of their starts.
        images: that hosts keep for later leases.
    """

    leases: Mapping[int, LeaseRow]
    jobs: Mapping[str, int]
    spans: tuple[LeaseSpan, ...]
    images: tuple[ImageRow, ...] = ()

    def of_jobs(self, records: Iterable[JobRecord]) -> Mapping[str, int]:
        """Return job id -> number of its lease, of the jobs that belong to one: first ones and later segments.

        A segment has the id of the first job before its "#". Batsim 1 names them otherwise: there it is the lease that
        ran on these hosts from then on.
        """
        found = dict[str, int]()
        runs = {(span.hosts.bits, round(span.start / _LATE)): span.lease for span in self.spans if span.kind == RUN}
        for record in records:
            lease = self.jobs.get(record.job.id, self.jobs.get(record.job.id.partition("#")[0]))
            if lease is None and not record.rejected:
                at = round(record.start / _LATE)
                near = (runs.get((record.hosts.bits, second)) for second in (at, at - 1, at + 1))
                lease = next((one for one in near if one is not None), None)
            if lease is not None:
                found[record.job.id] = lease
        return found

    @property
    def end(self) -> float:
        """Return when the last of it is over, 0 if there is nothing."""
        return max((span.start if span.end is None else span.end for span in self.spans), default=0.0)

    def until(self, span: LeaseSpan) -> float:
        """Return when it is over; what was under way when the run stopped lasts until the last end of any."""
        return max(span.start, self.end) if span.end is None else span.end


def lease_tables_of(tables: Iterable[Table]) -> LeaseTables | None:
    """Return the leases of a run in this process, from the tables of its algorithm; None if it has none."""
    named = {table.name: table for table in tables}
    leases, spans, images = (named.get(name) for name in ("leases", "reservations", "images"))
    if leases is None or spans is None or not _are_ours(leases.header, spans.header):
        return None
    place = list(leases.header).index(_JOB)
    return _tables(
        [(LeaseRow(*row[: len(LeaseRow._fields)]), row[place]) for row in leases.rows],
        [_span(ReservationRow(*row)) for row in spans.rows],
        [ImageRow(*row) for row in images.rows] if images is not None and _has(images.header, ImageRow) else [],
    )


def read_lease_tables(
    leases: Path, spans: Path, images: Path | None = None, *, told: FileNotes, limits: Limits = LIMITS
) -> LeaseTables | None:
    """Read a `_leases.csv`, a `_reservations.csv` and perhaps an `_images.csv`; InputError names file, line and rule.

    None if they have other columns: an algorithm of a user's own may call its tables so.
    """
    rows, held = Tabular(leases, limits), Tabular(spans, limits)
    if not _are_ours(rows.header, held.header):
        return None
    rows.tell_unknown("a table of leases", told.of(leases), {*LeaseRow._fields, _JOB})
    held.tell_unknown("a table of reservations", told.of(spans), ReservationRow._fields)
    return _tables(_read_leases(rows), _read_spans(held), _read_images(images, limits, told))


def _are_ours(leases: Sequence[str], spans: Sequence[str]) -> bool:
    return _has(leases, LeaseRow) and _JOB in leases and _has(spans, ReservationRow)


def _has(header: Sequence[str], row: type[LeaseRow] | type[ReservationRow] | type[ImageRow]) -> bool:
    return set(row._fields) <= set(header)


def _tables(
    rows: Iterable[tuple[LeaseRow, str | None]], spans: Iterable[LeaseSpan], images: Iterable[ImageRow]
) -> LeaseTables:
    known = sorted(rows, key=lambda pair: pair[0].lease)
    jobs = {job: row.lease for row, names in known for job in (names or "").split(" ") if job}
    return LeaseTables(
        MappingProxyType({row.lease: row for row, _ in known}),
        MappingProxyType(jobs),
        tuple(sorted(spans, key=lambda span: (span.start, span.lease))),
        tuple(images),
    )


def _span(row: ReservationRow) -> LeaseSpan:
    return LeaseSpan(row.lease, row.kind, row.start, row.end, HostSet.parse(row.hosts), bool(row.lost))


class _Columns:
    """Columns of a file that are the fields of a row, in the fields' order."""

    def __init__(self, table: Tabular, kind: type[LeaseRow] | type[ReservationRow] | type[ImageRow]) -> None:
        self._table = table
        self._columns = [(table.column(name), hint, _WORDS.get(name)) for name, hint in get_type_hints(kind).items()]

    def cells(self, row: list[str]) -> list[Any]:
        """Return the cells of a row as the fields have them; InputError for one that breaks its rule."""
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


def _read_images(path: Path | None, limits: Limits, told: FileNotes) -> list[ImageRow]:
    if path is None:
        return []
    table = Tabular(path, limits)
    if not _has(table.header, ImageRow):
        told.add(f"{path.name} is left out: {OTHER_COLUMNS}")
        return []
    table.tell_unknown("a table of images", told.of(path), ImageRow._fields)
    columns = _Columns(table, ImageRow)
    return [ImageRow(*columns.cells(row)) for row in table.rows()]

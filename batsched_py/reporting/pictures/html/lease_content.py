"""The leases of a run as columns for the page: their outcomes, the jobs that are their segments, and their marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from batsched_py.reporting.pictures.html.short_numbers import Number, short
from batsched_py.reporting.pictures.lease_marks import MARK_NAMES, LeaseMark, lease_marks
from batsched_py.reporting.schedules.lease_tables import LeaseTables
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.lease_rows import LeaseRow
from batsched_py.results.records import JobRecord

#: Type of a lease in tables -> its display name.
TYPE_NAMES: Final[Mapping[str, str]] = {
    "BE": "best effort", "AR": "advance reservation", "IM": "immediate", "DL": "with a deadline",
}  # fmt: skip
_KINDS: Final = {kind: number for number, kind in enumerate(MARK_NAMES)}


class PackedMarks(Struct, frozen=True):
    """Marks of leases, ordered by start; times in seconds.

    Attributes:
        kind: an index into MARK_NAMES.
        lease: an index into the leases; -1 for an image, which belongs to no lease.
        start: the start.
        length: the duration.
        asked: the time of a reservation's request, else the start.
        hosts: the hosts, as intervals ("0-3 7").
    """

    kind: list[int]
    lease: list[int]
    start: list[Number]
    length: list[Number]
    asked: list[Number]
    hosts: list[str]


class PackedLeases(Struct, frozen=True):
    """The leases of a run, a column for each property; times in seconds, null if undefined.

    Attributes:
        of: for each job that ran, in the run's order, an index into the leases; -1 for none.
        first: the first job, an index into the content's names; -1 if there is none.
        id: the number of the lease.
        type: the display name of its type.
        state: the latest state.
        submit: the time of the request.
        wanted: the requested start of a reservation.
        start: the start of the first run.
        end: the time at which it was done.
        slowdown: the slowdown relative to the requested duration.
        suspended: the time for which its machines were suspended.
        lost: the time of discarded work.
        marks: the marks in addition to its runs.
    """

    of: list[int]
    first: list[int]
    id: list[int]
    type: list[str]
    state: list[str]
    submit: list[Number]
    wanted: list[Number | None]
    start: list[Number | None]
    end: list[Number | None]
    slowdown: list[Number | None]
    suspended: list[Number]
    lost: list[Number]
    marks: PackedMarks


def pack_leases(schedule: Schedule, ran: Sequence[JobRecord], numbers: Mapping[str, int]) -> PackedLeases | None:
    """Return the leases of a run, given the order of its jobs and their numbers; None if it has no leases."""
    leases = schedule.leases
    if leases is None:
        return None
    rows = list(leases.leases.values())
    at = {row.lease: place for place, row in enumerate(rows)}
    of_jobs = leases.of_jobs(ran)
    return PackedLeases(
        of=[at.get(of_jobs.get(record.job.id, -1), -1) for record in ran],
        first=_first(leases.of_jobs(schedule.jobs), rows, numbers),
        id=[row.lease for row in rows],
        type=[TYPE_NAMES[row.type] for row in rows],
        state=[row.state for row in rows],
        submit=[short(row.submit_time) for row in rows],
        wanted=[_known(row.requested_start) for row in rows],
        start=[_known(row.start_time) for row in rows],
        end=[_known(row.end_time) for row in rows],
        slowdown=[_known(row.slowdown) for row in rows],
        suspended=[short(row.suspended_time) for row in rows],
        lost=[short(row.lost_time) for row in rows],
        marks=_marks(leases, at),
    )


def _first(jobs: Mapping[str, int], rows: Sequence[LeaseRow], numbers: Mapping[str, int]) -> list[int]:
    """Return the number of each lease's first job, the lowest number of its jobs; -1 if it has none."""
    first = dict[int, int]()
    for job, lease in jobs.items():
        first[lease] = min(first.get(lease, numbers[job]), numbers[job])
    return [first.get(row.lease, -1) for row in rows]


def _marks(leases: LeaseTables, at: Mapping[int, int]) -> PackedMarks:
    marks: list[LeaseMark] = sorted(lease_marks(leases), key=lambda mark: mark.start)
    return PackedMarks(
        kind=[_KINDS[mark.kind] for mark in marks],
        lease=[at.get(mark.lease, -1) for mark in marks],
        start=[short(mark.start) for mark in marks],
        length=[short(mark.finish - mark.start) for mark in marks],
        asked=[short(mark.asked) for mark in marks],
        hosts=[str(mark.hosts) for mark in marks],
    )


def _known(time: float | None) -> Number | None:
    return None if time is None else short(time)

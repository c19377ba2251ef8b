"""Changes of a site since a snapshot: which leases, blocks of the schedule and experiments differ."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.experiments.reservation_views import LIVE_RESERVATIONS
from batsched_py.experiments.views import LIVE_EXPERIMENTS, ExperimentView
from batsched_py.leases.accounting.rows import LEASE_CONTROLS, ControlRow, LiveRow
from batsched_py.leases.drains import drained_hosts
from batsched_py.results.lease_rows import LeaseRow, ReservationRow
from batsched_py.site.job_ids import request_number
from batsched_py.site.snapshot import EMPTY, JobNow, Snapshot
from batsched_py.timelines.status_tables import LIVE_TIMELINES, TimelineState

# Each client of the stream of events has what it was sent, and is sent what has changed since. To compare two snapshots
# takes time in proportion to what is alive in them, once for all clients: rows of what has not changed are mostly the
# same objects. Of ended leases only the new ones are compared, since those tables only grow.
#
# Reasons and estimated starts of waiting leases differ in each snapshot for the whole queue, so they do not count.
#
# Changes of the last snapshots are kept, so that a client that was disconnected can go on. The name of an event begins
# with a token of this process: a site that was started again numbers its snapshots anew.

#: The number of snapshots with known changes, and of changed leases and experiments in one event.
_KEPT: Final = 256
_MOST: Final = 200
_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})
Key = TypeVar("Key", int, str)


class SiteChange(Struct, frozen=True):
    """The changes from one snapshot to another.

    Attributes:
        number: the number of the later snapshot.
        leases: numbers of leases, also of those without a request, and of jobs.
        past: number of an ended lease -> its reservations.
        experiments, deleted: numbers of experiments that have changed, and that are gone.
        queue, hosts, reservations: whether the order of the queue, the hosts in service or any reservation has changed.
    """

    number: int
    leases: Collection[int]
    past: Mapping[int, Sequence[ReservationRow]]
    experiments: Collection[int]
    deleted: Collection[int]
    queue: bool
    hosts: bool
    reservations: bool


class _Seen(NamedTuple):
    """The parts of a snapshot that are compared."""

    leases: Mapping[int, LeaseRow] = _NOTHING
    controls: Mapping[int, ControlRow] = _NOTHING
    live: Mapping[int, Sequence[LiveRow]] = _NOTHING
    jobs: Mapping[str, JobNow] = _NOTHING
    queue: Sequence[str] = ()
    hosts: object = None
    experiments: Mapping[int, ExperimentView] = _NOTHING
    timelines: Mapping[str, TimelineState] = _NOTHING
    reservations: object = ()


class SiteChanges:
    """The changes between the latest snapshots; used from one event loop.

    Args:
        latest: returns the latest snapshot.
        ended: the ended jobs, to which snapshots refer; it only grows.
    """

    def __init__(self, latest: Callable[[], Snapshot], ended: Sequence[JobNow]) -> None:
        self._latest, self._ended_jobs = latest, ended
        self._run = secrets.token_hex(4)
        self._snapshot: Snapshot = EMPTY
        self._seen = _Seen()
        #: The numbers of rows of ended leases, of their reservations and of ended jobs that were compared.
        self._ended, self._past, self._jobs = 0, 0, 0
        #: The latest changes, each from the snapshot of the one before.
        self._kept: deque[SiteChange] = deque(maxlen=_KEPT)

    @property
    def number(self) -> int:
        """The number of the latest snapshot that was compared."""
        return self._snapshot.number

    def live_rows(self, lease: int) -> Sequence[LiveRow]:
        """Return the reservations of a lease that has not ended."""
        return self._seen.live.get(lease, ())

    def name(self, number: int) -> str:
        """Return the id of the event after which a client has all changes up to a snapshot."""
        return f"{self._run}-{number}"

    def number_of(self, name: str) -> int | None:
        """Return the number of the snapshot of an event; None if it is not one of this process."""
        run, _, number = name.partition("-")
        return int(number) if run == self._run and number.isascii() and number.isdecimal() else None

    def since(self, number: int | None) -> SiteChange | None:
        """Return all changes since a snapshot; None if they are not known, or too many."""
        self.catch_up()
        if number == self.number:
            return SiteChange(number, (), {}, (), (), queue=False, hosts=False, reservations=False)
        kept = list(self._kept)
        begin = next((place for place, one in enumerate(kept) if one.number == number), None)
        if begin is None:
            return None
        found = _together(kept[begin + 1 :])
        return found if len(found.leases) + len(found.experiments) <= _MOST else None

    def catch_up(self) -> None:
        """Compare the latest snapshot with the one compared before."""
        snapshot = self._latest()
        if snapshot is not self._snapshot:
            before, self._seen, self._snapshot = self._seen, _seen(snapshot), snapshot
            self._kept.append(self._compared(before, self._seen, snapshot))

    def _compared(self, before: _Seen, after: _Seen, snapshot: Snapshot) -> SiteChange:
        leases = {
            *_different(before.leases, after.leases),
            *_different(before.controls, after.controls),
            *_different(before.live, after.live),
        }
        changed_jobs = [*_changed_jobs(before.jobs, after.jobs)]
        changed_jobs += [job.id for job in self._ended_jobs[self._jobs : snapshot.ended]]
        leases.update(number for job in changed_jobs if (number := request_number(job)) is not None)
        self._jobs = snapshot.ended
        ended = _new_rows(snapshot, "ended_leases", self._ended)
        leases.update(row.lease for row in cast(Sequence[LeaseRow], ended))
        self._ended += len(ended)
        past: dict[int, list[ReservationRow]] = {}
        rows = _new_rows(snapshot, "past_reservations", self._past)
        for row in cast(Sequence[ReservationRow], rows):
            past.setdefault(row.lease, []).append(row)
        self._past += len(rows)
        timelines = _different(before.timelines, after.timelines)
        experiments = {*_different(before.experiments, after.experiments), *(int(one) for one in timelines if one)}
        return SiteChange(
            snapshot.number,
            leases | past.keys(),
            past,
            experiments & after.experiments.keys(),
            before.experiments.keys() - after.experiments.keys(),
            queue=before.queue != after.queue,
            hosts=before.hosts != after.hosts,
            reservations=before.reservations != after.reservations,
        )


def _together(changes: Iterable[SiteChange]) -> SiteChange:
    """Return successive changes as one."""
    number, queue, hosts, reservations = 0, False, False, False
    leases, experiments, deleted = set[int](), set[int](), set[int]()
    past: dict[int, Sequence[ReservationRow]] = {}
    for one in changes:
        number = one.number
        leases.update(one.leases)
        past.update(one.past)
        experiments.update(one.experiments)
        deleted.update(one.deleted)
        queue, hosts, reservations = queue or one.queue, hosts or one.hosts, reservations or one.reservations
    return SiteChange(
        number, leases, past, experiments - deleted, deleted, queue=queue, hosts=hosts, reservations=reservations
    )


def _seen(snapshot: Snapshot) -> _Seen:
    live: dict[int, list[LiveRow]] = {}
    for row in cast(Iterable[LiveRow], _rows(snapshot, "reservations")):
        live.setdefault(row.lease, []).append(row)
    hosts, tables = snapshot.hosts, snapshot.tables
    return _Seen(
        {row.lease: row for row in cast(Iterable[LeaseRow], _rows(snapshot, "leases"))},
        {row.lease: row for row in cast(Iterable[ControlRow], _rows(snapshot, LEASE_CONTROLS))},
        live,
        snapshot.jobs,
        [job.id for job in snapshot.waiting],
        (hosts.unavailable, hosts.asleep, hosts.switching, drained_hosts(tables)),
        {int(row.id): row for row in cast(Iterable[ExperimentView], _rows(snapshot, LIVE_EXPERIMENTS))},
        {row.experiment: row for row in cast(Iterable[TimelineState], _rows(snapshot, LIVE_TIMELINES))},
        _rows(snapshot, LIVE_RESERVATIONS),
    )


def _rows(snapshot: Snapshot, table: str) -> Sequence[Any]:
    found = snapshot.tables.get(table)
    return () if found is None else cast(Sequence[Any], found.rows)


def _new_rows(snapshot: Snapshot, table: str, seen: int) -> Sequence[Any]:
    """Return the rows of a table that only grows after the first ones."""
    return _rows(snapshot, table)[seen:]


def _different(before: Mapping[Key, Any], after: Mapping[Key, Any]) -> Iterator[Key]:
    """Yield the keys whose values differ, or that only one of the mappings has."""
    for key, value in after.items():
        known = before.get(key)
        if known is not value and known != value:
            yield key
    for key in before:
        if key not in after:
            yield key


def _changed_jobs(before: Mapping[str, JobNow], after: Mapping[str, JobNow]) -> Iterator[str]:
    """Yield the ids of jobs that differ in more than the reason why they wait."""
    for key in _different(before, after):
        was, now = before.get(key), after.get(key)
        if was is None or now is None or replace(was, why=now.why) != now:
            yield key

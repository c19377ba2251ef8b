"""The schedule of a site: past, current and planned use of hosts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final, cast

from msgspec import Struct

from batsched_py.leases.accounting.rows import MACHINES, LiveRow
from batsched_py.results.lease_rows import ReservationRow
from batsched_py.site.api.changes import SiteChange
from batsched_py.site.board import Board
from batsched_py.site.job_ids import job_id, request_number
from batsched_py.site.snapshot import EMPTY, JobNow, Snapshot

#: The largest number of blocks in an answer; the last ones are sent.
_MOST_BLOCKS: Final = 20_000

#: The prefix of the names of experiments' machines.
_EXPERIMENTS: Final = "/experiments/"


class Block(Struct, frozen=True):
    """A period in which hosts are used, in the past, now or planned.

    Attributes:
        number: the number of the lease or job; None if it was not requested through the site.
        machine: the name of the machine that the lease is for: of an experiment such as 3/Server, or a VM; "" for none.
        kind: job, or the activity of a lease: vm, shutdown, suspend, resume, migrate-disk, migrate-memory, transfer.
        phase: planned, under way or over.
        start, end: simulated seconds; `end` is when it is to end if it has not, None if that is unknown.
        hosts: the hosts, as an interval set.
        lost: whether the work was lost.
        lease: the number of the lease or job in the tables of the run, which is `number` if it has one.
    """

    number: int | None
    kind: str
    phase: str
    start: float
    end: float | None
    hosts: str
    lost: bool = False
    machine: str = ""
    lease: int | None = None


class LeaseBlocks(Struct, frozen=True):
    """The blocks of a lease or job, which replace those that a client has.

    Attributes:
        lease: as in Block.
        blocks: all of them; planned ones that are missing are not planned any more.
    """

    lease: int
    blocks: list[Block]


class SiteSchedule:
    """The blocks of a site; used from one event loop.

    A question takes time in proportion to what is alive, and to the blocks that end after its beginning.

    Args:
        board: has the snapshots.
        requested: the numbers of requests.
    """

    def __init__(self, board: Board, requested: Container[int]) -> None:
        self._board, self._requested = board, requested
        #: The latest end of the first reservations of ended leases, or of the first ended jobs: ascending.
        self._ends: list[float] = []
        #: Number of a lease -> the name of its machine, in the snapshot that was seen last.
        self._names: Mapping[int, str] = {}
        self._seen: Snapshot = EMPTY

    def between(self, begin: float, end: float) -> list[Block]:
        """Return the blocks between two simulated times, for a Gantt chart."""
        snapshot = self._board.snapshot
        if "reservations" in snapshot.tables:
            past = cast(Sequence[ReservationRow], snapshot.tables["past_reservations"].rows)
            late = past[self._after(begin, len(past), lambda place: past[place].end or 0.0) :]
            found = [self._past(row) for row in late if row.start < end]
            found += [self._live(row) for row in cast(Iterable[LiveRow], snapshot.tables["reservations"].rows)]
        else:
            ended = self._board.ended
            first = self._after(begin, snapshot.ended, lambda place: ended[place].end or 0.0)
            found = [_job(job, "over") for job in ended[first : snapshot.ended] if job.hosts]
            found += [_job(job, "under way") for job in snapshot.running]
        return [one for one in found if one.start < end and (one.end is None or one.end > begin)][-_MOST_BLOCKS:]

    def of_leases(self, change: SiteChange, live: Callable[[int], Sequence[LiveRow]]) -> list[LeaseBlocks]:
        """Return all blocks of the leases and jobs that have changed."""
        if "reservations" in self._board.snapshot.tables:
            return [
                LeaseBlocks(lease, [*map(self._past, change.past.get(lease, ())), *map(self._live, live(lease))])
                for lease in sorted(change.leases)
            ]
        found = list[LeaseBlocks]()
        for number in sorted(change.leases):
            job = self._board.job(job_id(number))
            if job is not None:
                phase = "under way" if job.state == "running" else "over"
                found.append(LeaseBlocks(number, [_job(job, phase)] if job.hosts else []))
        return found

    def _after(self, begin: float, count: int, end_of: Callable[[int], float]) -> int:
        """Return the place of the first of `count` past ones that may end after a time."""
        ends = self._ends
        for place in range(len(ends), count):
            ends.append(max(end_of(place), ends[-1] if ends else 0.0))
        return bisect_right(ends, begin, hi=count)

    def _past(self, row: ReservationRow) -> Block:
        number, machine = self._named(row.lease)
        return Block(number, row.kind, "over", row.start, row.end, row.hosts, bool(row.lost), machine, row.lease)

    def _live(self, row: LiveRow) -> Block:
        number, machine = self._named(row.lease)
        return Block(number, row.kind, row.phase, row.start, row.end, row.hosts, machine=machine, lease=row.lease)

    def _named(self, lease: int) -> tuple[int | None, str]:
        """Return the number of a lease that was requested through the site, and the name of its machine."""
        machines = self._machines()
        return lease if lease in self._requested else None, machines.get(lease, "").removeprefix(_EXPERIMENTS)

    def _machines(self) -> Mapping[int, str]:
        snapshot = self._board.snapshot
        if snapshot is not self._seen:
            self._seen, table = snapshot, snapshot.tables.get(MACHINES)
            self._names = {} if table is None else dict(cast(Sequence[tuple[int, str]], table.rows))
        return self._names


def _job(job: JobNow, phase: str) -> Block:
    number = request_number(job.id)
    return Block(number, "job", phase, job.start or 0.0, job.end or job.ends_by, job.hosts, lease=number)

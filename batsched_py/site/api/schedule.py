"""The schedule of a site: past, current and planned use of hosts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, cast

from msgspec import Struct

from batsched_py.leases.accounting.rows import MACHINES, LiveRow
from batsched_py.results.lease_rows import ReservationRow
from batsched_py.site.api.lease_requests import request_number
from batsched_py.site.site import Site

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
    """

    number: int | None
    kind: str
    phase: str
    start: float
    end: float | None
    hosts: str
    lost: bool = False
    machine: str = ""


def blocks(site: Site, begin: float, end: float) -> list[Block]:
    """Return the blocks between two simulated times, for a Gantt chart."""
    snapshot, entries = site.board.snapshot, site.inbox.entries

    def known(lease: int) -> int | None:
        return lease if lease in entries else None

    machines = (
        dict(cast(Sequence[tuple[int, str]], snapshot.tables[MACHINES].rows)) if MACHINES in snapshot.tables else {}
    )

    def name(lease: int) -> str:
        return machines.get(lease, "").removeprefix(_EXPERIMENTS)

    if "reservations" in snapshot.tables:
        past = cast(Iterable[ReservationRow], snapshot.tables["past_reservations"].rows)
        live = cast(Iterable[LiveRow], snapshot.tables["reservations"].rows)
        found = [
            Block(known(row.lease), row.kind, "over", row.start, row.end, row.hosts, bool(row.lost), name(row.lease))
            for row in past
        ]
        found += [
            Block(known(row.lease), row.kind, row.phase, row.start, row.end, row.hosts, machine=name(row.lease))
            for row in live
        ]
    else:
        ended = site.board.ended[: snapshot.ended]
        jobs = [(job, "over") for job in ended if job.hosts] + [(job, "under way") for job in snapshot.running]
        found = [
            Block(request_number(job.id), "job", phase, job.start or 0.0, job.end or job.ends_by, job.hosts)
            for job, phase in jobs
        ]
    return [one for one in found if one.start < end and (one.end is None or one.end > begin)][-_MOST_BLOCKS:]

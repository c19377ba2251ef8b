"""Columns of the tables of leases and of their reservations (docs/lease-tables.md)."""

from __future__ import annotations

from typing import Final, NamedTuple

from batsched_py.leases.terms import Kind

#: Kind -> its abbreviation.
KINDS: Final = {Kind.BEST_EFFORT: "BE", Kind.ADVANCE: "AR", Kind.IMMEDIATE: "IM", Kind.DEADLINE: "DL"}

#: The live table of leases that no request of a user made: numbers, and names such as 3/Server or VM.
MACHINES: Final = "machines"


class LeaseRow(NamedTuple):
    """Terms of a lease, and what became of it; in seconds, None where there is no such time.

    Attributes:
        lease: its number.
        type: BE, AR, IM or DL.
        state: the last one, as Haizea spells it.
        start_time: of its first run that was not thrown away.
        end_time: when it was done, cancelled or failed.
        requested_start, deadline: None unless its terms have one.
        nodes: their number.
        requested_duration: its terms'.
        run_time: that its machines ran, without runs that were thrown away.
        waiting_time: from submission to start.
        slowdown: bounded, against the requested duration, as Haizea counts; None unless it is done.
        real_slowdown: the same against the time that it ran.
        suspensions: how often its machines were suspended.
        suspended_time: from each suspension to the resumption after it, without either.
        migrations: how often its machines were moved to other hosts.
        requeues: how often it was stopped for another and its work thrown away.
        lost_time: seconds that such runs took.
        alternative_start: when it could have started, if it asked for a time and was refused.
    """

    lease: int
    type: str
    state: str
    submit_time: float
    start_time: float | None
    end_time: float | None
    requested_start: float | None
    deadline: float | None
    nodes: int
    requested_duration: float
    run_time: float
    waiting_time: float | None
    slowdown: float | None
    real_slowdown: float | None
    suspensions: int
    suspended_time: float
    migrations: int
    requeues: int
    lost_time: float
    alternative_start: float | None


class ReservationRow(NamedTuple):
    """A reservation that has begun.

    Attributes:
        lease: the number of its lease; of a shared transfer, that of the lease for which it was planned.
        kind: vm, shutdown, suspend, resume, migrate-disk, migrate-memory or transfer.
        end: None while it is under way.
        hosts: from 0, as text such as "0-3 7"; those to which something moves.
        lost: 1 for a run that was thrown away.
    """

    lease: int
    kind: str
    start: float
    end: float | None
    hosts: str
    lost: int


class LiveRow(NamedTuple):
    """A reservation of a lease that has not ended.

    Attributes:
        lease: the number of its lease.
        kind: as in ReservationRow.
        phase: planned, under way or over.
        start, end: as they are planned, if they have not come.
        hosts: from 0, as text such as "0-3 7".
    """

    lease: int
    kind: str
    phase: str
    start: float
    end: float
    hosts: str


class ImageRow(NamedTuple):
    """An image that a host keeps, or kept, for later leases.

    Attributes:
        image: its name.
        host: a number from 0.
        start: when it came, in seconds.
        end: when it was dropped to make room; None if it is there.
    """

    image: str
    host: int
    start: float
    end: float | None

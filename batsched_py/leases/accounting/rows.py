"""Rows of leases and of their reservations, as they stand in tables."""

from __future__ import annotations

from typing import Final, NamedTuple

from batsched_py.bits import format_bits
from batsched_py.leases.accounting import times
from batsched_py.leases.lease import Lease, LeaseReservation, Phase
from batsched_py.leases.preparation.repository import Transfer
from batsched_py.leases.terms import ALL_TERMS, Kind, read_terms
from batsched_py.model.job import Job

#: Kind -> its abbreviation.
KINDS: Final = {Kind.BEST_EFFORT: "BE", Kind.ADVANCE: "AR", Kind.IMMEDIATE: "IM", Kind.DEADLINE: "DL"}


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


def lease_row(lease: Lease) -> LeaseRow:
    """Return the row of a lease."""
    lost = times.lost_runs(lease)
    return LeaseRow(
        lease.id,
        KINDS[lease.kind],
        lease.state.label,
        lease.submit,
        lease.started,
        times.ended(lease),
        lease.start,
        lease.deadline,
        lease.size,
        lease.duration,
        lease.accumulated,
        times.waiting_time(lease),
        times.slowdown(lease),
        times.slowdown(lease, lease.accumulated),
        times.suspensions(lease),
        times.suspended_time(lease),
        times.migrations(lease),
        len(lost),
        sum(run.end - run.start for run in lost),
        lease.alternative_start,
    )


def unheard_row(number: int, job: Job) -> LeaseRow:
    """Return the row of a lease that was not requested before the run stopped, by the job that would have asked."""
    terms = read_terms(job, ALL_TERMS)
    duration = terms.duration if terms.duration is not None else job.limit
    lease = Lease(number, terms.kind, job.submit_time, duration, ())
    return lease_row(lease)._replace(nodes=job.size, requested_start=terms.start, deadline=terms.deadline)


def reservation_rows(lease: Lease) -> list[ReservationRow]:
    """Return the rows of what a lease had, in the order in which it began."""
    lost = {id(run) for run in times.lost_runs(lease)}
    return [
        ReservationRow(
            lease.id, one.use.value, one.start, _end(one), format_bits(_hosts(one)), 1 if id(one) in lost else 0
        )
        for one in lease.executed
    ]


def _end(reservation: LeaseReservation) -> float | None:
    return reservation.end if reservation.phase is Phase.OVER else None


def _hosts(reservation: LeaseReservation) -> int:
    hosts = reservation.hosts if isinstance(reservation, Transfer) else reservation.nodes.values()
    bits = 0
    for host in hosts:
        bits |= 1 << host
    return bits

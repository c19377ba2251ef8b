"""Table rows of leases and of their reservations."""

from __future__ import annotations

from typing import Final, NamedTuple

from batsched_py.addition import add_up
from batsched_py.bits import format_bits
from batsched_py.leases.accounting import times
from batsched_py.leases.lease import Lease, LeaseReservation, Phase
from batsched_py.leases.preparation.repository import DiskTransfer
from batsched_py.model.job import Job
from batsched_py.model.lease_terms import ALL_TERMS, read_terms
from batsched_py.results.lease_rows import KINDS, LeaseRow, ReservationRow

#: The live table of leases that no request of a user made: numbers, and names such as 3/Server or VM.
MACHINES: Final = "machines"
#: The name of the live table of leases that are held, or have a priority.
LEASE_CONTROLS: Final = "lease_controls"


class LiveRow(NamedTuple):
    """A reservation of a lease that has not ended.

    Attributes:
        lease: the number of its lease.
        kind: as in ReservationRow.
        phase: planned, under way or over.
        start, end: the planned times, if in the future.
        hosts: an interval set of numbers from 0, such as "0-3 7".
    """

    lease: int
    kind: str
    phase: str
    start: float
    end: float
    hosts: str


class ControlRow(NamedTuple):
    """A lease that is held, or whose priority is not 0.

    Attributes:
        lease: the number of the lease.
        held: "user" or "operator"; "" if it is not held.
        priority: leases with a greater one come first.
    """

    lease: int
    held: str
    priority: int


def lease_row(lease: Lease) -> LeaseRow:
    """Return the row of a lease."""
    lost, suspensions = times.lost_runs(lease), times.suspensions(lease)
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
        suspensions,
        times.suspended_time(lease) if suspensions else 0.0,
        times.migrations(lease) if suspensions else 0,
        len(lost),
        add_up(run.end - run.start for run in lost),
        lease.alternative_start,
    )


def unheard_row(number: int, job: Job) -> LeaseRow:
    """Return the row of a lease that was not requested before the run stopped, from its job."""
    terms = read_terms(job, ALL_TERMS)
    duration = terms.duration if terms.duration is not None else job.limit
    lease = Lease(number, terms.kind, job.submit_time, duration, ())
    return lease_row(lease)._replace(nodes=job.size, requested_start=terms.start, deadline=terms.deadline)


def reservation_rows(lease: Lease) -> list[ReservationRow]:
    """Return the rows of a lease's reservations that have begun, in the order of their starts."""
    lost = {id(run) for run in times.lost_runs(lease)}
    return [
        ReservationRow(
            lease.id, one.use.value, one.start, _end(one), format_bits(_hosts(one)), 1 if id(one) in lost else 0
        )
        for one in lease.executed
    ]


def live_rows(lease: Lease) -> list[LiveRow]:
    """Return the rows of a lease's reservations: those that have begun, then those that are planned."""
    ahead = [one for run in lease.runs for one in run.all() if one.phase is Phase.PLANNED]
    ahead += [one for one in lease.transfers if one.phase is Phase.PLANNED]
    return [
        LiveRow(lease.id, one.use.value, one.phase.value, one.start, one.end, format_bits(_hosts(one)))
        for one in (*lease.executed, *ahead)
    ]


def _end(reservation: LeaseReservation) -> float | None:
    return reservation.end if reservation.phase is Phase.OVER else None


def _hosts(reservation: LeaseReservation) -> int:
    hosts = reservation.hosts if isinstance(reservation, DiskTransfer) else reservation.nodes.values()
    bits = 0
    for host in hosts:
        bits |= 1 << host
    return bits

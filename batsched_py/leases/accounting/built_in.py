"""Built-in probes: numbers of leases, queue size, CPU utilization, disk usage (H79, H80, H89, H90, H93)."""

from __future__ import annotations

from typing import Final

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.accounting.counters import Average
from batsched_py.leases.accounting.probe import AccountingProbe
from batsched_py.leases.accounting.times import slowdown, waiting_time
from batsched_py.leases.capacity import total
from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun
from batsched_py.leases.observer import LeaseSchedule
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import LeaseState, ReservationUse

#: Uses of reservations that count as CPU utilization.
_WORK: Final = (ReservationUse.VM, ReservationUse.SUSPEND, ReservationUse.RESUME, ReservationUse.SHUTDOWN)

#: The number of reservations above which ended ones are dropped.
_MANY: Final = 256


class AdmissionProbe(AccountingProbe):
    """Numbers of accepted and rejected leases of one kind.

    A lease is accepted once it has a schedule. Haizea counts each lease that its policy admits as accepted, and those
    that it rejects afterwards also as rejected.

    Args:
        accounting: receives the counters.
        kind: the kind of the leases.
        name: the name of the kind in the names of statistics.
    """

    def __init__(self, accounting: Accounting, kind: LeaseKind, name: str) -> None:
        super().__init__(accounting)
        self.kind, self.accepted, self.rejected = kind, f"Accepted {name}", f"Rejected {name}"
        self._totals = {f"Total accepted {name}": self.accepted, f"Total rejected {name}": self.rejected}
        self._admitted: dict[int, Lease] = {}
        accounting.create_counter(self.accepted)
        accounting.create_counter(self.rejected)
        for total_name in self._totals:
            accounting.create_stat(total_name)

    def at_lease_request(self, lease: Lease) -> None:
        """Count the lease, or defer this until it is known whether it gets a schedule."""
        if lease.kind is not self.kind:
            return
        if self.accounting.stats == "original":
            self.accounting.incr_counter(self.accepted, lease.id)
        else:
            self._admitted[lease.id] = lease

    def at_lease_done(self, lease: Lease) -> None:
        """Count the lease if it was rejected."""
        if lease.kind is self.kind and lease.state is LeaseState.REJECTED:
            self._admitted.pop(lease.id, None)
            self.accounting.incr_counter(self.rejected, lease.id)

    def at_timestep(self, lease_scheduler: LeaseSchedule) -> None:  # noqa: ARG002  # a hook
        """Count the leases of this instant that were not rejected."""
        for lease in self._admitted.values():
            self.accounting.incr_counter(self.accepted, lease.id)
        self._admitted.clear()

    def finalize_accounting(self) -> None:
        """Set the totals."""
        for name, counter in self._totals.items():
            self.accounting.set_stat(name, self.accounting.get_last_counter_value(counter))


class BestEffortProbe(AccountingProbe):
    """Numbers of completed and waiting best-effort leases, and the waiting time and bounded slowdown of each."""

    COMPLETED: Final = "Best-effort completed"
    QUEUE: Final = "Queue size"
    WAIT: Final = "Waiting time"
    SLOWDOWN: Final = "Slowdown"
    TOTAL: Final = "Total best-effort completed"
    ALL: Final = "all-best-effort"
    RUN_END: Final = "run-end"

    def __init__(self, accounting: Accounting) -> None:
        super().__init__(accounting)
        self._last: float | None = None
        accounting.create_counter(self.COMPLETED)
        accounting.create_counter(self.QUEUE, Average.TIME_WEIGHTED)
        accounting.create_lease_stat(self.WAIT)
        accounting.create_lease_stat(self.SLOWDOWN)
        accounting.create_stat(self.TOTAL)
        accounting.create_stat(self.ALL)
        if accounting.stats == "corrected":
            accounting.create_stat(self.RUN_END)

    def at_timestep(self, lease_scheduler: LeaseSchedule) -> None:
        """Count the waiting leases."""
        self.accounting.append_to_counter(self.QUEUE, len(lease_scheduler.queue))

    def at_lease_done(self, lease: Lease) -> None:
        """Record the waiting time and the slowdown of a completed lease."""
        if lease.kind is LeaseKind.BEST_EFFORT and lease.state is LeaseState.DONE:
            self._last = self.accounting.now
            self.accounting.set_lease_stat(self.WAIT, lease.id, waiting_time(lease))
            self.accounting.set_lease_stat(self.SLOWDOWN, lease.id, slowdown(lease))
            self.accounting.incr_counter(self.COMPLETED, lease.id)

    def finalize_accounting(self) -> None:
        """Set the totals; in Haizea, `all-best-effort` is the end of the run, regardless of the last lease's kind."""
        accounting = self.accounting
        accounting.set_stat(self.TOTAL, accounting.get_last_counter_value(self.COMPLETED))
        if accounting.stats == "original":
            accounting.set_stat(self.ALL, accounting.get_last_counter_time(self.COMPLETED))
        else:
            accounting.set_stat(self.ALL, self._last)
            accounting.set_stat(self.RUN_END, accounting.now)


class CpuUtilizationProbe(AccountingProbe):
    """The share of the site's CPUs that machines hold while they run, are suspended, resumed or shut down.

    While machines of a lease are suspended or resumed on a host, all that the lease holds there counts. At the end of a
    transfer, Haizea by mistake removes the first reservation with the same start from its table: a run that still goes
    on is then no longer counted.
    """

    COUNTER: Final = "CPU utilization"

    def __init__(self, accounting: Accounting) -> None:
        super().__init__(accounting)
        self._capacity = 0.0
        #: Reservation -> its run, and the CPUs that its machines hold; ended ones are dropped from time to time.
        self._held: dict[LeaseReservation, tuple[LeaseRun, float]] = {}
        #: For Haizea's way of counting: transfers under way, and runs under way that it takes for ended.
        self._transfers: list[LeaseReservation] = []
        self._overlooked: list[LeaseReservation] = []
        accounting.create_counter(self.COUNTER, Average.TIME_WEIGHTED)

    def at_timestep(self, lease_scheduler: LeaseSchedule) -> None:
        """Record the CPUs in use."""
        cpu = lease_scheduler.site.cpu
        if not self._capacity:
            self._capacity = sum(total(capacity[cpu]) for capacity in lease_scheduler.site.capacities)
        under_way = list(lease_scheduler.under_way())
        if self.accounting.stats == "original":
            under_way = self._not_overlooked(under_way)
        known, used = self._held, 0.0
        if len(known) > _MANY + 2 * len(under_way):  # most of them are over
            known.clear()
        for reservation in under_way:
            if reservation.use in _WORK:
                run = reservation.lease.runs[-1]
                held = known.get(reservation)
                if held is None or held[0] is not run:
                    held = known[reservation] = run, sum([total(run.shares[host][cpu]) for host in reservation.shares])
                used += held[1]
        self.accounting.append_to_counter(self.COUNTER, used / self._capacity)

    def _not_overlooked(self, under_way: list[LeaseReservation]) -> list[LeaseReservation]:
        for transfer in self._transfers:
            if transfer not in under_way:
                before = [one for one in under_way if one.start == transfer.start and one.order < transfer.order]
                self._overlooked += sorted(before, key=lambda one: one.order)[:1]
        self._transfers = [one for one in under_way if one.use is ReservationUse.TRANSFER]
        self._overlooked = [one for one in self._overlooked if one in under_way]
        return [one for one in under_way if one not in self._overlooked]


class DiskUsageProbe(AccountingProbe):
    """MB used on the fullest disk: images of leases, cached images, memory of suspended machines."""

    COUNTER: Final = "Disk usage"

    def __init__(self, accounting: Accounting) -> None:
        super().__init__(accounting)
        accounting.create_counter(self.COUNTER)

    def at_timestep(self, lease_scheduler: LeaseSchedule) -> None:
        """Record the usage of the fullest disk."""
        self.accounting.append_to_counter(self.COUNTER, lease_scheduler.disks.most_used())

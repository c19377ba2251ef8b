"""Ledger of a run: an observer that calls the probes, and records the outcome of each lease."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from batsched_py.leases.accounting.accounting import Accounting, Stats
from batsched_py.leases.accounting.catalogue import NO_PROBES, Probes
from batsched_py.leases.accounting.probe import AccountingProbe
from batsched_py.leases.accounting.rows import LiveRow, lease_row, live_rows, reservation_rows
from batsched_py.leases.haizea_interface.bases import HaizeaProbe
from batsched_py.leases.haizea_interface.times import clock_at
from batsched_py.leases.haizea_interface.views import LeaseView
from batsched_py.leases.lease import Lease
from batsched_py.leases.observer import LeaseSchedule, Observer
from batsched_py.leases.site import Site
from batsched_py.model.table import Table
from batsched_py.named import failed
from batsched_py.results.lease_rows import LeaseRow, ReservationRow
from batsched_py.text.wording import seconds

#: The hooks of probes.
_HOOKS: Final = ("at_timestep", "at_lease_request", "at_lease_done", "finalize_accounting")


class Ledger(Observer):
    """The records of a run's leases, and the calls of its probes; without probes, instants take no time.

    Args:
        probes: the probes of the run.
        stats: how built-in probes compute the statistics that Haizea gets wrong.

    Attributes:
        accounting: the counters and statistics of the probes.
    """

    def __init__(self, probes: Probes = NO_PROBES, stats: Stats = "corrected") -> None:
        self.accounting = Accounting(stats)
        made = [make(self.accounting) for make in probes.makers]
        #: Hook -> probes that override it, each with its method.
        self._calls: dict[str, list[tuple[AccountingProbe, Callable[..., Any]]]] = {
            hook: [
                (probe, getattr(probe, hook))
                for probe in made
                if getattr(type(probe), hook) is not getattr(AccountingProbe, hook)
            ]
            for hook in _HOOKS
        }
        #: Admitted leases that have not ended, by id.
        self._open: dict[int, Lease] = {}
        self._leases: list[LeaseRow] = []
        self._reservations: list[ReservationRow] = []
        #: Id of a lease without reservations -> length of its history, and its row at that length.
        self._quiet: dict[int, tuple[int, LeaseRow]] = {}
        self._closed = False
        #: The resource types of the site.
        self._types: tuple[str, ...] = ()

    def opened(self, site: Site) -> None:
        """Keep the resource types of the site."""
        self._types = site.types

    def admitted(self, lease: Lease, now: float) -> None:
        """Notify the probes of an admitted request."""
        self._open[lease.id] = lease
        self._notify(now, "at_lease_request", lease)

    def ended(self, lease: Lease, now: float) -> None:
        """Record the outcome of a lease, and notify the probes."""
        self._open.pop(lease.id, None)
        self._quiet.pop(lease.id, None)
        self._leases.append(lease_row(lease))
        self._reservations += reservation_rows(lease)
        self._notify(now, "at_lease_done", lease)

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """Notify the probes of the end of an instant."""
        self._notify(now, "at_timestep", scheduler)

    def note_unheard(self, rows: Iterable[LeaseRow]) -> None:
        """Record leases that were not requested before the run stopped."""
        self._leases += rows

    def close(self, now: float) -> None:
        """Close the counters and let the probes set their totals; further calls have no effect."""
        if self._closed:
            return
        self._closed = True
        self.accounting.close(now)
        self._notify(now, "finalize_accounting")

    def lease_rows(self) -> list[LeaseRow]:
        """Return a row for each lease so far, ordered by number."""
        return sorted((*self._leases, *map(lease_row, self._open.values())), key=lambda row: row.lease)

    def reservation_rows(self) -> list[ReservationRow]:
        """Return a row for each reservation that has begun, ordered by start, then by lease."""
        under_way = [row for lease in self._open.values() for row in reservation_rows(lease)]
        return sorted((*self._reservations, *under_way), key=lambda row: (row.start, row.lease))

    def live_tables(self) -> list[Table]:
        """Return the live tables of leases and reservations; those of ended leases are lists that only grow."""
        planned = [row for lease in self._open.values() if _has_reservations(lease) for row in live_rows(lease)]
        return [
            Table("leases", LeaseRow._fields, [self._live_row(lease) for lease in self._open.values()]),
            Table("ended_leases", LeaseRow._fields, self._leases),
            Table("reservations", LiveRow._fields, planned),
            Table("past_reservations", ReservationRow._fields, self._reservations),
        ]

    def _live_row(self, lease: Lease) -> LeaseRow:
        """Return the row of a lease; for one without reservations, the row made before, if still valid."""
        if _has_reservations(lease):
            return lease_row(lease)
        changes, known = len(lease.history), self._quiet.get(lease.id)
        if known is None or known[0] != changes:
            known = self._quiet[lease.id] = changes, lease_row(lease)
        return known[1]

    def _notify(self, now: float, hook: str, *about: Lease | LeaseSchedule) -> None:
        self.accounting.now = now
        for probe, call in self._calls[hook]:
            try:
                if isinstance(probe, HaizeaProbe):
                    seen = [LeaseView(one, self._types) if isinstance(one, Lease) else one for one in about]
                    with clock_at(now):
                        call(*seen)
                else:
                    call(*about)
            except Exception as error:
                raise failed(f"probe {type(probe).__name__}: {hook} at t={seconds(now)}", error) from error


def _has_reservations(lease: Lease) -> bool:
    return bool(lease.runs or lease.executed or lease.transfers)

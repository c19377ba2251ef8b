"""Probe: a part of the accounting, built in or a user's own, that counts events of leases (H76, H92)."""

from __future__ import annotations

from collections.abc import Callable

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.lease import Lease
from batsched_py.leases.observer import LeaseSchedule


class AccountingProbe:
    """Base class of probes, whose hooks do nothing: a probe overrides those that it needs.

    A probe creates its counters and statistics in `__init__`, and fills them through `self.accounting`.
    """

    def __init__(self, accounting: Accounting) -> None:
        self.accounting = accounting

    def at_timestep(self, lease_scheduler: LeaseSchedule) -> None:
        """Inspect the scheduler at the end of an instant."""

    def at_lease_request(self, lease: Lease) -> None:
        """Count a lease that has been requested and admitted."""

    def at_lease_done(self, lease: Lease) -> None:
        """Count a lease that has reached a final state."""

    def finalize_accounting(self) -> None:
        """Set statistics of the whole run; the counters are closed."""


#: Maker of a probe that records in an accounting.
MakeProbe = Callable[[Accounting], AccountingProbe]

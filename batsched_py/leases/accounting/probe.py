"""Probe: a part of the accounting, built in or a user's own, that looks at leases and at the scheduler (H76, H92)."""

from __future__ import annotations

from collections.abc import Callable

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.lease import Lease
from batsched_py.leases.observer import LeaseSchedule


class AccountingProbe:
    """Base of probes, which override what they want to be told; by itself it does nothing.

    A probe creates its counters and figures in `__init__`, and fills them by `self.accounting`.
    """

    def __init__(self, accounting: Accounting) -> None:
        self.accounting = accounting

    def at_timestep(self, lease_scheduler: LeaseSchedule) -> None:
        """Look at the scheduler at the end of an instant."""

    def at_lease_request(self, lease: Lease) -> None:
        """Count a lease that was requested and admitted."""

    def at_lease_done(self, lease: Lease) -> None:
        """Count a lease that is in a final state, whichever that is."""

    def finalize_accounting(self) -> None:
        """Set figures of the whole run; counters are closed."""


#: Makes a probe that writes into an accounting.
MakeProbe = Callable[[Accounting], AccountingProbe]

"""Base classes of users' own policies and probes, with Haizea's names (H54, H91, H92).

Deriving from them is optional: a class with the same methods suffices.
"""

from __future__ import annotations

from batsched_py.leases.accounting.probe import AccountingProbe
from batsched_py.leases.haizea_interface.views import LeaseView, SlotTableView


class LeaseAdmissionPolicy:
    """Base class of policies that decide which leases may be scheduled at all."""

    def __init__(self, slottable: SlotTableView) -> None:
        self.slottable = slottable

    def accept_lease(self, lease: LeaseView) -> bool:
        """Return whether a newly requested lease may be scheduled."""
        raise NotImplementedError(f"{type(self).__name__} has no method accept_lease")


class PreemptabilityPolicy:
    """Base class of policies that decide which leases may be preempted for others."""

    def __init__(self, slottable: SlotTableView) -> None:
        self.slottable = slottable

    def get_lease_preemptability_score(self, preemptor: LeaseView, preemptee: LeaseView, time: float) -> float:
        """Return the score of `preemptee` at `time`: the highest is preempted first, a negative one never."""
        raise NotImplementedError(f"{type(self).__name__} has no method get_lease_preemptability_score")


class HostSelectionPolicy:
    """Base class of policies that order hosts for a lease."""

    def __init__(self, slottable: SlotTableView) -> None:
        self.slottable = slottable

    def get_host_score(self, node: int, time: float, lease: LeaseView) -> float:
        """Return the score of a host for a lease starting at `time`: the highest is used first, a negative one never.

        Hosts are numbered from 1. Ties are broken by the lowest number.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method get_host_score")


class HaizeaProbe(AccountingProbe):
    """Base class of probes with Haizea's interface, which receive a `LeaseView`."""

    def _set_stat_from_counter(self, stat_id: str, counter_id: str) -> None:
        """Set a statistic of the run to the latest value of a counter."""
        self.accounting.set_stat(stat_id, self.accounting.get_last_counter_value(counter_id))

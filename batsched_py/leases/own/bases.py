"""Bases of users' own policies and probes, by Haizea's names (H54, H91, H92); their methods are enough."""

from __future__ import annotations

from batsched_py.leases.accounting.probe import AccountingProbe
from batsched_py.leases.own.views import LeaseView, SlotTable


class LeaseAdmissionPolicy:
    """Base of policies that decide which leases may be scheduled at all."""

    def __init__(self, slottable: SlotTable) -> None:
        self.slottable = slottable

    def accept_lease(self, lease: LeaseView) -> bool:
        """Return whether a lease that is just requested may be scheduled."""
        raise NotImplementedError(f"{type(self).__name__} has no method accept_lease")


class PreemptabilityPolicy:
    """Base of policies that decide which leases give way to others."""

    def __init__(self, slottable: SlotTable) -> None:
        self.slottable = slottable

    def get_lease_preemptability_score(self, preemptor: LeaseView, preemptee: LeaseView, time: float) -> float:
        """Return how readily `preemptee` gives way at a time: the highest score goes first, below 0 is never."""
        raise NotImplementedError(f"{type(self).__name__} has no method get_lease_preemptability_score")


class HostSelectionPolicy:
    """Base of policies that decide which hosts are taken first."""

    def __init__(self, slottable: SlotTable) -> None:
        self.slottable = slottable

    def get_host_score(self, node: int, time: float, lease: LeaseView) -> float:
        """Return how good a host is for a lease that would start at a time: the highest goes first, below 0 is never.

        Hosts are numbered from 1. Among equal scores the lowest number goes first.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method get_host_score")


class HaizeaProbe(AccountingProbe):
    """Base of probes that are told of leases as Haizea has them: of `LeaseView`."""

    def _set_stat_from_counter(self, stat_id: str, counter_id: str) -> None:
        """Set a figure of the run to the latest value of a counter."""
        self.accounting.set_stat(stat_id, self.accounting.get_last_counter_value(counter_id))

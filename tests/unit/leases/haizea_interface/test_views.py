"""Views of leases and of the slot table."""

from __future__ import annotations

from batsched_py.leases.haizea_interface.views import LeaseView, SlotTableView, Timestamp
from batsched_py.leases.lease import Lease, LeaseReservation
from batsched_py.leases.table import LeaseTable
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import ReservationUse

TYPES = ("CPU", "Memory", "Ponies")


def test_a_lease_has_all_that_haizea_offers() -> None:
    """H91; nodes are numbered from 1, several instances add up."""
    lease = LeaseView(
        Lease(
            7, LeaseKind.ADVANCE, 900.0, 1800.0, (((50.0, 50.0), 512.0, 1.0), (100.0, 1024.0, 0.0)),
            start=3600.0, preemptible=False,
        ),
        TYPES,
    )  # fmt: skip
    assert (lease.id, lease.numnodes, lease.preemptible, lease.submit_time) == (7, 2, False, 900.0)
    assert (lease.start.requested, lease.start.actual) == (3600.0, None)
    assert lease.duration.requested.hours == 0.5
    assert lease.get_type() == lease.ADVANCE_RESERVATION
    assert lease.get_state() == LeaseView.STATE_NEW == 0  # type: ignore[attr-defined]  # made of the states
    first, second = lease.requested_resources[1], lease.requested_resources[2]
    assert first.get_resource_types() == list(TYPES)
    assert (first.get_quantity("CPU"), first.get_ninstances("CPU"), first.get_quantity_instance("CPU", 2)) == (
        100, 2, 50,
    )  # fmt: skip
    assert (second.get_quantity("Memory"), second.get_quantity("Ponies")) == (1024, 0)


def test_a_start_that_is_no_instant_has_haizeas_word() -> None:
    """Now, or unspecified."""
    starts = {
        kind: LeaseView(Lease(1, kind, 0.0, 60.0, ((1.0,),)), ("CPU",)).start.requested
        for kind in (LeaseKind.IMMEDIATE, LeaseKind.BEST_EFFORT)
    }
    assert starts == {LeaseKind.IMMEDIATE: Timestamp.NOW, LeaseKind.BEST_EFFORT: Timestamp.UNSPECIFIED}


def test_the_slot_table_tells_what_is_on_hosts_from_1_on() -> None:
    """It has the free amounts, the number of leases, and until when."""
    table = LeaseTable([(100.0, 1024.0)] * 2)
    lease = Lease(1, LeaseKind.BEST_EFFORT, 0.0, 60.0, ((40.0, 24.0),))
    table.add(LeaseReservation(lease, ReservationUse.VM, 0.0, 60.0, nodes={1: 1}, shares={1: (40.0, 24.0)}))
    seen = SlotTableView(table)
    assert list(seen.nodes) == [1, 2]
    assert seen.nodes[1].get_quantity("Memory") == 1024
    assert (seen.get_free(1, 0).get_quantity("CPU"), seen.get_free(2, 0).get_quantity("CPU")) == (100, 60)
    assert (seen.get_number_of_leases(1, 0), seen.get_number_of_leases(2, 0)) == (0, 1)
    assert seen.get_next_change(2, 0) == 60.0

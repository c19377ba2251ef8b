"""The states of a lease: all of Haizea's, and no way out of the last ones."""

from __future__ import annotations

import pytest

from batsched_py.leases.lease import Lease
from batsched_py.leases.lifecycle import FINAL, SUSPENDED, TRANSITIONS
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import LeaseState


def test_each_state_has_a_row_and_a_number() -> None:
    """H10, H11."""
    assert set(TRANSITIONS) == set(LeaseState)
    assert [state.code for state in LeaseState] == list(range(18))
    assert {state.label for state in FINAL} == {"Done", "Cancelled", "Fail", "Rejected"}
    assert {state.label for state in SUSPENDED} == {"Suspended-Pending", "Suspended-Queued", "Suspended-Scheduled"}


def test_every_state_can_be_reached_from_new() -> None:
    """No state stands apart."""
    reached, border = {LeaseState.NEW}, [LeaseState.NEW]
    while border:
        following = TRANSITIONS[border.pop()] - reached
        reached |= following
        border += following
    assert reached == set(LeaseState)


def test_a_change_that_is_not_in_the_table_tells_the_story() -> None:
    """The states that the lease went through are in the message."""
    lease = Lease(3, LeaseKind.BEST_EFFORT, 0.0, 60.0, ((100.0, 1024.0),))
    lease.change(LeaseState.PENDING, 5.0)
    lease.change(LeaseState.QUEUED, 6.0)
    with pytest.raises(AssertionError, match=r"lease 3.* cannot become Active: Pending at 5, Queued at 6"):
        lease.change(LeaseState.ACTIVE, 7.0)


def test_nodes_are_mapped_by_their_demand() -> None:
    """H59: each type counts relative to the largest demand of it; ties by number."""
    demands = ((50.0, 256.0), (100.0, 256.0), (10.0, 1024.0), (100.0, 256.0))
    assert Lease(1, LeaseKind.BEST_EFFORT, 0.0, 60.0, demands).order == (2, 4, 3, 1)

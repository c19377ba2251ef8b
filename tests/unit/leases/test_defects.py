"""Defects of Haizea that no recorded case shows: what happens here instead (docs/how-to/from-haizea.md)."""

from __future__ import annotations

import math

import pytest

from batsched_py.leases.actions import Stop
from batsched_py.leases.lease import Lease
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.leases.settings import LeaseSettings
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import LeaseState, ReservationUse
from tests.lease_checks import Checks
from tests.lease_driver import RESERVATIONS_FIRST, Request, lease, play, site

IMAGE = ("a.img", 640.0)


def runs(asked: Lease) -> list[tuple[float, float]]:
    """Starts and ends of the runs of its machines."""
    return [(one.start, one.end) for one in asked.executed if one.use is ReservationUse.VM]


def transfers(asked: Lease) -> list[tuple[float, float]]:
    """Starts and ends of the transfers of its image."""
    return [(one.start, one.end) for one in asked.executed if one.use is ReservationUse.TRANSFER]


def test_d1_a_reservation_whose_start_is_past_is_rejected() -> None:
    """Haizea accepts it, never starts it, and stops at its end."""
    [late, other] = play([lease(1, 100, 1, 50, start=90.0), lease(2, 100, 1, 50, start=100.0)]).leases
    assert late.state is LeaseState.REJECTED
    assert runs(other) == [(100, 150)]


def test_d3_an_immediate_lease_is_never_cut() -> None:
    """Before a reservation there is no room for all of it: rejected, not suspended and forgotten."""
    [reserved, cut, short] = play(
        [
            lease(1, 0, 4, 100, start=300.0),
            lease(2, 10, 1, 600, kind=LeaseKind.IMMEDIATE),
            lease(3, 10, 1, 290, kind=LeaseKind.IMMEDIATE),
        ],
        observer=Checks(),
    ).leases
    assert cut.state is LeaseState.REJECTED
    assert runs(short) == [(10, 300)]
    assert runs(reserved) == [(300, 400)]


def test_d9_each_machine_resumes_on_its_own_host() -> None:
    """Four machines of unequal memory on two hosts; Haizea keeps only the set of hosts, and deals them out anew."""
    victim = lease(1, 0, 3, 3600, cpu=50.0, memory=512.0)
    play([victim, lease(2, 600, 2, 900, start=1800.0)], hosts=2, observer=Checks())
    assert [run.nodes for run in victim.runs] == [{1: 0, 2: 0, 3: 1}] * 2


def test_d10_a_reservation_within_a_planned_suspension_moves_it() -> None:
    """The suspension was to end at 1800; it ends at 1780 for the reservation that comes between."""
    [victim, _, between] = play(
        [lease(1, 0, 1, 3600), lease(2, 100, 4, 600, start=1800.0), lease(3, 200, 4, 10, start=1780.0)],
        observer=Checks(),
    ).leases
    assert runs(victim) == [(0, 1748), (2432, 4284)]
    assert runs(between) == [(1780, 1790)]


def test_d13_a_lease_whose_image_is_on_its_way_is_planned_anew_when_it_is_there() -> None:
    """A host becomes free in the middle of the transfer; Haizea plans the lease anew at once, and it fails."""
    first, second = lease(1, 0, 1, 1000, image=IMAGE), lease(2, 0, 1, 100, image=IMAGE)
    transfer = TransferSettings(share=False)
    play([Request(first, 20.0), Request(second)], hosts=1, transfers=transfer, observer=Checks())
    assert runs(first) == [(52, 72)]
    assert transfers(second) == [(52, 104), (104, 156)]
    assert runs(second) == [(156, 256)]


def test_d13_a_lease_keeps_its_start_if_its_image_would_come_too_late_again() -> None:
    """A host becomes free during the transfer of 820 s, the next one would be over at 1692: it waits for 1052."""
    first, second = lease(1, 0, 1, 1000, image=IMAGE), lease(2, 0, 1, 100, image=("b.img", 10250.0))
    play([Request(first, 20.0), Request(second)], hosts=1, transfers=TransferSettings(), observer=Checks())
    assert transfers(second) == [(52, 872)]
    assert runs(second) == [(1052, 1152)]


def test_a_transfer_that_others_share_is_moved_no_further_than_their_start() -> None:
    """H49: for the image of lease 5 all others are placed anew; that of lease 2, due at 400, is awaited at 348 by 4."""
    asked = [
        lease(1, 0, 1, 100, start=400.0, image=("w.img", 640.0)),
        lease(2, 0, 1, 100, start=400.0, image=("x.img", 640.0)),
        lease(3, 0, 1, 100, start=290.0, image=("y.img", 3375.0)),
        lease(4, 1, 1, 100, image=("x.img", 640.0)),
        lease(5, 5, 1, 100, start=300.0, image=("z.img", 250.0)),
    ]
    play(asked, hosts=8, transfers=TransferSettings(mechanism="multicast"), observer=Checks())
    assert transfers(asked[1]) == [(296, 348)]
    assert runs(asked[3]) == [(348, 448)]
    assert transfers(asked[4]) == [(276, 296)]


def test_a_transfer_of_a_lease_that_is_cancelled_ends_then() -> None:
    """It was to end at 52."""
    scheduler = LeaseScheduler(site(4), LeaseSettings(), RESERVATIONS_FIRST, TransferSettings())
    gone = lease(1, 0, 1, 3600, image=IMAGE)
    scheduler.step(0.0, (), [gone])
    scheduler.step(20.0)
    scheduler.cancel(gone, 20.0)
    scheduler.step(20.0)
    assert transfers(gone) == [(0, 20)]


@pytest.mark.parametrize(("order", "ends"), [("youngest", {3: 8764, 4: 9064}), ("oldest", {1: 8164, 2: 8464})])
def test_d16_the_youngest_give_way(order: str, ends: dict[int, float]) -> None:
    """HA-27: the two youngest of four; with Haizea's order the two oldest."""
    driver = play(
        [*(lease(number, 300 * (number - 1), 1, 7200) for number in range(1, 5)), lease(5, 1200, 2, 900, start=1800.0)],
        victim_order=order,
        observer=Checks(),
    )
    assert {one.id: one.end for one in driver.leases if len(one.runs) > 1} == ends


def test_d16_who_is_not_preemptible_is_left_alone() -> None:
    """HA-16: the reservation is rejected."""
    [kept, reserved] = play([lease(1, 0, 1, 3600, preemptible=False), lease(2, 900, 4, 1800, start=1800.0)]).leases
    assert runs(kept) == [(0, 3600)]
    assert reserved.state is LeaseState.REJECTED


@pytest.mark.parametrize(
    ("seconds", "honours", "expected"),
    [(3600, True, [(3600, 7200)]), (1700, True, [(10, 1710)]), (3600, False, [(10, 1768), (3632, 5474)])],
)
def test_d16_who_is_not_preemptible_is_suspended_for_no_reservation(
    seconds: float, honours: bool, expected: list[tuple[float, float]]
) -> None:
    """Nor for one that is there before: it starts if it ends by then, or waits. Haizea suspends it."""
    reserved = lease(1, 0, 4, 1800, start=1800.0)
    kept = lease(2, 10, 1, seconds, preemptible=False)
    play([reserved, kept], observer=Checks(), honour_preemptible=honours)
    assert runs(kept) == expected


def test_d16_its_hosts_are_used_before_by_others() -> None:
    """While it waits for the reservation to end, a lease that is preemptible runs and is suspended."""
    jobs = [lease(1, 0, 4, 1800, start=1800.0), lease(2, 10, 4, 3600, preemptible=False), lease(3, 20, 1, 3600)]
    [_, kept, other] = play(jobs, observer=Checks()).leases
    assert runs(kept)[0][0] >= 3600
    assert len(runs(kept)) == 1
    assert runs(other)[0][0] == 20


@pytest.mark.parametrize(("holds", "state"), [(True, LeaseState.REJECTED), (False, LeaseState.DONE)])
def test_d17_a_machine_that_is_suspended_holds_its_cpu(holds: bool, state: LeaseState) -> None:
    """Nobody else computes on its host from 1784 to 1800; with Haizea's rule an immediate lease does."""
    driver = play(
        [
            lease(1, 0, 1, 3600, memory=512.0),
            lease(2, 100, 1, 100, start=1800.0, memory=512.0),
            lease(3, 1784, 1, 10, memory=512.0, kind=LeaseKind.IMMEDIATE),
        ],
        hosts=1,
        hold_cpu=holds,
    )
    assert driver.leases[2].state is state


def test_d19_a_cache_stays_within_its_size() -> None:
    """Room is made for the image that comes, not for those that are there; Haizea kept 1920 MB of 1300."""
    asked = [lease(number, 1000 * number, 1, 100, image=(f"{number}.img", 640.0)) for number in (1, 2, 3)]
    driver = play(asked, hosts=1, transfers=TransferSettings(cache=1300.0), observer=Checks())
    assert [driver.scheduler.disks.holding(f"{number}.img") for number in (1, 2, 3)] == [set(), {0}, {0}]
    assert driver.scheduler.disks.used(0) == 1280


def test_d20_a_reservation_takes_an_image_that_a_host_keeps() -> None:
    """No second transfer."""
    [first, reserved] = play(
        [lease(1, 0, 1, 100, image=IMAGE), lease(2, 900, 1, 100, start=1000.0, image=IMAGE)],
        hosts=1,
        transfers=TransferSettings(cache=math.inf),
        observer=Checks(),
    ).leases
    assert transfers(first) == [(0, 52)]
    assert transfers(reserved) == []
    assert runs(reserved) == [(1000, 1100)]


def test_d24_a_lease_that_shares_a_transfer_begins_when_it_is_over() -> None:
    """HA-26c: both start at 52; in Haizea the second never becomes ready, and fails."""
    shared = TransferSettings(mechanism="multicast")
    driver = play([lease(1, 0, 1, 100, image=IMAGE), lease(2, 0, 1, 100, image=IMAGE)], transfers=shared)
    assert [runs(one) for one in driver.leases] == [[(52, 152)], [(52, 152)]]


def test_d25_machines_of_a_requeued_lease_are_told_to_stop() -> None:
    """HA-3: the lease is cancelled at 900 for a reservation at 1800."""
    scheduler = LeaseScheduler(site(4), LeaseSettings(suspension="none"), RESERVATIONS_FIRST)
    scheduler.step(0.0, (), [lease(1, 0, 1, 3600)])
    scheduler.actions.clear()
    scheduler.step(900.0, (), [lease(2, 900, 4, 1800, start=1800.0)])
    [stop] = scheduler.actions
    assert isinstance(stop, Stop)
    assert (stop.lease.id, stop.why, stop.run.end) == (1, "requeue", 900)

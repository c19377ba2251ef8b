"""The slot table of capacities: what is free on a host, until when, and when that changes."""

from __future__ import annotations

import math
import random

import pytest

from batsched_py.leases.capacity import Amounts, total
from batsched_py.leases.lease import Lease, LeaseReservation
from batsched_py.leases.policies.hosts import GreedyHosts, score
from batsched_py.leases.table import LeaseTable
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import ReservationUse

FULL: Amounts = (100.0, 1024.0)
HALF: Amounts = (50.0, 512.0)
QUARTER: Amounts = (25.0, 256.0)
NONE: Amounts = (0.0, 0.0)


def at(clock: int) -> float:
    """Minutes of a time such as 1315, which is a quarter past one."""
    return float(clock // 100 * 60 + clock % 100)


def reserved(table: LeaseTable, lease: int, start: int, end: int, shares: dict[int, Amounts]) -> LeaseReservation:
    """A reservation that was put into the table."""
    holder = Lease(lease, LeaseKind.BEST_EFFORT, 0.0, 60.0, (FULL,))
    reservation = LeaseReservation(holder, ReservationUse.VM, at(start), at(end), nodes={}, shares=shares)
    table.add(reservation)
    return reservation


def picture(table: LeaseTable) -> list[list[tuple[float, Amounts]]]:
    """Return the free amounts of each host at all times at which they change."""
    times = sorted({host.next_change(at(clock)) for host in table.hosts for clock in range(1255, 1420)} - {math.inf})
    return [[(time, host.free_at(time)) for time in times] for host in table.hosts]


def test_what_is_free_follows_the_reservations() -> None:
    """HA-34: five reservations on two hosts; taking them away in reverse restores each earlier picture."""
    table = LeaseTable([FULL, FULL])
    asked: list[tuple[int, int, dict[int, Amounts]]] = [
        (1300, 1330, {0: HALF, 1: HALF}),
        (1330, 1400, {0: QUARTER, 1: HALF}),
        (1315, 1345, {0: QUARTER, 1: QUARTER}),
        (1330, 1415, {0: HALF, 1: QUARTER}),
        (1345, 1415, {1: QUARTER}),
    ]
    pictures, made = [picture(table)], []
    for number, (start, end, shares) in enumerate(asked, 1):
        made.append(reserved(table, number, start, end, shares))
        pictures.append(picture(table))
    first, second = table.hosts
    free = {clock: (first.free_at(at(clock))[0], second.free_at(at(clock))[0]) for clock in (1300, 1315, 1330, 1345)}
    assert free == {1300: (50.0, 50.0), 1315: (25.0, 25.0), 1330: (0.0, 0.0), 1345: (25.0, 0.0)}
    assert first.free_at(at(1400)) == second.free_at(at(1400)) == HALF
    assert first.free_at(at(1415)) == second.free_at(at(1415)) == FULL
    for reservation in reversed(made):
        assert picture(table) == pictures.pop()
        table.remove(reservation)
    assert picture(table) == pictures.pop()


def window() -> LeaseTable:
    """The four hosts of HA-35."""
    table = LeaseTable([FULL] * 4)
    reserved(table, 1, 1315, 1330, {1: QUARTER})
    reserved(table, 1, 1315, 1330, {1: QUARTER})
    reserved(table, 2, 1330, 1345, {1: FULL, 2: FULL})
    reserved(table, 3, 1330, 1345, {3: FULL})
    reserved(table, 3, 1345, 1400, {3: FULL})
    reserved(table, 4, 1350, 1415, {1: QUARTER, 2: HALF})
    reserved(table, 5, 1350, 1415, {1: QUARTER})
    reserved(table, 6, 1255, 1305, {0: FULL})
    return table


def test_a_host_is_free_for_what_is_free_until_then() -> None:
    """HA-35: until when a demand fits; parts of a lease that follow each other are no change."""
    one, two, three, four = window().hosts
    assert one.free_at(at(1300)) == NONE
    assert one.fits_until(QUARTER, at(1300)) is None
    assert one.fits_until(FULL, at(1305)) == math.inf
    assert [two.fits_until(demand, at(1300)) for demand in (FULL, HALF)] == [at(1315), at(1330)]
    assert [three.fits_until(FULL, at(1300)), four.fits_until(FULL, at(1300))] == [at(1330), at(1330)]
    assert [two.fits_until(FULL, at(1345)), two.fits_until(HALF, at(1345))] == [at(1350), math.inf]
    assert [three.fits_until(FULL, at(1345)), three.fits_until(HALF, at(1345))] == [at(1350), math.inf]
    assert four.next_change(at(1330)) == at(1400)
    assert two.next_change(at(1415)) == math.inf


def test_leases_that_would_give_way_leave_their_share() -> None:
    """H18: what a victim holds counts as free."""
    table = window()
    assert table.hosts[1].fits_until(FULL, at(1300), {1, 2}) == at(1350)
    assert table.hosts[0].fits_until(FULL, at(1300), {6}) == math.inf
    assert [lease.id for lease in table.leases_between(at(1305), at(1331))] == [1, 2, 3]


def test_hosts_are_taken_by_their_scores() -> None:
    """HA-35: a lease of an hour takes the host that stays as it is, and few leases are on, first."""
    table = window()
    lease = Lease(7, LeaseKind.BEST_EFFORT, 0.0, 60.0, (FULL,))
    order = GreedyHosts(table)
    assert order.sort(lease, table.everywhere, at(1300)) == [2, 3, 1, 0]
    assert order.sort(lease, table.everywhere, at(1315)) == [0, 2, 3, 1]
    assert order.sort(lease, table.everywhere, at(1350)) == [0, 2, 3, 1]


@pytest.mark.parametrize(
    ("clock", "scores"),
    [
        (1300, [0.645833, 0.8125, 0.875, 0.875]),
        (1315, [1, 0.6875, 0.8125, 0.8125]),
        (1330, [1, 0.6875, 0.6875, 0.75]),
        (1350, [1, 0.604167, 0.729167, 0.666667]),
    ],
)
def test_scores_of_hosts_are_the_original_s(clock: int, scores: list[float]) -> None:
    """HA-35: half for few leases, a quarter for the part of the hour during which nothing changes."""
    outlooks = [host.outlook(at(clock)) for host in window().hosts]
    found = [score(leases, min(1.0, (change - at(clock)) / 60)) for leases, change in outlooks]
    assert found == pytest.approx(scores, abs=1e-6)


def test_reservations_of_no_length_change_nothing() -> None:
    """H17: they are in the table and take nothing."""
    table = LeaseTable([FULL])
    reservation = reserved(table, 1, 1300, 1300, {0: FULL})
    assert table.hosts[0].fits_until(FULL, at(1300)) == math.inf
    assert table.leases_between(at(1200), at(1400)) == []
    table.remove(reservation)


def test_the_table_is_what_the_reservations_add_up_to() -> None:
    """Random reservations that come and go; each instant is compared with a sum over all of them."""
    dice = random.Random(5)
    for _ in range(30):
        table, there = LeaseTable([(1000.0, 1000.0)] * 2), list[LeaseReservation]()
        for number in range(60):
            if there and dice.random() < 0.4:
                table.remove(there.pop(dice.randrange(len(there))))
            start = dice.randrange(40)
            shares = {
                host: (float(dice.randrange(10)), float(dice.randrange(10))) for host in range(dice.randint(1, 2))
            }
            lease = Lease(number, LeaseKind.BEST_EFFORT, 0.0, 60.0, (FULL,))
            new = LeaseReservation(
                lease, ReservationUse.VM, start, start + dice.randrange(15), nodes={}, shares=dict(shares)
            )
            table.add(new)
            there.append(new)
            for host, time in ((dice.randrange(2), dice.randrange(60)) for _ in range(3)):
                taken = [one.shares[host] for one in there if one.start <= time < one.end and host in one.shares]
                expected = tuple(1000.0 - sum(total(amounts[column]) for amounts in taken) for column in (0, 1))
                assert table.hosts[host].free_at(time) == expected

"""The occupancy of a site: what it says of all hosts at once is what the timeline of each host says."""

from __future__ import annotations

import math
import random

import pytest

from batsched_py.leases.capacity import Amounts
from batsched_py.leases.lease import Lease, LeaseReservation
from batsched_py.leases.occupancy import Occupancy
from batsched_py.leases.table import LeaseTable, numbers
from batsched_py.leases.timeline import HostTimeline
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import ReservationUse

WHOLE: Amounts = (100.0, 1024.0)
NOTHING: Amounts = (0.0, 0.0)
DEMANDS: list[Amounts] = [WHOLE, (50.0, 512.0), (1e-9, 0.0), (0.0, 256.0)]
HOSTS, END = 6, 40


def random_table(dice: random.Random, shares: list[Amounts], *, exclusive: bool = False) -> LeaseTable:
    """A table after many reservations that came and went, whose shares fit together; some host may be down."""
    table = LeaseTable([WHOLE] * HOSTS, exclusive=exclusive)
    there = list[LeaseReservation]()
    for number in range(60):
        if there and dice.random() < 0.4:
            table.remove(there.pop(dice.randrange(len(there))))
        start = float(dice.randrange(END))
        end = math.inf if dice.random() < 0.05 else start + dice.randrange(12)
        amounts = dice.choice(shares)
        room = numbers(table.room_during(amounts, start, max(end, start + 1.0)))
        chosen = dice.sample(room, min(len(room), dice.randint(1, 3)))
        lease = Lease(number, LeaseKind.BEST_EFFORT, 0.0, 60.0, (WHOLE,))
        there.append(
            LeaseReservation(lease, ReservationUse.VM, start, end, nodes={}, shares=dict.fromkeys(chosen, amounts))
        )
        table.add(there[-1])
    table.lose({dice.randrange(HOSTS)} if dice.random() < 0.3 else set())
    return table


@pytest.mark.parametrize(
    ("shares", "exclusive"),
    [
        ([WHOLE], False),
        ([(100.0, 256.0)], False),
        ([WHOLE, (50.0, 512.0), (25.0, 0.0), NOTHING], False),
        ([WHOLE, (25.0, 256.0)], True),
    ],
    ids=["whole", "all CPU", "shared", "exclusive"],
)
def test_all_hosts_at_once_are_as_each_is_alone(shares: list[Amounts], exclusive: bool) -> None:
    """Room at an instant, during an interval, until when, and how long hosts stay as they are."""
    dice = random.Random(3)
    for _ in range(25):
        table = random_table(dice, shares, exclusive=exclusive)
        for _ in range(20):
            demand, time = dice.choice(DEMANDS), dice.randrange(2 * END) / 2.0
            end = time + dice.randint(1, 12)
            until = [host.fits_until(demand, time) for host in table.hosts]
            room = [host for host in range(HOSTS) if until[host] is not None]
            assert numbers(table.room(demand, time)) == room
            lasting = [host for host in room if (until[host] or 0.0) >= end]
            assert numbers(table.room_during(demand, time, end)) == lasting
            expected = min((until[host] or 0.0 for host in room), default=math.inf)
            assert table.fits_until(table.room(demand, time), demand, time) == expected


def test_hosts_stay_as_they_are_until_somebody_comes_or_goes() -> None:
    """H19: for as many seconds as are asked for; where nothing changes for so long it does not matter when it does."""
    dice = random.Random(4)
    for _ in range(25):
        table, seconds = random_table(dice, [WHOLE, (50.0, 512.0), NOTHING]), float(dice.randint(1, 20))
        time = dice.randrange(2 * END) / 2.0
        found = {
            host: (leases, min(change - time, seconds))
            for leases, change, some in table.quiet_until(table.everywhere, time, seconds)
            for host in numbers(some)
        }
        outlooks = [host.outlook(time) for host in table.hosts]
        assert found == {host: (leases, min(change - time, seconds)) for host, (leases, change) in enumerate(outlooks)}


def test_hosts_are_asked_one_by_one_no_longer_than_they_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not until nothing is reserved there: with conservative backfilling that may be never."""
    table, asked = LeaseTable([WHOLE] * HOSTS), list[HostTimeline]()
    taken = HostTimeline.taken

    def noted(line: HostTimeline, time: float) -> tuple[bool, bool]:
        asked.append(line)
        return taken(line, time)

    monkeypatch.setattr(HostTimeline, "taken", noted)

    def reserve(start: float, end: float, amounts: Amounts) -> LeaseReservation:
        lease = Lease(1, LeaseKind.BEST_EFFORT, 0.0, 60.0, (WHOLE,))
        reservation = LeaseReservation(lease, ReservationUse.VM, start, end, nodes={}, shares={0: amounts})
        table.add(reservation)
        return reservation

    reserve(30.0, 40.0, WHOLE)
    reserve(0.0, 10.0, WHOLE)
    move = reserve(5.0, 8.0, NOTHING)
    assert asked == [table.hosts[0]] * len(asked) != []
    table.remove(move)
    asked.clear()
    table.remove(reserve(10.0, 20.0, WHOLE))
    assert asked == []


def test_steps_go_with_the_last_reservation_that_begins_or_ends_there() -> None:
    """Nothing is left of reservations that are gone."""
    occupancy = Occupancy()
    for end in (20.0, 30.0, math.inf):
        occupancy.take(occupancy.open(10.0, end), 1, 0)
    assert occupancy.times == [-math.inf, 10.0, 20.0, 30.0]
    for end in (30.0, math.inf, 20.0):
        occupancy.free(occupancy.steps(10.0, end), 1)
        occupancy.close(10.0, end)
    assert (occupancy.times, occupancy.full, occupancy.part) == ([-math.inf], [0], [0])

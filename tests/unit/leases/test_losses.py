"""Leases that are taken back, that fail, and that lose their hosts; and offers to those that are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.leases.actions import Reject, Stop
from batsched_py.leases.lease import Lease, Phase
from batsched_py.leases.lifecycle import FINAL
from batsched_py.leases.policies.admission import NoReservations
from batsched_py.leases.policies.hosts import GreedyHosts
from batsched_py.leases.policies.makers import DEFAULT_POLICIES, Policies
from batsched_py.leases.policies.preemption import DeadlinesGiveWay, Preemptability
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.leases.settings import LeaseSettings
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import DiskImage
from batsched_py.results.lease_rows import LeaseState, ReservationUse
from tests.lease_checks import Checks, free
from tests.lease_driver import RESERVATIONS_FIRST, LeaseDriver, Request, lease, site
from tests.unit.leases.test_deadlines import GIVE_WAY, deadline, requests

IMAGES = TransferSettings(bandwidth=100.0)


def made(
    asked: Sequence[Lease], hosts: int = 2, policies: Policies = RESERVATIONS_FIRST, **settings: Any
) -> tuple[LeaseScheduler, LeaseDriver]:
    """A scheduler with these requests, and time for it."""
    transfers = settings.pop("transfers", None)
    scheduler = LeaseScheduler(site(hosts), LeaseSettings(**settings), policies, transfers, Checks())
    return scheduler, LeaseDriver(scheduler, [Request(one) for one in asked])


def queued() -> tuple[list[Lease], float]:
    """The others hold the hosts, and the only start in the future."""
    return [lease(1, 0, 2, 100), lease(2, 0, 2, 100), lease(3, 0, 2, 100)], 10.0


def ready() -> tuple[list[Lease], float]:
    """A reservation whose hosts need nothing."""
    return [lease(1, 0, 2, 100, start=50.0)], 10.0


def preparing() -> tuple[list[Lease], float]:
    """Its image is on its way."""
    return [lease(1, 0, 2, 100, image=("x", 640.0))], 10.0


def scheduled() -> tuple[list[Lease], float]:
    """The transfer of its image is planned."""
    return [lease(1, 0, 2, 100, start=500.0, image=("x", 640.0))], 10.0


def active() -> tuple[list[Lease], float]:
    """It runs."""
    return [lease(1, 0, 2, 100)], 10.0


def suspending() -> tuple[list[Lease], float]:
    """It gives way to a reservation."""
    return [lease(1, 0, 2, 1000), lease(2, 0, 2, 100, start=200.0)], 180.0


def suspended() -> tuple[list[Lease], float]:
    """Its resumption is planned behind the reservation."""
    return [lease(1, 0, 2, 1000), lease(2, 0, 2, 100, start=200.0)], 210.0


def resuming() -> tuple[list[Lease], float]:
    """The reservation is over."""
    return [lease(1, 0, 2, 1000), lease(2, 0, 2, 100, start=200.0)], 310.0


def refusals(scheduler: LeaseScheduler) -> dict[int, float | None]:
    """Return the start that each refused lease is offered instead."""
    return {one.lease.id: one.alternative_start for one in scheduler.actions if isinstance(one, Reject)}


#: Situations, and the state of the lease in it that is taken back: the last one queued, the first one else.
SITUATIONS: list[tuple[Callable[[], tuple[list[Lease], float]], int, LeaseState]] = [
    (queued, 3, LeaseState.QUEUED),
    (ready, 1, LeaseState.READY),
    (scheduled, 1, LeaseState.SCHEDULED),
    (preparing, 1, LeaseState.PREPARING),
    (active, 1, LeaseState.ACTIVE),
    (suspending, 1, LeaseState.SUSPENDING),
    (suspended, 1, LeaseState.SUSPENDED_SCHEDULED),
    (resuming, 1, LeaseState.RESUMING),
]


@pytest.mark.parametrize(("situation", "number", "state"), SITUATIONS, ids=lambda one: getattr(one, "label", None))
def test_a_lease_is_cancelled_in_any_state(
    situation: Callable[[], tuple[list[Lease], float]], number: int, state: LeaseState
) -> None:
    """Its hosts are free at once, its machines stop if they run, the others go on as if it had ended."""
    asked, time = situation()
    scheduler, driver = made(asked, transfers=IMAGES)
    driver.run(time)
    gone = scheduler.leases[number]
    assert gone.state is state
    scheduler.cancel(gone, time)
    stops = [action for action in scheduler.actions if isinstance(action, Stop)]
    assert [stop.why for stop in stops] == (["cancel"] if state is LeaseState.ACTIVE else [])
    scheduler.step(time)
    assert gone.state is LeaseState.CANCELLED
    assert all(one.phase is Phase.OVER for run in gone.runs for one in run.all())
    assert number not in scheduler.leases
    assert gone not in scheduler.queue
    driver.run()
    assert not scheduler.leases
    assert all(steps == [(-1.0, (100.0, 1024.0))] for steps in free(scheduler.table))
    assert all(one.state is LeaseState.DONE for one in asked if one is not gone)


def test_a_lease_is_cancelled_before_it_is_planned() -> None:
    """One that was only requested is dropped."""
    asked = lease(1, 0, 2, 100)
    scheduler, _ = made([])
    asked.change(LeaseState.PENDING, 0.0)
    scheduler.leases[1] = asked
    scheduler.cancel(asked, 0.0)
    assert asked.state is LeaseState.CANCELLED
    scheduler.step(0.0)
    assert scheduler.next_instant() is None


def test_what_was_planned_behind_a_cancelled_lease_moves_forward() -> None:
    """Lease 2 was to start at 1000, and starts when lease 1 is taken back (H33 after a cancellation)."""
    asked = [lease(1, 0, 2, 1000), lease(2, 10, 2, 100)]
    scheduler, driver = made(asked)
    driver.run(20.0)
    assert asked[1].runs[0].start == 1000
    scheduler.cancel(asked[0], 30.0)
    scheduler.step(30.0)
    driver.run()
    assert [(one.start, one.end) for one in asked[1].runs] == [(30, 130)]
    assert asked[0].runs[0].end == asked[0].accumulated == 30


def test_what_was_planned_behind_a_failed_lease_moves_forward() -> None:
    """The same after a failure; whatever still runs of it is stopped."""
    asked = [lease(1, 0, 2, 1000), deadline(2, 10, 2, 100, span=(20, 5000))]
    scheduler, driver = made(asked, policies=GIVE_WAY)
    driver.run(20.0)
    scheduler.fail(asked[0], 30.0)
    assert scheduler.actions == [Stop(asked[0], asked[0].runs[0], "fail")]
    scheduler.step(30.0)
    driver.run()
    assert [one.state for one in asked] == [LeaseState.FAIL, LeaseState.DONE]
    assert asked[1].runs[0].start == 30


def test_a_lease_that_has_ended_is_not_cancelled() -> None:
    """The table of states has no such change."""
    asked = lease(1, 0, 1, 10)
    scheduler, driver = made([asked])
    driver.run()
    with pytest.raises(AssertionError, match="cannot become Cancelled"):
        scheduler.cancel(asked, 20.0)


def test_leases_leave_a_host_that_goes_down() -> None:
    """Running leases go on or fail; planned ones move to other hosts, wait, or have no other choice."""
    for fails in (False, True):
        runs, both = lease(1, 0, 1, 250), lease(2, 0, 2, 100, start=500.0)
        fits, waits, dated = (
            lease(3, 0, 1, 50, start=340.0),
            lease(4, 1, 2, 100),
            deadline(5, 2, 1, 40, span=(290, 400)),
        )
        scheduler, driver = made([runs, both, fits, waits, dated], suspension="none")
        driver.run(100.0)
        down = {runs.runs[0].nodes[1]}
        scheduler.lose_hosts(down, 100.0, fails=fails)
        scheduler.step(100.0)
        assert runs.state.label == ("Fail" if fails else "Active")
        assert [one.why for one in scheduler.actions if isinstance(one, Stop)] == (["fail"] if fails else [])
        assert refusals(scheduler) == {2: None}
        assert waits.state.label == "Queued"
        assert not down & {host for one in (fits, dated) for host in one.runs[0].nodes.values()}
        driver.run(1000.0)
        assert [one.state.label for one in (runs, fits, dated, waits)][1:] == ["Done", "Done", "Queued"]
        scheduler.lose_hosts(set(), 1200.0)
        scheduler.step(1200.0)
        assert waits.runs[0].start == 1200
        driver.run()
        assert waits.state.label == "Done"


def test_a_suspended_lease_waits_for_the_host_with_its_memory() -> None:
    """It resumes when the host is back, though another one is free."""
    asked = [lease(1, 0, 1, 1000, memory=1024.0), lease(2, 0, 2, 100, start=200.0)]
    scheduler, driver = made(asked, hosts=2, migration="yes")
    driver.run(250.0)
    scheduler.lose_hosts({asked[0].location[1]}, 250.0)
    driver.visit(250.0)
    driver.run(900.0)
    assert [one.state for one in asked] == [LeaseState.SUSPENDED_QUEUED, LeaseState.DONE]
    scheduler.lose_hosts(set(), 900.0)
    driver.visit(900.0)
    driver.run()
    assert asked[0].state is LeaseState.DONE
    assert asked[0].accumulated == 1000


def test_a_suspended_deadline_lease_fails_with_the_host_of_its_memory() -> None:
    """It cannot be in time elsewhere, and its job that waits is refused."""
    asked = [deadline(1, 0, 1, 1000, span=(0, 5000)), deadline(2, 10, 1, 300, span=(200, 500))]
    scheduler, driver = made(asked, hosts=1, policies=GIVE_WAY)
    driver.run(250.0)
    assert asked[0].state is LeaseState.SUSPENDED_SCHEDULED
    scheduler.lose_hosts({0}, 250.0)
    assert refusals(scheduler) == {1: None}
    driver.visit(250.0)
    driver.run()
    assert [one.state for one in asked] == [LeaseState.FAIL, LeaseState.DONE]


def test_nothing_is_mapped_to_a_host_that_is_down() -> None:
    """The smallest site: one of two hosts."""
    asked = [lease(number, 10.0 * number, 1, 100) for number in range(1, 5)]
    scheduler, driver = made(asked)
    scheduler.lose_hosts({0}, 0.0)
    driver.visit(0.0)
    driver.run()
    assert [(one.runs[0].start, one.runs[0].nodes[1]) for one in asked] == [(10, 1), (110, 1), (210, 1), (310, 1)]


def test_an_image_is_not_transferred_again_for_a_later_place() -> None:
    """The host is free earlier, but by then a second transfer would not be over: the old place is kept (D13)."""
    asked = [lease(1, 0, 2, 200), lease(2, 1, 2, 100, image=("x", 1250.0)), lease(3, 2, 1, 10, image=("y", 1250.0))]
    scheduler = LeaseScheduler(site(2), LeaseSettings(), DEFAULT_POLICIES, TransferSettings(mechanism="multicast"))
    driver = LeaseDriver(scheduler, [Request(asked[0], 190.0), *map(Request, asked[1:])])
    driver.run(150.0)
    planned = asked[1].runs[0].start
    assert planned == 200
    driver.run()
    assert asked[1].runs[0].start <= planned
    assert [one.start for one in asked[1].executed if one.use is ReservationUse.TRANSFER] == [1]


def test_a_refused_reservation_is_offered_the_next_start() -> None:
    """HA-61: the hosts are busy until 3600, so that a reservation for 1800 is offered 3600."""
    scheduler, _ = made([], hosts=4, policies=DEFAULT_POLICIES)
    scheduler.step(0.0, (), [lease(1, 0, 4, 3600)])
    scheduler.actions.clear()
    scheduler.step(900.0, (), [lease(2, 900, 4, 1800, start=1800.0)])
    assert refusals(scheduler) == {2: 3600.0}


def test_a_hole_that_is_too_short_is_not_offered() -> None:
    """Between two reservations there are 100 s; 100 s fit there, 101 s do not."""
    scheduler, _ = made([], hosts=1, policies=DEFAULT_POLICIES)
    scheduler.step(0.0, (), [lease(1, 0, 1, 100, start=100.0), lease(2, 0, 1, 100, start=300.0)])
    scheduler.actions.clear()
    scheduler.step(1.0, (), [lease(3, 1, 1, 100, start=150.0), lease(4, 1, 1, 101, start=150.0)])
    assert refusals(scheduler) == {3: 200.0, 4: 400.0}


def test_a_start_that_is_past_becomes_now_at_the_earliest() -> None:
    """The hosts are free."""
    scheduler, _ = made([], hosts=1)
    scheduler.step(50.0, (), [lease(1, 50, 1, 100, start=20.0)])
    assert refusals(scheduler) == {1: 50.0}


def test_an_image_must_be_there_for_the_start_that_is_offered() -> None:
    """A reservation in 10 s cannot have an image that takes 80 s; it is offered the first start at which it can."""
    scheduler, _ = made([], hosts=1, transfers=TransferSettings())
    scheduler.step(0.0, (), [lease(1, 0, 1, 100, start=10.0, image=("x", 1000.0))])
    assert refusals(scheduler) == {1: 80.0}


def test_a_refused_deadline_lease_is_offered_a_start_as_if_it_were_due_later() -> None:
    """The host is free at 150, too late for its deadline at 200."""
    scheduler, _ = made([], hosts=1, policies=GIVE_WAY, suspension="none")
    scheduler.step(0.0, (), [lease(1, 0, 1, 150, kind=LeaseKind.IMMEDIATE)])
    scheduler.actions.clear()
    scheduler.step(1.0, (), [deadline(2, 1, 1, 100, span=(10, 200))])
    assert refusals(scheduler) == {2: 150.0}


def test_nothing_is_offered_to_those_who_are_too_large_or_not_admitted() -> None:
    """Nor to leases that ask for no time."""
    none = Policies(lambda _: NoReservations(), lambda _: Preemptability(), GreedyHosts)
    scheduler, _ = made([], hosts=1, policies=none)
    scheduler.step(0.0, (), [lease(1, 0, 1, 10, start=5.0), deadline(2, 0, 2, 10, span=(5, 90)), lease(3, 0, 1, 50)])
    scheduler.step(1.0, (), [lease(4, 1, 1, 10, kind=LeaseKind.IMMEDIATE)])
    assert refusals(scheduler) == {1: None, 2: None, 4: None}


@st.composite
def troubles(draw: st.DrawFn) -> list[tuple[float, str, int]]:
    """Times at which a lease is cancelled or fails (its number), or a host goes down or returns (its number)."""
    kinds = st.sampled_from(["cancel", "fail", "lose", "lose", "regain"])
    found = draw(st.lists(st.tuples(st.integers(0, 500), kinds, st.integers(0, 12)), max_size=8))
    return sorted((float(time), kind, number) for time, kind, number in found)


RULES = st.fixed_dictionaries(
    {
        "suspension": st.sampled_from(["none", "serial-only", "all"]),
        "migration": st.sampled_from(["no", "yes", "yes-notransfer"]),
        "future_leases": st.sampled_from([0, 1, 3, 1000]),
        "shutdown_time": st.sampled_from([0, 7]),
        "never_later": st.booleans(),
    }
)
POLICIES = [
    RESERVATIONS_FIRST,
    GIVE_WAY,
    Policies(DEFAULT_POLICIES.admission, lambda _: DeadlinesGiveWay(), GreedyHosts),
]


@given(
    asked=st.one_of(requests(), requests(dated=1)),
    rules=RULES,
    policies=st.sampled_from(POLICIES),
    trouble=troubles(),
    images=st.sampled_from([None, IMAGES, TransferSettings(mechanism="multicast", cache=2000.0)]),
    fails=st.booleans(),
)
def test_nobody_is_lost_whatever_happens(
    *,
    asked: list[Request],
    rules: dict[str, Any],
    policies: Policies,
    trouble: list[tuple[float, str, int]],
    images: TransferSettings | None,
    fails: bool,
) -> None:
    """All leases end, no host is ever overbooked or used while it is down, and deadlines are met."""
    given = [_with_image(one) if images is not None and one.lease.id % 3 else one for one in asked]
    scheduler = LeaseScheduler(site(4), LeaseSettings(**rules), policies, images, Checks())
    driver = LeaseDriver(scheduler, given)
    down = set[int]()
    for time, kind, number in trouble:
        driver.run(time)
        one = scheduler.leases.get(number)
        if kind == "cancel" and one is not None:
            scheduler.cancel(one, time)
        elif kind == "fail" and one is not None and one.running is not None:
            scheduler.fail(one, time)
        else:
            down = down | {number % 4} if kind == "lose" else down - {number % 4}
            scheduler.lose_hosts(down, time, fails=fails)
            if fails:
                runs = [run for each in scheduler.leases.values() for run in each.runs]
                held = {
                    host for run in runs for part in run.all() if part.phase is not Phase.OVER for host in part.shares
                }
                assert not held & down
        driver.visit(time)
    driver.run()
    scheduler.lose_hosts(set(), max(driver.now, 2000.0))
    driver.visit(max(driver.now, 2000.0))
    driver.run()
    assert not scheduler.leases
    for each, _ in given:
        assert each.state in FINAL
        if each.kind is LeaseKind.DEADLINE and each.state is LeaseState.DONE:
            assert [one for one in each.executed if one.use is ReservationUse.VM][-1].end <= (each.deadline or 0)


def _with_image(request: Request) -> Request:
    """The same request, for a lease that needs an image of 300 MB."""
    one = request.lease
    asked = Lease(
        one.id, one.kind, one.submit, one.duration, one.demands, start=one.start, deadline=one.deadline,
        preemptible=one.preemptible, software=DiskImage(f"image{one.id % 2}", 300.0),
    )  # fmt: skip
    return Request(asked, request.real)

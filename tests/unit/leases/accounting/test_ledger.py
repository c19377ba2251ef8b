"""Ledger: probes of users' own, rows of leases and of reservations."""

from __future__ import annotations

import pytest

from batsched_py.errors import PlanError
from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.accounting.catalogue import PROBES, Probes
from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.leases.accounting.probe import AccountingProbe
from batsched_py.leases.lease import Lease
from batsched_py.leases.observer import LeaseSchedule
from batsched_py.leases.preparation.image_transfer import TransferSettings
from tests.lease_driver import Request, lease, play
from tests.unit.leases.accounting.books import booked, quickstart


class Story(AccountingProbe):
    """All that a probe is told."""

    told: list[str]

    def __init__(self, accounting: Accounting) -> None:
        super().__init__(accounting)
        Story.told = []
        accounting.create_counter("Steps", Accounting.AVERAGE_NORMAL)

    def at_timestep(self, lease_scheduler: LeaseSchedule) -> None:
        """Count up, then down."""
        self.accounting.incr_counter("Steps")
        active = sum(1 for lease in lease_scheduler.leases.values() if lease.state.label == "Active")
        Story.told.append(f"{self.accounting.now:g}: {active} active")

    def at_lease_request(self, lease: Lease) -> None:
        """Note it."""
        Story.told.append(f"{self.accounting.now:g}: {lease.id} requested")

    def at_lease_done(self, lease: Lease) -> None:
        """Note it."""
        Story.told.append(f"{self.accounting.now:g}: {lease.id} {lease.state.label}")

    def finalize_accounting(self) -> None:
        """Note it."""
        Story.told.append(f"the end at {self.accounting.get_last_counter_time('Steps'):g}")


class Broken(AccountingProbe):
    """A probe that counts what it has not created."""

    def at_lease_done(self, lease: Lease) -> None:
        """Fail."""
        self.accounting.incr_counter("Leases", lease.id)


def with_probe(probe: type[AccountingProbe], requests: list[Request | Lease]) -> Ledger:
    """The ledger of a run with a probe of a user's own."""
    ledger = Ledger(Probes(probe.__name__, (probe,)))
    ledger.close(play(requests, observer=ledger).now)
    return ledger


def test_probes_look_last_at_each_instant() -> None:
    """H20, H76: a lease that begins when another ends is active when they look, and the other is not."""
    requests = [Request(lease(1, 0, 4, 100)), Request(lease(2, 0, 4, 100)), Request(lease(3, 50, 9, 1, start=60.0))]
    with_probe(Story, list(requests))
    assert Story.told == [
        "0: 1 requested",
        "0: 2 requested",
        "0: 1 active",
        "50: 3 requested",
        "50: 3 Rejected",
        "50: 1 active",
        "100: 1 Done",
        "100: 1 active",
        "200: 2 Done",
        "200: 0 active",
        "the end at 200",
    ]


def test_probes_see_leases_that_are_cancelled_or_fail() -> None:
    """H76: Haizea calls them for leases that are done, and for those that are rejected, alone."""
    driver = play([], observer=Ledger(Probes("Story", (Story,))))
    one, other = lease(1, 0, 1, 100), lease(2, 0, 1, 100)
    driver.scheduler.step(0.0, requests=[one, other])
    driver.scheduler.cancel(one, 10.0)
    driver.scheduler.fail(other, 10.0)
    driver.scheduler.step(10.0)
    assert Story.told[3:] == ["10: 1 Cancelled", "10: 2 Fail", "10: 0 active"]


def test_an_error_of_a_probe_names_it_and_what_it_was_told() -> None:
    """One line."""
    with pytest.raises(PlanError) as caught:
        with_probe(Broken, [lease(1, 0, 1, 100)])
    assert str(caught.value) == (
        "probe Broken: at_lease_done at t=100: it raised ValueError: there is no counter 'Leases'"
    )


def test_a_lease_has_a_row_with_its_times() -> None:
    """HA-2: suspended from 1800 to 3600."""
    best_effort, reservation = booked(quickstart(), "none").lease_rows()
    assert best_effort._asdict() == {
        "lease": 1,
        "type": "BE",
        "state": "Done",
        "submit_time": 0,
        "start_time": 0,
        "end_time": 5464,
        "requested_start": None,
        "deadline": None,
        "nodes": 1,
        "requested_duration": 3600,
        "run_time": 3600,
        "waiting_time": 0,
        "slowdown": pytest.approx(1.517778, abs=1e-6),
        "real_slowdown": pytest.approx(1.517778, abs=1e-6),
        "suspensions": 1,
        "suspended_time": 1800,
        "migrations": 0,
        "requeues": 0,
        "lost_time": 0,
        "alternative_start": None,
    }
    assert reservation[:7] == (2, "AR", "Done", 900, 1800, 3600, 1800)


def test_a_reservation_has_a_row_from_its_start_on() -> None:
    """HA-2; shutdowns take no time."""
    assert [tuple(row) for row in booked(quickstart(), "none").reservation_rows()] == [
        (1, "vm", 0, 1768, "0", 0),
        (1, "suspend", 1768, 1800, "0", 0),
        (2, "vm", 1800, 3600, "0-3", 0),
        (1, "resume", 3600, 3632, "0", 0),
        (2, "shutdown", 3600, 3600, "0-3", 0),
        (1, "vm", 3632, 5464, "0", 0),
        (1, "shutdown", 5464, 5464, "0", 0),
    ]


def test_work_that_was_thrown_away_is_counted_as_lost() -> None:
    """HA-3: 900 s."""
    ledger = booked(quickstart(), "none", suspension="none")
    row = ledger.lease_rows()[0]
    assert (row.start_time, row.run_time, row.waiting_time) == (3600, 3600, 3600)
    assert (row.requeues, row.lost_time, row.suspensions) == (1, 900, 0)
    assert [tuple(row) for row in ledger.reservation_rows()][:2] == [
        (1, "vm", 0, 900, "0", 1),
        (2, "vm", 1800, 3600, "0-3", 0),
    ]


def test_a_rejected_lease_has_neither_start_nor_end() -> None:
    """Nor has it waited."""
    row = booked([lease(1, 7, 5, 100, start=50.0)], "none").lease_rows()[0]
    assert (row.state, row.start_time, row.end_time, row.waiting_time, row.slowdown) == ("Rejected", *[None] * 4)


def test_a_lease_that_ends_early_has_another_slowdown_against_its_run() -> None:
    """H80."""
    row = booked([Request(lease(1, 0, 4, 800), 100.0)], "none").lease_rows()[0]
    assert (row.slowdown, row.real_slowdown, row.run_time) == (0.125, 1, 100)


def test_a_shared_transfer_has_one_row_with_all_its_hosts() -> None:
    """HA-26c: two leases need the same image."""
    both: list[Request | Lease] = [lease(number, 0, 1, 100, image=("a.img", 640.0)) for number in (1, 2)]
    rows = booked(both, "none", transfers=TransferSettings(100.0, "multicast")).reservation_rows()
    assert [tuple(row) for row in rows if row.kind == "transfer"] == [(1, "transfer", 0, 52, "0-1", 0)]


def test_what_is_under_way_has_no_end_yet() -> None:
    """A run that stops half-way still has its rows."""
    ledger = Ledger(PROBES["ar"])
    driver = play([], observer=ledger)
    driver.scheduler.step(0.0, requests=[lease(1, 0, 1, 100)])
    ledger.close(50.0)
    assert ledger.lease_rows()[0][:6] == (1, "BE", "Active", 0, 0, None)
    assert [tuple(row) for row in ledger.reservation_rows()] == [(1, "vm", 0, None, "0", 0)]

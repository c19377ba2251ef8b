"""Predicted starts of leases, by hand: estimates at the request, first plans, and the starts that follow."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.leases.accounting.predictions import EstimateRow, Predictions
from batsched_py.leases.lease import Lease
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.leases.settings import LeaseSettings
from batsched_py.leases.site import Site
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.scheduling.queue_requests import HOLD_JOB, RELEASE_JOB, ChangeKind, QueueRequest
from tests.lease_driver import LeaseDriver, Request

HOST = {"CPU": 100.0, "Memory": 1024.0}


def lease(number: int, submit: float, duration: float, nodes: int, kind: LeaseKind = LeaseKind.BEST_EFFORT) -> Lease:
    """A lease of whole hosts."""
    demand = Site.of([HOST]).amounts(HOST)
    assert demand is not None
    return Lease(number, kind, submit, duration, (demand,) * nodes, preemptible=False)


def play(*requests: Request, exclusive: bool = True, until: float | None = None) -> tuple[Predictions, LeaseScheduler]:
    """Play requests on two hosts, with one planned start at a time."""
    predictions = Predictions()
    site = Site.of([HOST, HOST], exclusive=exclusive)
    scheduler = LeaseScheduler(site, LeaseSettings(future_leases=1), observer=predictions)
    driver = LeaseDriver(scheduler, requests)
    driver.run() if until is None else driver.run(until)
    return predictions, scheduler


def rows(predictions: Predictions) -> list[tuple[Any, ...]]:
    """The rows of the table."""
    (table,) = predictions.tables()
    assert table.name == "predictions"
    return [tuple(row) for row in table.rows]


def four() -> list[Request]:
    """A lease on both hosts; one that is planned; two that wait without a plan."""
    terms = ((1, 0, 100, 2), (2, 10, 50, 2), (3, 20, 60, 1), (4, 20, 10, 2))
    return [Request(lease(*one)) for one in terms]


def test_what_is_not_planned_is_estimated_from_the_work_ahead() -> None:
    """At 20, 2 x 80 s run and 2 x 50 s are planned: lease 3 waits for the half of them, lease 4 for 60 s / 2 more."""
    predictions, _ = play(*four())
    assert rows(predictions) == [
        (2, 10, 1, 100, 100),
        (3, 20, 0, 150, 150),
        (4, 20, 0, 180, 210),
        (3, 100, 1, 150, 150),
        (4, 150, 1, 210, 210),
    ]


def test_a_lease_waits_for_as_many_hosts_as_it_needs() -> None:
    """One host is busy for 1000 s: the work would be done after 500 s, but two hosts are not free before 1000 s."""
    predictions, _ = play(Request(lease(1, 0, 1000, 1)), Request(lease(2, 0, 5, 2)), Request(lease(3, 0, 9, 2)))
    assert (3, 0, 0, 1000, 1005) in rows(predictions)


def test_an_early_end_makes_a_prediction_wrong() -> None:
    """The row has both times."""
    predictions, _ = play(Request(lease(1, 0, 100, 2), real=30), Request(lease(2, 10, 50, 2)))
    assert rows(predictions) == [(2, 10, 1, 100, 30)]


def test_what_starts_at_once_or_at_its_time_is_not_predicted() -> None:
    """There is nothing to predict."""
    predictions, _ = play(Request(lease(1, 0, 100, 1)), Request(lease(2, 0, 100, 1, LeaseKind.IMMEDIATE)))
    assert predictions.tables() == []


def test_estimates_are_in_the_order_of_the_queue() -> None:
    """Leases without a plan have one, as of the time of the question."""
    predictions, scheduler = play(*four(), until=20)
    (table,) = predictions.live_tables(scheduler.queue, 20)
    assert list(table.rows) == [EstimateRow(3, 150, 0), EstimateRow(4, 180, 1)]


def live(predictions: Predictions, scheduler: LeaseScheduler, now: float) -> list[tuple[Any, ...]]:
    """The rows of the live table, lease and start."""
    (table,) = predictions.live_tables(scheduler.queue, now)
    return [tuple(row)[:2] for row in table.rows]


def test_only_hosts_in_service_do_work() -> None:
    """One of two is drained at 30, until 40: leases of both have no estimate, since its return is not known.

    Lease 3 is planned instead of lease 2, and lease 5 waits for all work on one host: 70 + 60 + 2 x 50 + 2 x 10 s.
    """
    predictions, scheduler = play(*four(), until=20)
    scheduler.lose_hosts({1}, 30)
    scheduler.step(30, requests=[lease(5, 30, 5, 1), lease(6, 30, 5, 2)])
    assert live(predictions, scheduler, 30) == [(2, None), (4, None), (5, 280), (6, None)]
    scheduler.lose_hosts(set(), 40)
    scheduler.step(40)
    assert None not in [start for _, start in live(predictions, scheduler, 40)]
    assert [(number, start) for number, time, _, start, _ in rows(predictions) if time == 30] == [(3, 100), (5, 280)]


def test_held_leases_are_no_work_ahead() -> None:
    """Leases 2, planned, and 4, in the queue, are held at 20: lease 3 is planned, lease 5 waits for (160 + 60) / 2 s.

    At 30 lease 2 is released, and lease 6 waits for its 2 x 50 s and those of lease 5, too.
    """
    predictions, scheduler = play(*four(), until=20)

    def change(kind: ChangeKind, number: int, now: float) -> None:
        scheduler.controls.carry_out(scheduler.leases[number], QueueRequest(kind, "s!1"), now)

    change(HOLD_JOB, 2, 20)
    change(HOLD_JOB, 4, 20)
    held = lease(7, 20, 1000, 2)
    held.held = "user"
    scheduler.step(20, requests=[lease(5, 20, 5, 1), held])
    assert live(predictions, scheduler, 20) == [(5, 130)]
    change(RELEASE_JOB, 2, 30)
    scheduler.step(30, requests=[lease(6, 30, 5, 1)])
    assert live(predictions, scheduler, 30) == [(2, 130), (5, 180), (6, 182.5)]
    assert [row[:4] for row in rows(predictions)][-3:] == [(3, 20, 1, 100), (5, 20, 0, 130), (6, 30, 0, 182.5)]


def test_predictions_of_before_a_hold_are_left_out() -> None:
    """Lease 2, planned at 100, is held from 20 to 300: only its plan after the release counts, if it waits then."""
    predictions, scheduler = play(*four(), until=20)
    scheduler.controls.carry_out(scheduler.leases[2], QueueRequest(HOLD_JOB, "s!1"), 20)
    assert [row for row in rows(predictions) if row[0] == 2] == []
    scheduler.step(20, requests=[lease(5, 20, 500, 2)])
    scheduler.controls.carry_out(scheduler.leases[2], QueueRequest(RELEASE_JOB, "s!1"), 30)
    scheduler.step(30)
    for now in (100, 160, 170):
        scheduler.step(now)
    assert [row[:4] for row in rows(predictions) if row[0] == 2] == [(2, 100, 1, 160)]


@pytest.mark.parametrize("until", [20, 1000])
def test_shared_hosts_have_no_estimates(until: float) -> None:
    """The work of a host does not say when it has room."""
    predictions, scheduler = play(*four(), exclusive=False, until=until)
    assert [row[2] for row in rows(predictions) if row[2] == 0] == []
    (table,) = predictions.live_tables(scheduler.queue, until)
    assert list(table.rows) == []

"""Built-in probes, with the figures that the original gives and those that are right."""

from __future__ import annotations

import pytest

from batsched_py.leases.accounting.accounting import Stats
from batsched_py.leases.lease import Lease
from batsched_py.leases.policies.makers import DEFAULT_POLICIES
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.model.lease_kind import LeaseKind
from tests.lease_driver import Request, lease
from tests.unit.leases.accounting.books import booked, entries, quickstart, values


def test_cpu_utilization_counts_runs_suspensions_and_resumptions() -> None:
    """HA-37 on HA-2: one of four hosts, suspended at 1768 and resumed until 3632, is in use all the time."""
    ledger = booked(quickstart())
    assert entries(ledger, "CPU utilization") == [
        (0, 0.25, 0.25),
        (1800, 1, 0.25),
        (3600, 0.25, 0.625),
        (5464, 0, 0.497072),
    ]
    assert values(ledger, "Accepted AR") == [(0, 0), (900, 1), (5464, 1)]
    assert ledger.accounting.run_stats["all-best-effort"] == 5464


def test_cpu_utilization_without_suspension() -> None:
    """HA-37 on HA-3: the host is idle from 900 on."""
    assert entries(booked(quickstart(), suspension="none"), "CPU utilization") == [
        (0, 0.25, 0.25),
        (900, 0, 0.25),
        (1800, 1, 0.125),
        (3600, 0.25, 0.5625),
        (7200, 0, 0.40625),
    ]


def test_disk_usage_is_that_of_the_fullest_disk() -> None:
    """HA-37 on HA-4: an image, the memory of the suspended machine beside it, another image."""
    requests = quickstart(image=("foo.img", 1024.0))
    ledger = booked(requests, transfers=TransferSettings(100.0, "multicast"))
    assert values(ledger, "Disk usage") == [
        (0, 0),
        (82, 1024),
        (1768, 2048),
        (1800, 3072),
        (3600, 1024),
        (5546, 0),
    ]


def test_queue_size_is_weighted_by_time() -> None:
    """HA-37 on HA-20: of eight leases one runs and one holds a start in the future."""
    ledger = booked([lease(number, 0, 4, 900) for number in range(1, 9)])
    assert entries(ledger, "Queue size") == [
        (0, 6, 6),
        (900, 5, 6),
        (1800, 4, 5.5),
        (2700, 3, 5),
        (3600, 2, 4.5),
        (4500, 1, 4),
        (5400, 0, 3.5),
    ]


def test_figures_of_backfilling() -> None:
    """HA-37 on B1 of HA-22, aggressive."""
    sizes = [(1, 3600.0), (4, 1800.0), (4, 1800.0), (1, 900.0), (3, 900.0)]
    ledger = booked([lease(number, 0, *size) for number, size in enumerate(sizes, start=1)])
    assert entries(ledger, "CPU utilization") == [
        (0, 0.5, 0.5),
        (900, 1, 0.5),
        (1800, 0.25, 0.75),
        (3600, 1, 0.5),
        (7200, 0, 0.75),
    ]
    assert entries(ledger, "Queue size") == [(0, 2, 2), (900, 1, 2), (3600, 0, 1.25)]


@pytest.mark.parametrize(("stats", "seconds"), [("corrected", 402), ("original", 800)])
def test_all_best_effort_is_the_last_completion_and_not_the_end_of_the_run(stats: Stats, seconds: float) -> None:
    """HA-41: a best-effort lease ends at 402, a reservation at 800."""
    requests: list[Request | Lease] = [lease(1, 2, 1, 400), lease(2, 0, 2, 200, start=600.0)]
    ledger = booked(requests, stats=stats)
    assert ledger.accounting.run_stats["all-best-effort"] == seconds
    assert ledger.accounting.run_stats.get("run-end") == (800 if stats == "corrected" else None)


def test_without_best_effort_leases_none_is_completed() -> None:
    """There is no time at which all were."""
    stats = booked([lease(1, 0, 1, 10, start=5.0)]).accounting.run_stats
    assert stats["Total best-effort completed"] == 0
    assert stats["all-best-effort"] is None


@pytest.mark.parametrize(("stats", "accepted"), [("corrected", 1), ("original", 3)])
def test_what_is_rejected_is_not_accepted(stats: Stats, accepted: int) -> None:
    """HA-43: of three reservations one overlaps and one is too large; the original counts these twice."""
    requests: list[Request | Lease] = [
        lease(1, 0, 4, 100, start=50.0),
        lease(2, 0, 1, 100, start=149.0),
        lease(3, 20, 5, 100, start=500.0),
    ]
    totals = booked(requests, stats=stats, policies=DEFAULT_POLICIES).accounting.run_stats
    assert totals["Total accepted AR"] == accepted
    assert totals["Total rejected AR"] == 2


def test_a_rejected_reservation_is_counted_once() -> None:
    """HA-43 on HA-7: nobody gives way."""
    totals = booked(quickstart(), policies=DEFAULT_POLICIES).accounting.run_stats
    assert (totals["Total accepted AR"], totals["Total rejected AR"]) == (0, 1)


def test_immediate_leases_have_counters_of_their_own() -> None:
    """HA-43 on `too-big-im`."""
    requests: list[Request | Lease] = [
        lease(1, 0, 5, 100, kind=LeaseKind.IMMEDIATE),
        lease(2, 0, 1, 100, kind=LeaseKind.IMMEDIATE, memory=2048.0),
        lease(3, 0, 1, 100),
    ]
    totals = booked(requests).accounting.run_stats
    assert (totals["Total accepted Immediate"], totals["Total rejected Immediate"]) == (0, 2)
    assert (totals["Total accepted AR"], totals["Total rejected AR"]) == (0, 0)


def test_waits_and_slowdowns_are_those_of_best_effort_leases() -> None:
    """A lease that ends early scores below 1, because the request counts; one of a second counts as ten (H80)."""
    requests: list[Request | Lease] = [
        Request(lease(1, 0, 4, 800), 100.0),
        lease(2, 0, 4, 1),
        lease(3, 0, 1, 50, start=5000.0),
    ]
    stats = booked(requests).accounting.lease_stats
    assert stats == {"Waiting time": {1: 0, 2: 100}, "Slowdown": {1: 0.125, 2: 10.1}}


@pytest.mark.parametrize(("stats", "later"), [("corrected", (104, 0.75)), ("original", (104, 0.25))])
def test_a_run_goes_on_counting_when_a_transfer_of_the_same_start_is_over(
    stats: Stats, later: tuple[float, float]
) -> None:
    """As in `it-early`: a machine starts at 52 as the next image is sent; the original forgets the machine at 104."""
    images = TransferSettings(100.0, "multicast", share=False)
    requests: list[Request | Lease] = [
        lease(1, 0, 2, 1800, image=("a.img", 640.0)),
        lease(2, 10, 1, 2000, image=("b.img", 640.0)),
    ]
    ledger = booked(requests, stats=stats, transfers=images)
    assert values(ledger, "CPU utilization")[:3] == [(0, 0), (52, 0.5), later]

"""The log of a run, and its summary: what Haizea's manual shows, line by line."""

from __future__ import annotations

import inspect
from datetime import datetime
from typing import Any

import pytest

from batsched_py.haizea.config import LogLevel
from batsched_py.haizea.log import HaizeaLog
from batsched_py.leases.lease import Lease
from batsched_py.leases.observer import Observer, Observers
from batsched_py.leases.policies.admission import Admission, NoReservations
from batsched_py.leases.policies.hosts import GreedyHosts
from batsched_py.leases.policies.makers import Policies
from batsched_py.leases.policies.preemption import Preemptability, ReservationsFirst
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.model.lease_kind import LeaseKind
from tests.lease_driver import Request, lease, play

START = datetime(2006, 11, 25, 13)


def quickstart() -> list[Lease]:
    """One host for an hour, and all hosts for half an hour from the middle of it on."""
    return [lease(1, 0, 1, 3600), lease(2, 900, 4, 1800, start=1800)]


def logged(
    *requests: Lease | Request, level: LogLevel = "INFO", interval: float | None = None, **settings: Any
) -> list[str]:
    """The lines of a run of these requests on four hosts, to its end; without their date."""
    lines = list[str]()
    log = HaizeaLog(START, level, lines.append, interval)
    log.started()
    log.loading("leases.lwf")
    asked = [one.lease if isinstance(one, Request) else one for one in requests]
    log.loaded({kind: sum(one.kind is kind for one in asked) for kind in LeaseKind})
    log.clock_started()
    log.stopped(play(requests, observer=log, **settings).now)
    return [line.replace("2006-11-25 ", "") for line in lines]


def figures(lines: list[str]) -> list[int]:
    """The eight figures of the last summary."""
    return [int(line.rpartition(": ")[2]) for line in lines[-9:-1]]


def test_the_quickstart_says_what_the_manual_lists() -> None:
    """HA-51: the same facts in the same order, with the hosts as they are taken."""
    assert (
        logged(*quickstart())
        == """\
[13:00:00.00] RM      Starting resource manager
[13:00:00.00] TFILE   Loading tracefile leases.lwf
[13:00:00.00] TFILE   Loaded workload with 2 requests (1 Best-effort + 1 AR)
[13:00:00.00] CLOCK   Starting simulated clock
[13:00:00.00] LSCHED  Lease #1 has been requested.
[13:00:00.00] LSCHED  Lease #1 has been marked as pending.
[13:00:00.00] LSCHED  Queued best-effort lease request #1, 1 nodes for 01:00:00.00.
[13:00:00.00] LSCHED  Next request in the queue is lease 1. Attempting to schedule...
[13:00:00.00] VMSCHED Lease #1 has been scheduled on nodes [1] from 13:00:00.00 to 14:00:00.00
[13:00:00.00] VMSCHED Started VMs for lease 1 on nodes [1]
[13:15:00.00] LSCHED  Lease #2 has been requested.
[13:15:00.00] LSCHED  Lease #2 has been marked as pending.
[13:15:00.00] LSCHED  Scheduling AR lease #2, 4 nodes from 13:30:00.00 to 14:00:00.00.
[13:15:00.00] LSCHED  Must preempt leases [1] to make room for lease #2
[13:15:00.00] LSCHED  Preempting lease #1...
[13:15:00.00] LSCHED  ... lease #1 will be suspended at 13:30:00.00.
[13:15:00.00] LSCHED  AR lease #2 has been scheduled.
[13:29:28.00] VMSCHED Stopped VMs for lease 1 on nodes [1]
[13:29:28.00] VMSCHED Suspending lease 1...
[13:30:00.00] VMSCHED Lease 1 suspended.
[13:30:00.00] VMSCHED Started VMs for lease 2 on nodes [2, 3, 4, 1]
[13:30:00.00] LSCHED  Next request in the queue is lease 1. Attempting to schedule...
[13:30:00.00] VMSCHED Lease #1 has been scheduled on nodes [1] from 14:00:00.00 (resuming) to 14:31:04.00
[14:00:00.00] VMSCHED Stopped VMs for lease 2 on nodes [2, 3, 4, 1]
[14:00:00.00] VMSCHED Resuming lease 1...
[14:00:00.00] VMSCHED Lease 2's VMs have shutdown.
[14:00:32.00] VMSCHED Resumed lease 1
[14:00:32.00] VMSCHED Started VMs for lease 1 on nodes [1]
[14:31:04.00] VMSCHED Stopped VMs for lease 1 on nodes [1]
[14:31:04.00] VMSCHED Lease 1's VMs have shutdown.
[14:31:04.00] CLOCK   Simulated clock has stopped
[14:31:04.00] RM      Stopping resource manager gracefully...
[14:31:04.00] RM      --- Haizea status summary ---
[14:31:04.00] RM      Number of leases (not including completed): 0
[14:31:04.00] RM      Completed leases: 2
[14:31:04.00] RM      Completed best-effort leases: 1
[14:31:04.00] RM      Queue size: 0
[14:31:04.00] RM      Accepted AR leases: 1
[14:31:04.00] RM      Rejected AR leases: 0
[14:31:04.00] RM      Accepted IM leases: 0
[14:31:04.00] RM      Rejected IM leases: 0
[14:31:04.00] RM      ---- End summary ----
""".splitlines()
    )


def test_without_suspension_the_lease_is_said_to_be_cancelled_and_planned_again() -> None:
    """HA-3, as the manual lists it."""
    lines = logged(*quickstart(), suspension="none")
    at = lines.index("[13:15:00.00] LSCHED  Preempting lease #1...")
    assert lines[at + 1 : at + 5] == [
        "[13:15:00.00] LSCHED  ... lease #1 has been cancelled and requeued",
        "[13:15:00.00] LSCHED  AR lease #2 has been scheduled.",
        "[13:15:00.00] LSCHED  Next request in the queue is lease 1. Attempting to schedule...",
        "[13:15:00.00] VMSCHED Lease #1 has been scheduled on nodes [1] from 14:00:00.00 to 15:00:00.00",
    ]


def test_transfers_of_images_are_said() -> None:
    """HA-4: the best-effort lease cannot start at once, the reservation still does."""
    both = lease(1, 0, 1, 3600, image=("foobar.img", 1024)), lease(2, 900, 4, 1800, start=1800, image=("x", 1024))
    lines = logged(*both, transfers=TransferSettings(mechanism="multicast"))
    assert [line for line in lines if "DEPLOY" in line] == [
        "[13:00:00.00] DEPLOY  Starting image transfer for lease 1",
        "[13:01:22.00] DEPLOY  Completed image transfer for lease 1",
        "[13:28:38.00] DEPLOY  Starting image transfer for lease 2",
        "[13:30:00.00] DEPLOY  Completed image transfer for lease 2",
    ]


def test_a_lease_that_is_not_admitted_is_never_pending() -> None:
    """HA-8: Haizea's words for it; it counts as rejected."""
    policies = Policies(lambda _: NoReservations(), lambda _: ReservationsFirst(), GreedyHosts)
    lines = logged(*quickstart(), policies=policies)
    assert [line for line in lines if "#2" in line] == [
        "[13:15:00.00] LSCHED  Lease #2 has been requested.",
        "[13:15:00.00] LSCHED  Lease #2 has not been accepted",
    ]
    assert figures(lines) == [0, 1, 1, 0, 0, 1, 0, 0]


def test_leases_without_a_place_are_said_with_the_reason() -> None:
    """HA-7 and an immediate lease: each is rejected once, and accepted never."""
    policies = Policies(lambda _: Admission(), lambda _: Preemptability(), GreedyHosts)
    lines = logged(*quickstart(), lease(3, 1000, 4, 60, kind=LeaseKind.IMMEDIATE), policies=policies)
    assert [line for line in lines if "cannot" in line] == [
        "[13:15:00.00] LSCHED  AR lease #2 cannot be scheduled: not enough resources in the interval",
        "[13:16:40.00] LSCHED  Immediate lease #3 cannot be scheduled: it cannot start at once",
    ]
    assert "[13:16:40.00] LSCHED  Scheduling immediate lease #3, 4 nodes" in lines
    assert figures(lines) == [0, 1, 1, 0, 0, 1, 0, 1]


def test_a_lease_that_ends_early_stops_and_is_shut_down() -> None:
    """The next one is planned anew, and gives way to nobody for that."""
    lines = logged(Request(lease(1, 0, 4, 3600), 600.0), lease(2, 60, 4, 600))
    at = lines.index("[13:10:00.00] VMSCHED Stopped VMs for lease 1 on nodes [1, 2, 3, 4]")
    assert lines[at + 1 : at + 4] == [
        "[13:10:00.00] VMSCHED Lease 1's VMs have shutdown.",
        "[13:10:00.00] VMSCHED Lease #2 has been scheduled on nodes [1, 2, 3, 4] from 13:10:00.00 to 13:20:00.00",
        "[13:10:00.00] VMSCHED Started VMs for lease 2 on nodes [1, 2, 3, 4]",
    ]
    assert not any("reempt" in line for line in lines)


def test_several_suspensions_and_resumptions_of_a_lease_are_said_once() -> None:
    """Two machines on different hosts, one after the other, because the files are in one place."""
    lines = logged(lease(1, 0, 2, 3600), lease(2, 900, 4, 1800, start=1800), exclusion="global")
    said = [line.split(maxsplit=2)[2] for line in lines if "uspend" in line or "esum" in line]
    assert [text.split(" at ")[0] for text in said if "scheduled" not in text] == [
        "... lease #1 will be suspended", "Suspending lease 1...", "Lease 1 suspended.", "Resuming lease 1...",
        "Resumed lease 1",
    ]  # fmt: skip


@pytest.mark.parametrize("requests", [0, 1])
def test_the_summary_has_eight_figures_in_the_order_of_the_manual(requests: int) -> None:
    """HA-52: an empty trace, and one lease."""
    lines = logged(*[lease(1, 0, 1, 60)] * requests)
    assert figures(lines) == [0, requests, requests, 0, 0, 0, 0, 0]
    assert (
        f"[13:00:00.00] TFILE   Loaded workload with {['0 requests ()', '1 requests (1 Best-effort)'][requests]}"
        in (lines)
    )


def test_the_summary_is_said_again_after_each_interval() -> None:
    """HA-53: eight leases of a quarter of an hour, one after the other, and a summary at each end; then the last."""
    lines = logged(*(lease(number, 0, 4, 900) for number in range(1, 9)), level="STATUS", interval=900.0)
    times = [line[1:9] for line in lines if "--- Haizea" in line]
    assert times == [f"{13 + end // 4}:{end % 4 * 15:02d}:00" for end in (*range(1, 9), 8)]
    queues = [int(line.rpartition(": ")[2]) for line in lines if "Queue size" in line]
    assert queues == [5, 4, 3, 2, 1, 0, 0, 0, 0]


def test_levels_have_more_and_more_lines() -> None:
    """STATUS the clock and the summary alone."""
    levels: tuple[LogLevel, ...] = ("STATUS", "INFO", "DEBUG", "VDEBUG")
    status, info, debug, all_there_is = (logged(*quickstart(), level=level) for level in levels)
    assert {line.split()[1] for line in status} == {"CLOCK", "RM"}
    assert len(status) == 13
    for less, more in ((status, info), (info, debug), (debug, all_there_is)):
        assert [line for line in more if line in set(less)] == less
        assert len(more) > len(less)
    assert "[13:29:28.00] VMSCHED suspend of lease 1 on nodes [1] begins" in debug
    assert "[13:30:00.00] CLOCK   There are 2 leases, 0 in the queue, 1 ahead" in all_there_is


def test_times_are_to_a_hundredth_of_a_second_and_go_on_over_days() -> None:
    """A duration of days has them in front."""
    lines = logged(lease(1, 0.125, 1, 90061.5))
    assert "[13:00:00.12] LSCHED  Queued best-effort lease request #1, 1 nodes for 01:01:01:01.50." in lines
    assert "[2006-11-26 14:01:01.62] VMSCHED Lease 1's VMs have shutdown." in lines


def test_several_observers_are_told_the_same() -> None:
    """Each in turn."""
    first, second = list[str](), list[str]()
    both = Observers(HaizeaLog(START, "VDEBUG", first.append), HaizeaLog(START, "VDEBUG", second.append))
    play(quickstart(), observer=both)
    assert first == second
    assert len(first) > 40


def test_several_observers_pass_on_all_that_one_is_told() -> None:
    """A new member of the base needs one there."""
    hooks = [name for name, _ in inspect.getmembers(Observer, inspect.isfunction) if not name.startswith("_")]
    assert all(name in vars(Observers) for name in hooks)

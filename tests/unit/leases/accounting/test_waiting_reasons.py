"""Reasons of waiting leases in words."""

from __future__ import annotations

import pytest

from batsched_py.leases.accounting.predictions import START_ESTIMATES, EstimateRow
from batsched_py.leases.accounting.rows import LiveRow
from batsched_py.leases.accounting.waiting_reasons import WaitingReasons
from batsched_py.model.table import Table


def reasons(
    *rows: LiveRow, down: str = "", drained: str = "", ahead: int = 0, hosts: int = 4, exclusive: bool = True
) -> WaitingReasons:
    """Return the reasons of a snapshot with these reservations; lease 9 has an estimate."""
    tables = {
        "reservations": Table("reservations", LiveRow._fields, rows),
        START_ESTIMATES: Table(START_ESTIMATES, EstimateRow._fields, [EstimateRow(9, 500.0, ahead)]),
    }
    return WaitingReasons(tables, "", down, drained, hosts=hosts, exclusive=exclusive)


def run(lease: int, end: float, hosts: str, phase: str = "under way", start: float = 0.0) -> LiveRow:
    """A run of a lease."""
    return LiveRow(lease, "vm", phase, start, end, hosts)


@pytest.mark.parametrize(
    ("found", "nodes", "text"),
    [
        (reasons(run(1, 600, "0-2")), 2, "needs 2 hosts, 1 is free; busy: 0-2 until 600"),
        (reasons(run(1, 600.2, "0-2"), run(2, 50, "3")), 1, "needs 1 host, 0 are free; busy: 3 until 50"),
        (
            reasons(run(1, 600.2, "0-2"), run(2, 50, "3"), ahead=2),
            4,
            "needs 4 hosts, 0 are free; busy: 3 until 50, 0-2 until 601; 2 leases before it in the queue",
        ),
        (reasons(run(1, 600, "0")), 3, "needs 3 hosts, 3 are free, but planned for others or not suitable"),
        (reasons(run(1, 600, "0-1"), down="3"), 3, "needs 3 hosts, 1 is free; busy: 0-1 until 600, 1 unavailable"),
        (reasons(down="0-3"), 1, "needs 1 host, 0 are free, 4 unavailable"),
        (reasons(drained="0-1"), 4, "needs 4 hosts, 2 are free, 2 drained"),
        (
            reasons(run(1, 600, "0-1"), run(2, 50, "2"), drained="0 3", down="3"),
            4,
            "needs 4 hosts, 0 are free; busy: 2 until 50, 1 until 600, 1 unavailable, 1 drained",
        ),
        (reasons(run(1, 600, "0"), exclusive=False, ahead=1), 3, "1 lease before it in the queue"),
        (
            reasons(*(run(n, n, str(n)) for n in range(8)), hosts=8),
            8,
            "needs 8 hosts, 0 are free; busy: 0 until 0, 1 until 1, 2 until 2, 5 more later",
        ),
    ],
)
def test_a_reason_says_which_hosts_are_busy_until_when(found: WaitingReasons, nodes: int, text: str) -> None:
    """Those that are free first, as many as the lease needs."""
    assert found.reason(9, nodes) == text


def test_a_reason_is_short() -> None:
    """However scattered the hosts are."""
    scattered = [
        run(group, 1e9 + group / 7, " ".join(str(host) for host in range(group * 2, 3000, 10))) for group in range(5)
    ]
    text = reasons(*scattered, hosts=3000, ahead=10**6).reason(9, 2900)
    assert len(text) < 300


def test_planned_starts_are_those_of_runs() -> None:
    """The first one of a lease, and no other reservation."""
    found = reasons(
        run(1, 50, "0"),
        run(3, 90, "0", "planned", 60),
        run(3, 300, "0", "planned", 200),
        LiveRow(4, "transfer", "planned", 5, 9, "1"),
    )
    assert (found.planned, found.estimates[9].start) == ({3: 60}, 500)

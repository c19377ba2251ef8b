"""Views of leases that wait, of snapshots by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("litestar")

from batsched_py.leases.accounting.predictions import START_ESTIMATES, EstimateRow
from batsched_py.leases.accounting.rows import LEASE_CONTROLS, ControlRow, LiveRow, lease_row
from batsched_py.leases.accounting.waiting_reasons import WaitingReasons
from batsched_py.leases.lease import Lease
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.table import Table
from batsched_py.results.lease_rows import LeaseRow, LeaseState
from batsched_py.session.requests import SUBMIT_JOB
from batsched_py.site.api.identity import Identity
from batsched_py.site.api.lease_views import LeaseIndex
from batsched_py.site.board import Board
from batsched_py.site.inbox import Inbox
from batsched_py.site.journal import JournalEntry
from batsched_py.site.snapshot import HostsNow, Snapshot


def entry(number: int) -> JournalEntry:
    """The request of a lease."""
    return JournalEntry(number, number, 0.0, 0.0, SUBMIT_JOB, None, "ann", "", {"res": 4})


def test_reasons_and_estimates_of_leases_that_wait() -> None:
    """Lease 1 was suspended and is held; lease 2 is planned at its time, lease 3 later; lease 4 has an old estimate."""
    leases = [
        Lease(1, LeaseKind.BEST_EFFORT, 0, 100, ((),) * 4),
        Lease(2, LeaseKind.DEADLINE, 0, 100, ((),), start=500, deadline=900),
        Lease(3, LeaseKind.DEADLINE, 0, 100, ((),), start=500, deadline=900),
        Lease(4, LeaseKind.BEST_EFFORT, 0, 100, ((),)),
    ]
    states = [LeaseState.SUSPENDED_QUEUED, LeaseState.SCHEDULED, LeaseState.SCHEDULED, LeaseState.QUEUED]
    for lease, state in zip(leases, states, strict=True):
        lease.state = state
    runs = [LiveRow(2, "vm", "planned", 500, 600, "0"), LiveRow(3, "vm", "planned", 600, 700, "0")]
    tables = [
        Table("leases", LeaseRow._fields, [lease_row(lease) for lease in leases]),
        Table("reservations", LiveRow._fields, runs),
        Table(LEASE_CONTROLS, ControlRow._fields, [ControlRow(1, "user", 0), ControlRow(4, "", 5)]),
        Table(START_ESTIMATES, EstimateRow._fields, [EstimateRow(4, 40.0, 0)]),
    ]
    found = {table.name: table for table in tables}
    snapshot = Snapshot(1, 20.0, (), (), 0, HostsNow("", "", "", ""), found, {})
    entries = {number: entry(number) for number in range(1, 5)}
    inbox: Any = SimpleNamespace(entries=entries, now=30.0, outcomes=SimpleNamespace(ignored={}))
    board: Any = SimpleNamespace(snapshot=snapshot, ended=[], job=lambda _: None)
    index = LeaseIndex(
        cast(Inbox, inbox),
        cast(Board, board),
        0.0,
        lambda now: WaitingReasons(now.tables, "", "", hosts=4, exclusive=True),
    )
    who = Identity("ann", "", asserted=True)
    views = [index.find(number, who) for number in range(1, 5)]
    free = "needs 1 host, 4 are free, but planned for others or not suitable"
    assert [view.why for view in views] == ["held by its user", "is to start at 500", free, free]
    assert (views[3].priority, views[3].estimated_start) == (5, 40)
    inbox.now = 50.0
    assert index.find(4, who).estimated_start == 50

"""The longest waits of a run, in a few lines each."""

from __future__ import annotations

from batsched_py.hostset import HostSet
from batsched_py.model.decision_row import DecisionRow
from batsched_py.reporting.schedules.decisions_table import DecisionTable
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.longest import longest_waits
from tests.unit.reporting.records import record, rejected
from tests.unit.reporting.sample_schedules import schedule


def test_the_longest_waits_are_explained() -> None:
    """With the jobs in the way, moves of the promise and overtakers; who did not wait is not among them."""
    run = schedule(
        record("a", finish=20, hosts="0-2"),
        record("b", submit=1, start=30, finish=40, hosts="0-3"),
        record("c", submit=2, start=2, finish=30, hosts="3"),
        record("d", submit=2, start=40, finish=41, hosts="0"),
        rejected(),
    )
    rows = [
        DecisionRow(1.0, "promised", "w0!b", 50.0, "first"),
        DecisionRow(20.0, "promised", "w0!b", 30.0, "ends", ("w0!a",)),
    ]
    found = longest_waits(RunHistory(run, DecisionTable({"w0!b": rows}, hosts=HostSet.parse("0-3"))))
    assert found == {
        "w0!d": [
            "18 s: too few hosts were free (w0!a)",
            "10 s: it would have delayed jobs that were promised a start (w0!b)",
            "10 s: too few hosts were free (w0!b)",
        ],
        "w0!b": [
            "29 s: too few hosts were free (w0!c, w0!a)",
            "its promise moved once since w0!a ended",
            "overtaken by 1 job; 1 of them delayed it on its own (w0!c)",
        ],
    }
    assert list(longest_waits(RunHistory(run), most=1)) == ["w0!d"]

"""Why jobs waited: small schedules in which the answer is plain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.hostset import HostSet
from batsched_py.model.decision_row import DecisionRow
from batsched_py.model.job import Job
from batsched_py.reporting.schedules.decisions_table import DecisionTable
from batsched_py.reporting.waits.explanation import Explanation
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.reasons import WORDS, Reason
from batsched_py.reporting.waits.walk import explain
from batsched_py.reporting.waits.wording import heading
from batsched_py.results.records import JobRecord
from batsched_py.results.run_file import RunFile
from tests.builders import hosts
from tests.unit.reporting.records import rejected
from tests.unit.reporting.sample_schedules import schedule


def ran(name: str, submit: float, start: float, finish: float, places: str, *, walltime: float = 0.0) -> JobRecord:
    """A job that ran; its walltime is what it took, if none is given."""
    limit = walltime or finish - start
    on = HostSet.parse(places)
    job = Job.create(f"w0!{name}", size=len(on), profile="p", submit_time=submit, walltime=limit)
    return JobRecord(job, "COMPLETED_SUCCESSFULLY", 0, start, finish, on)


def decided(*rows: DecisionRow, shared: bool = False) -> DecisionTable:
    """Rows as they are read."""
    of_jobs: dict[str, list[DecisionRow]] = {}
    for row in rows:
        if row.job:
            of_jobs.setdefault(row.job, []).append(row)
    return DecisionTable(of_jobs, [row for row in rows if row.kind == "down"], hosts("0-3"), shared)


def explained(name: str, jobs: Sequence[JobRecord], *rows: DecisionRow, shared: bool = False) -> Explanation:
    """Why a job of a run on four hosts waited."""
    history = RunHistory(schedule(*jobs), decided(*rows, shared=shared))
    return explain(history, history.records[f"w0!{name}"])


def told(explanation: Explanation) -> list[tuple[float, float, str, str]]:
    """Begin, end, reason and names of the jobs in the way of each interval."""
    return [
        (one.begin, one.end, str(one.reason), " ".join(job.removeprefix("w0!") for job in one.blocked_by))
        for one in explanation.intervals
    ]


def test_hosts_were_busy() -> None:
    """In the way is who ran on the hosts that the job got; c, on another host, is not."""
    jobs = [ran("a", 0, 0, 10, "0-1"), ran("b", 0, 0, 20, "2"), ran("c", 0, 0, 99, "3"), ran("j", 5, 20, 30, "0-2")]
    assert told(explained("j", jobs)) == [(5, 10, "hosts_busy", "a b"), (10, 20, "hosts_busy", "b")]


def test_who_did_not_wait_has_no_interval() -> None:
    """Nobody stood in its way."""
    explanation = explained("a", [ran("a", 3, 3, 10, "0")])
    assert explanation.plain == {
        "job": "w0!a",
        "submitted": 3,
        "started": 3,
        "hosts": "0",
        "intervals": [],
        "overtaken_by": [],
        "blockers": [],
        "sooner": [],
    }


def test_hosts_were_down() -> None:
    """Enough had no work, but some of them could take none."""
    jobs = [ran("a", 0, 0, 10, "0-1"), ran("j", 5, 20, 30, "0-3")]
    down = (DecisionRow(4.0, "down", hosts=hosts("3")), DecisionRow(20.0, "down"))
    assert told(explained("j", jobs, *down)) == [(5, 10, "hosts_busy", "a"), (10, 20, "hosts_unavailable", "")]


PROMISED = DecisionRow(2.0, "promised", "w0!head", 20.0, "first")
BEHIND = (ran("a", 0, 0, 20, "0-1"), ran("head", 2, 20, 40, "0-3"), ran("j", 5, 40, 90, "0-1", walltime=50))


def test_a_promise_stood_in_the_way() -> None:
    """Two hosts were free, and it would have run into the promised start; it would not have with a shorter walltime."""
    assert told(explained("j", BEHIND, PROMISED)) == [(5, 20, "promise", "head"), (20, 40, "hosts_busy", "head")]
    short = (*BEHIND[:2], ran("j", 5, 40, 50, "0-1", walltime=15))
    assert told(explained("j", short, PROMISED))[0] == (5, 20, "queue", "head")


def test_a_promise_that_was_withdrawn_stands_in_no_ones_way() -> None:
    """From that time on."""
    withdrawn = DecisionRow(9.0, "withdrawn", "w0!head", None, "other")
    found = told(explained("j", BEHIND, PROMISED, withdrawn))
    assert found[:2] == [(5, 9, "promise", "head"), (9, 20, "queue", "head")]


def test_a_reservation_stood_in_the_way() -> None:
    """The promise is that of a job which starts at an instant of its own, and waits for nothing else."""
    held = DecisionRow(2.0, "held", "w0!head", reason="instant", words="is to start at 20")
    assert told(explained("j", BEHIND, PROMISED, held))[0] == (5, 20, "reservation", "head")
    assert told(explained("head", BEHIND, PROMISED, held)) == [(2, 20, "own_start", "")]


def test_the_first_in_the_queue_waited() -> None:
    """No job may overtake: it is the one that the algorithm looked at last, else the first that was submitted."""
    other = ran("other", 3, 60, 70, "0-3")
    assert told(explained("j", (*BEHIND, other)))[0] == (5, 20, "queue", "head")
    held = DecisionRow(4.0, "held", "w0!other", reason="hosts", words="needs 4 hosts, 2 are free")
    assert told(explained("j", (*BEHIND, other), held))[0] == (5, 20, "queue", "other")


@pytest.mark.parametrize(
    ("kind", "reason", "blockers"),
    [("own", "algorithm", ""), ("constraint", "constraint", "a"), ("promise", "queue", "head")],
)
def test_the_algorithm_had_a_reason(kind: str, reason: str, blockers: str) -> None:
    """Its own reason counts as long as enough hosts are free; otherwise the schedule does."""
    held = DecisionRow(5.0, "held", "w0!j", reason=kind, words="would draw 9 W")
    found = told(explained("j", BEHIND, held))
    assert found == [(5, 20, reason, blockers), (20, 40, "hosts_busy", "head")]


def test_a_job_waited_when_the_run_ended() -> None:
    """Behind one that ran then; neither has ended, and both are known by the last rows alone."""
    last = (
        DecisionRow(30.0, "unfinished", "w0!r", 10.0, hosts=hosts("0-2"), submitted=7.0, size=3, walltime=99.0),
        DecisionRow(30.0, "unfinished", "w0!j", submitted=5.0, size=2, walltime=9.0),
    )
    jobs = [ran("a", 0, 0, 10, "0-3")]
    found = explained("j", jobs, *last)
    assert told(found) == [(5, 10, "hosts_busy", "a"), (10, 30, "hosts_busy", "r")]
    assert heading(found) == "w0!j: 2 hosts, submitted at 5 s, not started when the run ended at 30 s: it waited 25 s"
    assert (found.plain["started"], found.plain["hosts"], found.plain["overtaken_by"]) == (None, None, ["w0!r"])
    running = explained("r", jobs, *last)
    assert told(running) == [(7, 10, "hosts_busy", "a")]
    assert (running.plain["started"], running.plain["hosts"]) == (10, "0-2")


def test_a_rejected_job_may_have_no_row() -> None:
    """As of Batsim 1.4; it waited until it was rejected."""
    refused = DecisionRow(8.0, "rejected", "w0!j", words="no", submitted=5.0, size=2, walltime=9.0)
    found = explained("j", [ran("a", 0, 0, 10, "0-3")], refused)
    assert told(found) == [(5, 8, "hosts_busy", "a")]
    assert heading(found) == "w0!j: 2 hosts, submitted at 5 s, rejected at 8 s: no"
    assert found.plain["started"] is None


def test_a_decision_takes_time() -> None:
    """Enough hosts are free, and milliseconds later it starts; nobody is before it."""
    jobs = [ran("a", 0, 0, 10, "0-3"), ran("j", 5, 10.003, 20, "0-3")]
    assert told(explained("j", jobs)) == [(5, 10, "hosts_busy", "a"), (10, 10.003, "delivery", "")]


def test_decisions_that_take_long_are_known_to() -> None:
    """By the clock of the run."""
    jobs = [ran("a", 0, 0, 10, "0-3"), ran("j", 5, 15, 20, "0-3")]
    run = RunFile(
        algorithm="easy", options={}, seed=None, platform=None, workloads=(), settings={}, command=(), version="1"
    )
    for clock, reason in (("fixed:5", "delivery"), ("zero", "unknown"), ("fixed:soon", "unknown")):
        described = replace(schedule(*jobs), run=replace(run, settings={"clock": clock}))
        history = RunHistory(described, decided())
        assert told(explain(history, history.records["w0!j"]))[-1] == (10, 15, reason, "")


def test_nothing_may_tell_why() -> None:
    """Then that is told."""
    jobs = [ran("j", 5, 30, 40, "0"), ran("other", 9, 9, 12, "1-3")]
    assert told(explained("j", jobs)) == [(5, 30, "unknown", "")]


def test_who_shares_hosts_lacks_none() -> None:
    """Then only what the algorithm says counts."""
    held = DecisionRow(5.0, "held", "w0!j", reason="own", words="later")
    jobs = [ran("a", 0, 0, 10, "0-3"), ran("j", 5, 10, 20, "0-3")]
    assert told(explained("j", jobs, held, shared=True)) == [(5, 10, "algorithm", "")]


def test_intervals_have_the_promise_of_the_job() -> None:
    """They are cut where it moves."""
    jobs = [ran("a", 0, 0, 10, "0-3"), ran("j", 2, 10, 20, "0-3")]
    rows = [DecisionRow(2.0, "promised", "w0!j", 15.0, "first"), DecisionRow(6.0, "promised", "w0!j", 10.0, "other")]
    assert [(one.begin, one.end, one.promise) for one in explained("j", jobs, *rows).intervals] == [
        (2, 6, 15),
        (6, 10, 10),
    ]


def test_overtakers_delayed_it_or_not() -> None:
    """By holding hosts that it lacked, once nobody was before it: b did, c is too small, and d was gone by then."""
    jobs = [
        ran("a", 0, 0, 10, "0-1"),
        ran("j", 1, 30, 40, "0-3"),
        ran("d", 2, 2, 8, "2-3"),
        ran("b", 3, 8, 30, "2-3"),
        ran("c", 4, 10, 20, "0"),
    ]
    explanation = explained("j", jobs)
    assert [(one.record.job.id, one.delayed_from) for one in explanation.overtakers] == [
        ("w0!d", None),
        ("w0!b", 20.0),
        ("w0!c", None),
    ]
    assert explanation.plain["overtaken_by"] == ["w0!d", "w0!b", "w0!c"]


def test_a_rejected_job_waited_until_then() -> None:
    """It has no start and no hosts; without a row nobody knows when it was."""
    jobs = [ran("a", 0, 0, 10, "0-3"), rejected("j", submit=4)]
    row = DecisionRow(7.0, "rejected", "w0!j", words="enough")
    explanation = explained("j", jobs, row)
    assert told(explanation) == [(4, 7, "hosts_busy", "a")]
    assert (explanation.plain["started"], explanation.plain["hosts"]) == (None, None)
    assert explained("j", jobs).intervals == ()


def test_jobs_of_a_log_have_no_hosts() -> None:
    """Then they are counted, and all that run stand in the way."""
    jobs: list[Any] = [ran("a", 0, 0, 10, "0-2"), ran("b", 0, 0, 20, "3"), ran("j", 5, 10, 30, "0-2")]
    unplaced = [JobRecord(one.job, one.state, 0, one.start, one.finish, HostSet()) for one in jobs]
    assert told(explained("j", unplaced)) == [(5, 10, "hosts_busy", "a b")]


def test_every_reason_has_words() -> None:
    """The table is closed."""
    assert set(WORDS) == set(Reason)


def sooner(explanation: Explanation) -> list[tuple[float, str, int, float | None, str]]:
    """Time, reason, missing hosts, walltime and names of the jobs in the way."""
    return [
        (one.at, str(one.reason), one.hosts, one.walltime, " ".join(job.removeprefix("w0!") for job in one.jobs))
        for one in explanation.counterfactuals
    ]


def test_what_would_have_started_a_job_sooner() -> None:
    """Two hosts more, at the first time at which no more were missing; a shorter walltime, or no promise."""
    assert sooner(explained("head", BEHIND, PROMISED)) == [(2, "hosts_busy", 2, None, "")]
    assert sooner(explained("j", BEHIND, PROMISED)) == [(5, "promise", 0, 15, "head"), (20, "hosts_busy", 2, None, "")]
    assert sooner(explained("j", BEHIND)) == [(5, "queue", 0, None, "head"), (20, "hosts_busy", 2, None, "")]


def test_hosts_alone_would_not_have_been_enough() -> None:
    """The job would have run into a promise, too, which is named."""
    jobs = (*BEHIND[:2], ran("b", 1, 2, 20, "2"), ran("j", 5, 40, 90, "0-1", walltime=50))
    assert sooner(explained("j", jobs, PROMISED)) == [(5, "hosts_busy", 1, None, "head")]


def test_jobs_in_the_way_are_ordered_by_time() -> None:
    """With the promise that was in the way, though they ran on the hosts for longer."""
    found = explained("j", BEHIND, PROMISED).blockers
    assert [(one.record.job.id, one.seconds, str(one.reason), one.promise) for one in found] == [
        ("w0!head", 35, "hosts_busy", 20.0)
    ]
    jobs = [ran("a", 0, 0, 10, "0-1"), ran("b", 0, 0, 20, "2"), ran("c", 0, 0, 99, "3"), ran("j", 5, 20, 30, "0-2")]
    found = explained("j", jobs).blockers
    assert [(one.record.job.id, one.seconds) for one in found] == [("w0!b", 15), ("w0!a", 5)]

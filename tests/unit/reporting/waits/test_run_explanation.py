"""The waiting of a whole run by reason, compared with the walks through single waits."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.model.decision_row import DecisionRow
from batsched_py.model.job import Job
from batsched_py.reporting.schedules.decisions_table import DecisionTable, decisions_of
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.reasons import Reason
from batsched_py.reporting.waits.run_explanation import default_groups, explain_run
from batsched_py.reporting.waits.walk import explain
from batsched_py.results.records import JobRecord
from tests.thoroughness import thorough
from tests.unit.reporting.records import rejected
from tests.unit.reporting.sample_schedules import schedule
from tests.unit.reporting.waits.test_explanation import BEHIND, PROMISED, decided, ran

HOSTS = 6
KINDS = ("hosts", "promise", "constraint", "instant", "condition", "resource", "own")
#: Times on a coarse grid, so that many things happen at one instant.
TIMES = some.integers(0, 40).map(lambda number: number / 4)


@some.composite
def histories(draw: some.DrawFn) -> RunHistory:
    """A run that no algorithm would make, with every kind of row while its jobs wait."""
    jobs, rows = [], [DecisionRow(0.0, "hosts", hosts=HostSet((1 << HOSTS) - 1))]
    for number in range(draw(some.integers(1, 7))):
        submit, wait, run = draw(TIMES), draw(TIMES), draw(TIMES) + 0.25
        places = HostSet.from_ids(draw(some.sets(some.integers(0, HOSTS - 1), min_size=1, max_size=4)))
        limit = draw(some.none() | TIMES.map(lambda time: time + 0.25))
        job = Job.create(f"w0!{number}", size=len(places), profile="p", submit_time=submit, walltime=limit)
        state = "REJECTED" if draw(some.integers(0, 9)) == 0 else "COMPLETED_SUCCESSFULLY"
        if state == "REJECTED":
            jobs.append(JobRecord(job, state, -1, 0.0, 0.0, HostSet()))
            rows.append(DecisionRow(submit + wait, "rejected", job.id, words="no"))
        else:
            jobs.append(JobRecord(job, state, 0, submit + wait, submit + wait + run, places))
        for _ in range(draw(some.integers(0, 3))):
            time = submit + draw(some.integers(0, 8)) / 8 * wait
            if time < submit + wait:
                rows.append(draw(rows_of(job.id, time)))
    down = draw(some.lists(some.tuples(TIMES, some.sets(some.integers(0, HOSTS - 1))), max_size=2))
    rows += [DecisionRow(time, "down", hosts=HostSet.from_ids(hosts)) for time, hosts in down]
    rows.sort(key=lambda row: row.time)
    table = decisions_of(rows)
    if draw(some.booleans()):
        table = (
            DecisionTable() if draw(some.booleans()) else DecisionTable(table.of_jobs, table.down, None, shared=True)
        )
    return RunHistory(schedule(*jobs, hosts=HOSTS), table)


def rows_of(job: str, time: float) -> some.SearchStrategy[DecisionRow]:
    """A row about a job that waits."""
    return some.one_of(
        some.builds(
            lambda kind, watts: DecisionRow(time, "held", job, reason=kind, words=f"would draw {watts} W"),
            some.sampled_from(KINDS),
            some.integers(1, 99),
        ),
        some.builds(lambda later: DecisionRow(time, "promised", job, time + later, "first"), TIMES),
        some.just(DecisionRow(time, "withdrawn", job, None, "other")),
        some.just(DecisionRow(time, "released", job)),
    )


@given(history=histories())
@settings(max_examples=thorough(80))
def test_the_reasons_of_a_run_are_those_of_its_jobs(history: RunHistory) -> None:
    """Each job's seconds by reason are those of its own explanation, and sum to its wait; the groups sum to the run."""
    explanation = explain_run(history, ("size",))
    found = {one.waiter.id: one.causes for one in explanation.jobs}
    for record in history.records.values():
        waiter = history.waiter(record)
        expected = Counter[Reason]()
        for step in explain(history, record).intervals:
            expected[step.reason] += round((step.end - step.begin) * 1e6)
        assert found.get(waiter.id, {}) == expected
        assert sum(expected.values()) == round((waiter.until - waiter.since) * 1e6)
    for parts in (explanation.overall, *explanation.groups["size"]):
        assert sum(one.time for one in parts.by_reason.values()) == parts.total.time
        assert sum(one.host_time for one in parts.by_reason.values()) == parts.total.host_time
    groups = explanation.groups["size"]
    assert sum(group.total.host_time for group in groups) == explanation.overall.total.host_time
    assert sum(group.jobs for group in groups) == explanation.overall.jobs == len(history.records)
    own = explanation.overall.by_reason.get(Reason.ALGORITHM)
    assert sum(one.waiting.time for one in explanation.stated) == (0 if own is None else own.time)


def test_a_run_is_summed_by_reason_and_group() -> None:
    """Two jobs wait: the first for busy hosts, the second behind its promise, then for its hosts."""
    explanation = explain_run(RunHistory(schedule(*BEHIND), decided(PROMISED)), ("size",))
    assert explanation.decided
    assert explanation.plain == {
        "jobs": 3,
        "waited": 2,
        "seconds": 53.0,
        "host_seconds": 142.0,
        "reasons": [
            {
                "reason": "hosts_busy", "jobs": 2, "seconds": 38.0, "host_seconds": 112.0, "share": 38 / 53,
                "host_share": 112 / 142,
            },
            {
                "reason": "promise", "jobs": 1, "seconds": 15.0, "host_seconds": 30.0, "share": 15 / 53,
                "host_share": 30 / 142,
            },
        ],
        "decisions": True,
        "stated_reasons": [],
        "groups": {"size": explanation.plain["groups"]["size"]},
    }  # fmt: skip
    sizes = {
        group["group"]: (group["jobs"], group["waited"], group["seconds"])
        for group in explanation.plain["groups"]["size"]
    }
    assert sizes == {"2": (2, 1, 35.0), "3-4": (1, 1, 18.0)}


def test_stated_reasons_differ_by_words_and_not_by_numbers() -> None:
    """Watts change with each decision."""
    jobs = [ran("j", 0, 10, 20, "0"), ran("k", 0, 4, 20, "1-2")]
    rows = [
        DecisionRow(0.0, "held", "w0!j", reason="own", words="would draw 9 W"),
        DecisionRow(0.0, "held", "w0!k", reason="own", words="would draw 11.5 W"),
        DecisionRow(6.0, "held", "w0!j", reason="own", words="its user has a limit"),
    ]
    explanation = explain_run(RunHistory(schedule(*jobs), decided(*rows)))
    assert [(one.words, one.waiting.seconds, one.waiting.host_seconds) for one in explanation.stated] == [
        ("would draw 9 W", 10.0, 14.0),
        ("its user has a limit", 4.0, 4.0),
    ]


def test_a_run_without_waits_has_no_reasons() -> None:
    """Nothing is divided by zero."""
    explanation = explain_run(RunHistory(schedule(ran("a", 0, 0, 10, "0"), rejected())), ("size",))
    assert explanation.plain["seconds"] == 0
    assert explanation.plain["reasons"] == []
    assert not explanation.decided


def test_groups_of_a_member_are_ordered_by_waiting() -> None:
    """Users are a default if they are known; a member that no job has is an error."""
    jobs = []
    for name, user, wait in (("a", "ann", 3), ("b", "bob", 9), ("c", "ann", 1)):
        job = Job.create(f"w0!{name}", size=1, profile="p", submit_time=0, extra={"user": user})
        jobs.append(JobRecord(job, "COMPLETED_SUCCESSFULLY", 0, wait, wait + 1, HostSet.of(0)))
    history = RunHistory(schedule(*jobs))
    assert default_groups(history) == ("size", "user")
    groups = explain_run(history, ("user",)).groups["user"]
    assert [(group.name, group.jobs, group.total.seconds) for group in groups] == [("bob", 1, 9.0), ("ann", 2, 4.0)]
    with pytest.raises(InputError, match="has no job with a member 'colour'"):
        explain_run(history, ("colour",))
    with pytest.raises(InputError, match="has no job with a member 'user': unknown"):
        explain_run(RunHistory(schedule()), ("user",))


def test_many_jobs_take_few_steps() -> None:
    """The queue of all jobs at once is not walked through for each: a run of 4 000 jobs has 8 million pairs."""
    jobs = [ran(str(number), 0, number, number + 1, "0-3", walltime=9) for number in range(4000)]
    explanation = explain_run(RunHistory(schedule(*jobs)))
    assert explanation.overall.total.time == sum(range(4000)) * 1_000_000
    assert list(explanation.overall.by_reason) == [Reason.HOSTS_BUSY]
    waits = [sum(one.causes.values()) for one in explanation.jobs]
    assert {later - earlier for earlier, later in pairwise(waits)} == {1_000_000}
    assert math.isclose(explanation.overall.total.host_seconds, 4 * sum(range(4000)))

"""Attempts of one job are put together by their names and times; a name alone makes no attempt."""

from __future__ import annotations

import pytest
from msgspec.structs import asdict, replace

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.reporting.api import Schedule, measure_jobs, measure_run, schedule_of
from batsched_py.reporting.metrics.job_metrics import COLUMNS, job_rows
from batsched_py.reporting.metrics.same_jobs import marks_of
from batsched_py.reporting.metrics.summary import summarise
from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.results.attempts import bases_of, split_later
from batsched_py.results.records import EndedJobs, JobRecord
from tests.unit.reporting.lease_runs import result
from tests.unit.reporting.records import record, rejected
from tests.unit.reporting.records import result as result_of

FAILED, KILLED = "COMPLETED_FAILED", "COMPLETED_KILLED"
#: Job 7 waits 5 s, fails after 10 s on two hosts, waits 20 s, fails after 30 s, and at once runs for 100 s.
SEVEN = (
    record("7", submit=5, start=10, finish=20, hosts="0-1", state=FAILED),
    record("8", submit=0, start=0, finish=40, hosts="2"),
    record("7~1", submit=20, start=40, finish=70, hosts="1-2", state=FAILED),
    record("7~2", submit=70, start=70, finish=170, hosts="2-3"),
)


def schedule(*records: JobRecord) -> Schedule:
    """These jobs on four hosts."""
    return Schedule("run", records, 4, {})


def names(found: Schedule) -> dict[str, list[str]]:
    """Id of a first attempt -> the ids of all."""
    return {first: [one.job_id for one in job.attempts] for first, job in found.attempts.jobs.items()}


def test_metrics_of_a_job_are_from_its_first_submission_to_its_last_end() -> None:
    """Worked out by hand; what was lost is no part of its run."""
    found = measure_run(schedule(*SEVEN))
    assert (found.jobs, found.ran, found.successful, found.failed, found.attempts) == (2, 2, 2, 0, 4)
    assert found.restarts_per_job == 1.0  # two of one job, none of the other
    assert (found.mean_wait, found.max_wait) == ((5 + 0) / 2, 5)
    assert found.mean_attempt_wait == (5 + 0 + 20 + 0) / 4
    assert (found.mean_turnaround, found.max_turnaround) == ((165 + 40) / 2, 165)
    assert found.mean_bounded_slowdown == (165 / 100 + 1) / 2
    assert found.lost_work == 2 * 10 + 2 * 30
    assert found.useful_work == 1 * 40 + 2 * 100
    assert found.utilisation == (20 + 40 + 60 + 200) / (4 * 170)
    assert found.useful_utilisation == 240 / (4 * 170)
    assert found.throughput == 2 / 170


def test_the_summary_of_counted_jobs_is_that_of_kept_ones() -> None:
    """`simulate -e` counts jobs as they end, and does not keep those that succeeded."""
    counted = EndedJobs(4, len, again=True)
    for one in (*SEVEN, rejected("9")):
        counted.add(one)
    kept, summary = result_of(*SEVEN, rejected("9")), summarise(replace(result_of(), tally=counted.tally()))
    assert summary.states == {"COMPLETED_SUCCESSFULLY": 2, "REJECTED": 1}
    assert summary == summarise(kept)
    found = measure_run(schedule(*kept.jobs))
    assert {name: getattr(found, name) for name in asdict(summary) if name != "states"} == {
        name: value for name, value in asdict(summary).items() if name != "states"
    }


@pytest.mark.parametrize("sign", ["~", "#"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"finish": 20}, {"submit": 20}),  # it succeeded
        ({"finish": 20, "state": FAILED}, {"submit": 19}),  # it had not ended
        ({"finish": 20, "state": FAILED}, {"submit": 20, "hosts": "0-1"}),  # another size
    ],
)
def test_a_name_alone_makes_no_attempt(sign: str, before: dict[str, object], after: dict[str, object]) -> None:
    """Users may call their jobs as they like."""
    one = record("a", **before)  # type: ignore[arg-type]
    other = record(f"a{sign}1", **{"start": 30, "finish": 40, **after})  # type: ignore[arg-type]
    assert names(schedule(one, other)) == {}
    assert measure_run(schedule(one, other)).jobs == 2


def test_what_failed_with_its_hosts_is_submitted_again_at_once() -> None:
    """The simulator's `~` says that; `#` may come later."""
    one = record("a", finish=20, state=FAILED)
    late = {"submit": 25.0, "start": 30.0, "finish": 40.0}
    assert names(schedule(one, record("a~1", **late))) == {}  # type: ignore[arg-type]
    assert names(schedule(one, record("a#1", **late))) == {"w0!a": ["w0!a", "w0!a#1"]}  # type: ignore[arg-type]
    assert names(schedule(record("b", finish=20, state=FAILED), record("a#1", **late))) == {}  # type: ignore[arg-type]


def test_attempts_of_both_kinds_follow_each_other_and_names_that_were_taken_are_passed_over() -> None:
    """A segment that fails with its host, and a job of the user's that is called like an attempt."""
    found = schedule(
        record("a", finish=20, state=KILLED),
        record("a#1", submit=30, start=30, finish=50, state=FAILED),
        record("a#1~1", submit=50, start=60, finish=90),
        record("b", finish=20, state=FAILED),
        record("b~1", submit=3, start=3, finish=9),
        record("b~2", submit=20, start=25, finish=30),
    )
    assert names(found) == {"w0!a": ["w0!a", "w0!a#1", "w0!a#1~1"], "w0!b": ["w0!b", "w0!b~2"]}
    assert measure_run(found).jobs == 3


def test_segments_that_go_on_lose_nothing() -> None:
    """Their metadata says that they are segments of a lease; others begin again."""
    first = record("a", finish=20, state=KILLED)
    going_on = replace(record("a#1", submit=20, start=30, finish=50), metadata="lease w0!a, segment 1")
    (job,) = measure_jobs(schedule(first, going_on))
    assert (job.run, job.attempts, job.wait, job.turnaround) == (40, 2, 0, 50)
    assert measure_run(schedule(first, going_on)).lost_work == 0
    again = replace(going_on, metadata="")
    assert measure_run(schedule(first, again)).lost_work == 20


def test_a_job_whose_last_attempt_is_rejected_is_rejected_and_what_it_had_is_lost() -> None:
    """Its hosts' time counts in the utilisation."""
    again = JobRecord(Job.create("w0!a~1", size=1, profile="p", submit_time=20), "REJECTED", 0, 0.0, 0.0, HostSet())
    found = measure_run(schedule(record("a", finish=20, state=FAILED), again, record("b", finish=40)))
    assert (found.jobs, found.ran, found.rejected, found.attempts) == (2, 1, 1, 2)
    assert (found.lost_work, found.utilisation) == (20, 60 / 160)
    assert found.mean_turnaround == 40


def test_tables_of_leases_tell_what_was_lost() -> None:
    """The metric of leases and that of jobs are one: the same name, unit and number."""
    lost = measure_run(schedule_of(result("requeue"), "run"))
    assert (lost.jobs, lost.attempts, lost.requeues) == (2, 3, 1)
    assert lost.lost_work == 900  # machines of the first lease ran until the second one was requested
    kept = measure_run(schedule_of(result("quickstart"), "run"))
    assert (kept.jobs, kept.attempts, kept.suspensions, kept.lost_work) == (2, 3, 1, 0)
    assert kept.useful_work == pytest.approx(3600 + 4 * 1800, rel=0.01)


def test_a_window_has_all_attempts_of_the_jobs_that_were_submitted_in_it() -> None:
    """It has all time of hosts in it, for any attempt."""
    found = measure_run(schedule(*SEVEN), window=TimeWindow(1, 60))
    assert (found.jobs, found.attempts, found.max_turnaround, found.outside_window) == (1, 3, 165, 1)
    assert found.lost_work == 2 * 10 + 2 * 20
    assert found.useful_work == 1 * 39


def test_rows_list_attempts_with_their_numbers() -> None:
    """As Batsim's file does."""
    places = [COLUMNS.index(name) for name in ("job_id", "first_job_id", "attempt", "waiting_time")]
    assert [[row[place] for place in places] for row in job_rows(schedule(*SEVEN))] == [
        ["7", "7", "1", "5.000000"],
        ["8", "8", "1", "0.000000"],
        ["7~1", "7", "2", "20.000000"],
        ["7~2", "7", "3", "0.000000"],
    ]


def test_runs_with_other_failures_have_the_same_jobs() -> None:
    """So their metrics can be compared."""
    once = schedule(record("7", submit=5, start=10, finish=110, hosts="0-1"), SEVEN[1])
    again = schedule(*SEVEN)
    assert marks_of(again.jobs, again.attempts.firsts) == marks_of(once.jobs, once.attempts.firsts)


@pytest.mark.parametrize(
    ("job_id", "parts"),
    [
        ("w0!7~1", ("w0!7", "~", 1)),
        ("w0!7#12", ("w0!7", "#", 12)),
        ("w0!7#1~2", ("w0!7#1", "~", 2)),
        ("w0!7~0", None),
        ("w0!7#suspend1", None),
        ("w0!7", None),
    ],
)
def test_names_of_later_attempts_have_three_parts(job_id: str, parts: tuple[str, str, int] | None) -> None:
    """The number counts from 1."""
    assert split_later(job_id) == parts


def test_what_stands_before_each_sign_may_be_an_earlier_attempt() -> None:
    """Also behind another one."""
    assert bases_of(["w0!a#1~2", "w0!b"]) == {"w0!a", "w0!a#1"}

"""Jobs that are held for their conditions on other jobs."""

from __future__ import annotations

import math
from typing import Any

import pytest

from batsched_py.model.job import Job
from batsched_py.protocol.commands import RejectJob
from batsched_py.state import outcomes
from batsched_py.state.state import State
from tests.builders import completed, execute, state, submitted

WELL, BADLY = "COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED"


def job(name: str, **members: Any) -> Job:
    """A job with conditions."""
    return Job.create(f"w0!{name}", size=1, profile="p", submit_time=0.0, walltime=10.0, extra=members)


def submit(now: State, *jobs: Job) -> list[str]:
    """Submit jobs, and return the names of those that are released."""
    for one in jobs:
        now.apply(submitted(one, now.now))
    return names(now)


def names(now: State) -> list[str]:
    """The names of the jobs that are released."""
    return [one.name for one in now.receive_released()]


def after(now: State, time: float, *ended: str, how: str = WELL) -> list[str]:
    """End jobs at a time, and return the names of the jobs that are released."""
    now.advance(time)
    for name in ended:
        now.apply(completed(f"w0!{name}", time, how))
    now.check()
    return names(now)


def start(now: State, name: str, host: str) -> list[str]:
    """Start a job, and return the names of the jobs that are released."""
    now.apply(execute(f"w0!{name}", host, now.now))
    return names(now)


def reject(now: State, name: str) -> list[str]:
    """Reject a job, and return the names of the jobs that are released."""
    now.apply(RejectJob(now.now, f"w0!{name}"))
    return names(now)


@pytest.mark.parametrize(
    ("when", "at_start", "at_success", "at_failure"),
    [
        ("start", True, True, True),
        ("end", False, True, True),
        ("success", False, True, None),
        ("failure", False, None, True),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_each_state_of_another_job(
    when: str, at_start: bool, at_success: bool | None, at_failure: bool | None, late: bool
) -> None:
    """Released at its start or its end, or impossible; the same for a job that is submitted when all is over."""
    for how, expected in ((WELL, at_success), (BADLY, at_failure)):
        check_state(when, how, at_start=at_start and not late, expected=expected, late=late)


def check_state(when: str, how: str, *, at_start: bool, expected: bool | None, late: bool) -> None:
    """Play one job that depends on another one."""
    now, dependent = state(2, job("a")), job("b", depends_on=[{"job": "a", "when": when}])
    if not late:
        assert submit(now, dependent) == []
    released = start(now, "a", "0")
    assert released == (["b"] if at_start else [])
    released += after(now, 5, "a", how=how)
    if late:
        released += submit(now, dependent)
    assert released == (["b"] if expected else [])
    assert list(now.held.impossible) == (["w0!b"] if expected is None else [])


def test_a_rejected_job_has_started_ended_and_failed() -> None:
    """As in Slurm, where a cancelled job fulfils all but success."""
    conditions = {name: job(name, depends_on=[{"job": "a", "when": name}]) for name in ("start", "end", "failure")}
    now = state(2, job("a"))
    submit(now, *conditions.values(), job("success", depends_on=["a"]))
    assert reject(now, "a") == ["start", "end", "failure"]
    assert now.held.impossible == {"w0!success": "it depends on the success of w0!a, which has not succeeded"}


def test_all_conditions_must_be_fulfilled() -> None:
    """Names may be numbers, and ids; a name given twice counts once."""
    now = state(3, job("1"), job("2"))
    submit(now, job("c", depends_on=[1, "w0!2", 1]))
    start(now, "1", "0")
    start(now, "2", "1")
    assert after(now, 5, "1") == []
    assert now.held.reason("w0!c") == "waits for the success of w0!2"
    assert after(now, 6, "2") == ["c"]


@pytest.mark.parametrize(("when", "since"), [("start", 1.0), ("end", 5.0)])
def test_a_delay_counts_from_the_start_or_the_end(when: str, since: float) -> None:
    """Also for a job that is submitted later."""
    now = state(2, job("a"))
    now.advance(1)
    submit(now, job("b", depends_on=[{"job": "a", "when": when, "delay": 10}]))
    start(now, "a", "0")
    assert after(now, 5, "a") == []
    assert now.held.next_release == since + 10
    assert now.held.reason("w0!b") == f"waits until t={since + 10:g}"
    assert submit(now, job("c", depends_on=[{"job": "a", "when": when, "delay": 20}])) == []
    assert after(now, since + 9) == []
    assert after(now, since + 10) == ["b"]
    assert after(now, since + 20) == ["c"]
    assert now.held.next_release == math.inf


def test_ends_of_long_ago_are_not_later_than_the_first_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A delay counts from the latest end among those that are no longer kept."""
    monkeypatch.setattr(outcomes, "FEW", 2)
    now = state(1, *(job(f"{number}") for number in range(7)))
    for number in range(7):
        start(now, f"{number}", "0")
        after(now, 10.0 * (number + 1), f"{number}")
    submit(now, job("b", depends_on=[{"job": "0", "delay": 100}]), job("c", depends_on=[{"job": "6", "delay": 100}]))
    assert after(now, 139) == []
    assert after(now, 40 + 100) == ["b"]
    assert after(now, 70 + 100) == ["c"]


def test_a_singleton_runs_one_job_of_a_user_after_the_other() -> None:
    """In the order of submission, also if an earlier one is rejected while one runs."""
    now = state(4)
    ada = [job(f"{number}", singleton="s", user="ada") for number in range(4)]
    assert submit(now, *ada, job("eve", singleton="s", user="eve")) == ["0", "eve"]
    assert now.held.reason("w0!2") == "waits for the end of w0!0, a singleton s as this job"
    start(now, "0", "0")
    assert reject(now, "1") == []
    assert after(now, 5, "0", how=BADLY) == ["2"]
    start(now, "2", "0")
    assert after(now, 9, "2") == ["3"]


def test_an_array_has_at_most_its_limit_of_jobs() -> None:
    """Ready jobs take free places in the order of submission; without a limit all are released."""
    now = state(4, job("x"))
    tasks = [job(f"{number}", array={"id": "a", "limit": 2}) for number in range(5)]
    tasks[2] = job("2", array={"id": "a", "limit": 2}, depends_on=["x"])
    assert submit(now, *tasks) == ["0", "1"]
    start(now, "0", "0")
    start(now, "x", "1")
    assert now.held.reason("w0!3") == "waits for an end in array a, of which 2 may run"
    assert after(now, 5, "0") == ["3"]
    assert reject(now, "1") == ["4"]
    assert after(now, 6, "x") == []
    assert reject(now, "3") == ["2"]
    assert submit(now, *(job(f"free{number}", array={"id": "b"}) for number in range(3))) == ["free0", "free1", "free2"]
    submit(now, job("odd", array={"id": "a", "limit": 3}))
    assert now.held.impossible == {"w0!odd": "the limit of array a is 3, and 2 that of its first job"}


def test_held_jobs_are_of_the_state() -> None:
    """They keep the run going, wait nowhere else, and are removed by a rejection."""
    now = state(2, job("a"))
    submit(now, job("b", depends_on=["a"]))
    now.all_submitted = True
    reject(now, "a")
    assert not now.over
    assert "w0!b" in now.held
    assert len(now.held) == 1
    assert reject(now, "b") == []
    assert not now.held.impossible
    assert now.over
    assert list(now.held.unknown(now.known.__contains__)) == []


def test_a_state_without_held_jobs_reads_no_conditions() -> None:
    """For algorithms that obey them on their own."""
    now = State(holds=False)
    now.apply(submitted(job("b", depends_on="nonsense")))
    assert "w0!b" in now.queue

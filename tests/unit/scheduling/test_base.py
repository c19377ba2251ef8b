"""Expected waits, asked in a conversation: of waiting and running jobs, and of jobs that have not been submitted."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.api import Job, NoOptions, Plan, Scheduler, View
from batsched_py.errors import AlgorithmError
from batsched_py.plugins import load
from batsched_py.schedulers.easy import Easy
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.schedulers.trials.rejecter import Rejecter
from batsched_py.scheduling import base
from batsched_py.scheduling.base import waiting_time
from batsched_py.session.session import Session
from tests.builders import begins_data, begun, job, message, submitted_data


class Conservative(Scheduler[NoOptions]):
    """An algorithm that starts no job, but promises each its earliest start and keeps its hosts."""

    name = "promises"

    def decide(self, view: View, plan: Plan) -> None:
        future = view.availability()
        for waiting in view.queue:
            if waiting.id not in plan.promises:
                slot = future.earliest(waiting.size, waiting.walltime or math.inf)
                if slot is not None and slot.start < math.inf:
                    future.reserve(slot)
                    plan.promise(waiting, slot)


def asked(session: Session, name: str, now: float = 10, **described: Any) -> float:
    """Return the answered waiting time; a job that is described has not been submitted."""
    requests: dict[str, Any] = {"job_id": f"w0!{name}"}
    if described:
        requests["job"] = submitted_data(name, **described)["job"]
    reply = json.loads(session.answer(message(now, ("QUERY", {"requests": {"estimate_waiting_time": requests}}))))
    (answer,) = [event["data"] for event in reply["events"] if event["type"] == "ANSWER"]
    assert answer["estimate_waiting_time"]["job_id"] == f"w0!{name}"
    return float(answer["estimate_waiting_time"]["estimated_waiting_time"])


def told(scheduler: type[Scheduler[Any]], *jobs: tuple[str, int, float | None]) -> Session:
    """Four hosts, and these jobs: name, size, walltime; all at 0."""
    session = begun(scheduler)
    session.answer(message(0, *(("JOB_SUBMITTED", submitted_data(*described)) for described in jobs)))
    return session


def test_a_job_that_runs_waits_no_more() -> None:
    """Nor does one that would start at once."""
    session = told(Fcfs, ("a", 2, 30))
    assert asked(session, "a") == 0
    assert asked(session, "new", size=2, walltime=5) == 0
    assert asked(session, "large", size=3, walltime=5) == 20


def test_a_job_waits_for_those_before_it() -> None:
    """By their walltimes; no job overtakes another."""
    session = told(Fcfs, ("a", 3, 30), ("b", 4, 100), ("c", 2, 20), ("d", 4, 1))
    assert [asked(session, name) for name in "bcd"] == [20, 120, 140]
    assert asked(session, "new", size=4, walltime=5) == 141
    assert asked(session, "short", size=1, walltime=20) == 141
    assert asked(session, "long", size=1, walltime=20.5) == 141


def test_what_was_promised_is_what_is_answered() -> None:
    """EASY promises its first job; it starts when it was promised, though that is a promise on a count."""
    session = told(Easy, ("a", 4, 30), ("b", 4, 100))
    assert asked(session, "b") == 20
    assert asked(session, "b", now=25) == 5
    assert asked(session, "b", now=31) == 0


def test_promises_of_conservative_backfilling_are_taken_into_account_once() -> None:
    """Their hosts are reserved: a job that nobody has submitted finds its place between and after them."""
    session = told(Conservative, ("a", 4, 30), ("b", 2, 100), ("c", 4, 50))
    assert [asked(session, name) for name in "abc"] == [0, 20, 120]
    assert asked(session, "beside", size=2, walltime=100) == 20
    assert asked(session, "longer", size=2, walltime=101) == 170


@pytest.mark.parametrize("scheduler", [Fcfs, Conservative])
def test_a_job_that_can_never_start_has_no_waiting_time(scheduler: type[Scheduler[Any]]) -> None:
    """Too large; behind one that never ends; unknown."""
    session = told(scheduler, ("a", 3, None))
    assert asked(session, "large", size=5, walltime=5) == -1
    assert asked(session, "behind", size=2, walltime=5) == -1
    assert asked(session, "beside", size=1, walltime=None) == 0
    assert asked(session, "nobody") == -1


def test_an_algorithm_that_needs_walltimes_starts_no_job_without() -> None:
    """It would be rejected."""
    assert asked(told(Easy), "new", size=1, walltime=None) == -1


def test_batsched_s_waiting_time_estimator() -> None:
    """It rejects all jobs and says so; ours knows which."""
    assert asked(told(Rejecter), "new", size=1, walltime=5) == -1
    some = Session(load("rejecter"), {"larger_than": 2})
    some.answer(message(0, ("SIMULATION_BEGINS", begins_data())))
    assert [asked(some, "new", size=size, walltime=5) for size in (2, 3)] == [0, -1]


def test_an_algorithm_may_know_better() -> None:
    """It is asked after it has decided; an error in it is told as its own."""

    class Knows(Fcfs):
        name = "knows"

        def estimate_wait(self, job: Job, view: View, plan: Plan) -> float | None:
            if job.size == 3:
                raise KeyError("three")
            return None if job.size == 4 else 7.0 * job.size

    session = told(Knows)
    assert asked(session, "new", size=2, walltime=5) == 14
    assert asked(session, "new", size=4, walltime=5) == -1
    with pytest.raises(AlgorithmError, match=r"t=10: knows failed on Query: KeyError: 'three' \(test_base.py:"):
        asked(session, "new", size=3, walltime=5)


def test_only_so_many_waiting_jobs_are_thought_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question must not take for ever; behind a longer queue the answer is too short.

    An algorithm of a user's is not played ahead, although it extends one that is.
    """

    class Own(Fcfs):
        name = "own"

    session = told(Own, *((f"{number}", 4, 10) for number in range(6)))
    assert asked(session, "new", now=0, size=4, walltime=5) == 60
    monkeypatch.setattr(base, "FORESEEN", 3)
    assert asked(session, "new", now=0, size=4, walltime=5) == 40


@given(
    st.lists(st.tuples(st.integers(1, 4), st.none() | st.integers(1, 9)), max_size=8),
    st.integers(1, 4),
    st.none() | st.integers(1, 9),
    st.sampled_from([Fcfs, Easy, Conservative]),
)
def test_a_question_leaves_no_trace(
    jobs: list[tuple[int, int | None]], size: int, walltime: int | None, scheduler: type[Scheduler[Any]]
) -> None:
    """The availability is what it was, whatever waits."""
    session = told(scheduler, *((f"{number}", *described) for number, described in enumerate(jobs)))
    future = session.view.availability()
    before = (future.free, list(future.steps()))
    waiting_time(job("new", size, walltime), session.view, session.plan)
    assert (future.free, list(future.steps())) == before
    session.check()

"""Estimates of waiting times: an estimate is what the algorithm would do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from tests.builders import begins_data, message, submitted_data
from tests.drawing import given_once
from tests.platforms import plain_platform
from tests.recorded_run import RecordedRun
from tests.unit.simulator.scenario import job, workload

#: Algorithms and options whose decisions are played ahead.
REHEARSED: list[tuple[str, dict[str, Any]]] = [
    ("fcfs", {}),
    ("filler", {}),
    ("sequencer", {}),
    ("sequencer", {"order": "sjf"}),
    ("priority", {"order": "sjf"}),
    ("priority", {"order": "wfp3"}),
    ("conservative", {}),
    ("conservative", {"slack": "5"}),
    ("conservative", {"reserve": "hosts"}),
    ("conservative", {"reserve": "hosts", "slack": "5"}),
    ("conservative", {"order": "sjf"}),
    ("easy", {}),
    ("easy", {"slack": "5"}),
    ("easy", {"reserve": "hosts", "slack": "5"}),
    ("easy", {"reserve": "counts"}),
    ("easy", {"backfill_order": "sjf"}),
    ("easy", {"order": "unicep"}),
    ("backfill", {"depth": "2"}),
    ("backfill", {"depth": "2", "reserve": "hosts", "slack": "3"}),
]
#: (submission, size, walltime) of jobs that take their walltimes, and of one that is asked about last.
JOBS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 4), st.integers(1, 30)), min_size=1, max_size=10)
ASKED = st.tuples(st.integers(1, 4), st.integers(1, 30))
HOSTS = 4


def made(jobs: list[tuple[int, int, int]], *more: tuple[str, float, int, int]) -> Workload:
    """A workload of these jobs, whose names are in order of submission."""
    described = [(f"{number:02}", *each) for number, each in enumerate(jobs)]
    every = [*described, *more]
    profiles = {f"d{takes}": {"type": "delay", "delay": takes} for _, _, _, takes in every}
    return workload(
        *(job(name, f"d{takes}", res=size, at=at, walltime=takes) for name, at, size, takes in every), profiles=profiles
    )


def started(name: str, options: dict[str, Any], jobs: Workload) -> float:
    """When the job "zz" is started in a simulation."""
    run = RecordedRun(name, options).run([jobs], on=plain_platform(HOSTS))
    (start,) = [record.start for record in run.jobs if record.job.id == "w0!zz"]
    return start


def estimated(name: str, options: dict[str, Any], jobs: Workload, asked: tuple[int, int], at: float) -> float:
    """The wait that is answered between two messages of a simulation without it."""
    session, answers = Session(load(name), options), list[float]()
    described = submitted_data("zz", *asked, subtime=at)["job"]
    question = {"estimate_waiting_time": {"job_id": "w0!zz", "job": described}}

    def ask_before(request: bytes) -> bytes:
        if not answers and json.loads(request)["now"] > at:
            reply = json.loads(session.answer(message(at, ("QUERY", {"requests": question}))))
            (answer,) = [event["data"] for event in reply["events"] if event["type"] == "ANSWER"]
            answers.append(answer["estimate_waiting_time"]["estimated_waiting_time"])
        return session.answer(request)

    result = Simulation(plain_platform(HOSTS), [jobs]).run(ask_before)
    unasked = RecordedRun(name, options).run([jobs], on=plain_platform(HOSTS))
    assert result.jobs == unasked.jobs, "the question has left a trace"
    (wait,) = answers
    return wait


CASES = st.tuples(JOBS, ASKED)


@pytest.mark.parametrize(("name", "options"), REHEARSED, ids=str)
@given_once(CASES, count=25)
def test_an_estimate_is_what_the_algorithm_does(
    name: str, options: dict[str, Any], drawn: tuple[list[tuple[int, int, int]], tuple[int, int]]
) -> None:
    """If the job is submitted at that moment, no other comes later, and each takes its walltime."""
    jobs, asked = drawn
    at = max(submission for submission, _, _ in jobs) + 0.5
    wait = estimated(name, options, made(jobs), asked, at)
    assert wait == pytest.approx(started(name, options, made(jobs, ("zz", at, *asked))) - at)


def ask(session: Session, name: str, now: float, size: int, walltime: int) -> dict[str, Any]:
    """The answer to a question about a job that nobody has submitted."""
    described = submitted_data(name, size, walltime, subtime=now)["job"]
    question = {"estimate_waiting_time": {"job_id": f"w0!{name}", "job": described}}
    reply = json.loads(session.answer(message(now, ("QUERY", {"requests": question}))))
    (answer,) = [event["data"] for event in reply["events"] if event["type"] == "ANSWER"]
    found: dict[str, Any] = answer["estimate_waiting_time"]
    return found


def talking(name: str, told: list[str], **options: Any) -> Session:
    """A session on four hosts, on two of which a job runs since 0 s, for 106 s at most."""
    session = Session(load(name), options, warn=told.append)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(4))))
    session.answer(message(0, ("JOB_SUBMITTED", submitted_data("a", 2, 106))))
    return session


@pytest.mark.parametrize(
    ("name", "reserve"), [("conservative", "hosts"), ("conservative", "counts"), ("easy", "hosts")]
)
def test_the_slack_of_the_job_itself_counts(name: str, reserve: str) -> None:
    """A promise at 111 s leaves no 65 s from 51 s on; so the job waits for the one that holds it, until 106 + 106 s."""
    told: list[str] = []
    session = talking(name, told, slack="5", reserve=reserve)
    session.answer(message(1, ("JOB_SUBMITTED", submitted_data("b", 4, 106, subtime=1))))
    assert ask(session, "q", 51, 2, 60)["estimated_waiting_time"] == 212 - 51
    assert ask(session, "q", 51, 2, 55)["estimated_waiting_time"] == 0
    assert told == []


@pytest.mark.parametrize("name", ["random", "easy_plus_plus", "leases"])
def test_who_cannot_say_says_nothing(name: str) -> None:
    """Their decisions depend on more than what is seen: no number is better than a wrong one."""
    told: list[str] = []
    session = talking(name, told)
    session.answer(message(1, ("JOB_SUBMITTED", submitted_data("b", 4, 106, subtime=1))))
    assert ask(session, "q", 51, 2, 60) == {"job_id": "w0!q"}
    assert told[-1] == f"t=51: w0!q: {name} cannot estimate its wait, and the answer has none"


def test_nobody_knows_when_a_failed_host_is_back() -> None:
    """So nobody says."""
    told: list[str] = []
    session = talking("easy", told)
    session.answer(message(2, ("NOTIFY", {"type": "event_machine_unavailable", "resources": "3"})))
    assert "estimated_waiting_time" not in ask(session, "q", 3, 3, 60)
    session.answer(message(4, ("NOTIFY", {"type": "event_machine_available", "resources": "3"})))
    assert ask(session, "q", 5, 3, 60)["estimated_waiting_time"] == 101

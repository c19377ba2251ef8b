"""Orders after which SimGrid may never end."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.api import HostSet, NoOptions, Plan, Scheduler, View
from batsched_py.session.session import Session
from tests.builders import begins_data, completed_data, message, said, submitted_data

PROFILES: dict[str, dict[str, Any]] = {
    "delay": {"type": "delay", "delay": 5},
    "cpu": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
    "all": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 1e6},
    "own": {"type": "parallel", "cpu": [1e9], "com": [1e6]},
    "steps": {"type": "composed", "seq": ["delay", "deeper", "cpu"], "repeat": 2},
    "deeper": {"type": "composed", "seq": ["all"]},
    "wrong": {"type": "parallel", "cpu": "many"},
}


class OnHost0(Scheduler[NoOptions]):
    """Puts all executors of each job on host 0."""

    name = "on-host-0"

    def decide(self, view: View, plan: Plan) -> None:
        for job in list(view.queue):
            plan.start(job, HostSet.of(0), None if job.size == 1 else dict.fromkeys(range(job.size), 0))


def watched(lines: list[str], *, watch: bool = True, **begins: Any) -> Session:
    """A session of which `serve` would print these lines."""
    session = Session(OnHost0, warn=lines.append)
    if watch:
        session.warn_of_endless_tasks()
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(profiles={"w0": PROFILES}, **begins))))
    return session


def submit(session: Session, now: float, name: str, profile: str, size: int) -> None:
    """Submit a job, which is started at once."""
    data = submitted_data(name, size, subtime=now)
    data["job"]["profile"] = profile
    assert said(session.answer(message(now, ("JOB_SUBMITTED", data))))[0][0] == "EXECUTE_JOB"


DOUBLED = "t=1: w0!a puts executors that communicate on one host: there SimGrid 3.32, 3.34 and 4.0 may never end"
UNKNOWN = "t=1: w0!a puts executors on one host; if they communicate, there SimGrid 3.32,"


@pytest.mark.parametrize(
    ("profile", "size", "told"),
    [
        ("all", 2, DOUBLED),
        ("steps", 2, DOUBLED),
        ("nowhere", 2, UNKNOWN),
        ("cpu", 2, ""),
        ("delay", 2, ""),
        ("wrong", 2, ""),
        ("all", 1, ""),
        ("own", 1, ""),
    ],
)
def test_executors_that_communicate_on_one_host_are_told_before_the_order_is_sent(
    profile: str, size: int, told: str
) -> None:
    """The profile may be known or not."""
    lines: list[str] = []
    submit(watched(lines), 1, "a", profile, size)
    assert [line[: len(told)] for line in lines] == ([told] if told else [])


def test_each_kind_is_told_once() -> None:
    """A run may have a million such orders."""
    lines: list[str] = []
    session = watched(lines)
    submit(session, 1, "a", "all", 2)
    session.answer(message(2, ("JOB_COMPLETED", completed_data("a", "0"))))
    submit(session, 3, "b", "all", 2)
    assert len(lines) == 1


def test_jobs_that_send_within_a_host_that_they_share_are_told() -> None:
    """One after the other they are no danger."""
    lines: list[str] = []
    session = watched(lines, allow_compute_sharing=True)
    submit(session, 1, "a", "own", 1)
    session.answer(message(2, ("JOB_COMPLETED", completed_data("a", "0"))))
    submit(session, 3, "b", "own", 1)
    submit(session, 4, "c", "cpu", 1)
    assert lines == []
    submit(session, 5, "d", "own", 1)
    (line,) = lines
    assert line.startswith("t=5: w0!d shares a host with a job, and both send from it to itself: there SimGrid 3.32,")


def test_only_real_batsim_is_warned_for() -> None:
    """The simulator has a line of its own, an approximation."""
    lines: list[str] = []
    submit(watched(lines, watch=False), 1, "a", "all", 2)
    assert lines == []

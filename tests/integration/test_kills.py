"""Kills: the order in which they are told, races with an end that comes by itself, and what is left to do."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.api import Event, HostSet, Job, JobKilled, NoOptions, Plan, Scheduler, View
from batsched_py.model.settings import Settings
from batsched_py.session.clock import DecisionClock
from tests.recorded_run import Decide, RecordedRun, algorithm, in_order
from tests.unit.simulator.scenario import Profiles, job, workload

KILLS = ("JOB_COMPLETED", "JOB_KILLED")


def once(time: float, act: Decide) -> Decide:
    """At the first message at or after `time`, which is asked for."""
    done: list[bool] = []

    def decide(view: View, plan: Plan) -> None:
        in_order(view, plan)
        if view.now < time and time not in view.wakeups:
            plan.wake_at(time)
        if view.now >= time and not done:
            done.append(True)
            act(view, plan)

    return decide


def kill_all(view: View, plan: Plan) -> None:
    """Everything that runs, all at once."""
    plan.kill([run.job for run in view.running])


def test_completions_come_first_and_then_one_job_killed_for_the_request() -> None:
    """With the progress of each; the hosts are free once (E9)."""
    talk = RecordedRun(algorithm(once(4.0, kill_all)))
    result = talk.run([workload(job("a", at=1), job("b", at=2, profile="d5", res=2), job("c", at=8, res=4))])
    assert talk.said("KILL_JOB") == [(4.0, "KILL_JOB", {"job_ids": ["w0!a", "w0!b"]})]
    told = talk.told(*KILLS)
    assert [(time, kind) for time, kind, _ in told[:3]] == [
        (4.0, "JOB_COMPLETED"),
        (4.0, "JOB_COMPLETED"),
        (4.0, "JOB_KILLED"),
    ]
    assert told[2][2] == {
        "job_ids": ["w0!a", "w0!b"],
        "job_progress": {
            "w0!a": {"profile_name": "d10", "progress": 0.3},
            "w0!b": {"profile_name": "d5", "progress": 0.4},
        },
    }
    assert [record.state for record in result.jobs] == ["COMPLETED_KILLED"] * 2 + ["COMPLETED_SUCCESSFULLY"]
    assert result.jobs[2].start == 8.0


NESTED: Profiles = {
    "d4": {"type": "delay", "delay": 4},
    "d6": {"type": "delay", "delay": 6},
    "pair": {"type": "composed", "seq": ["d4", "d6"]},
    "twice": {"type": "composed", "seq": ["pair", "d4"], "repeat": 2},
}


def test_the_progress_of_nested_sequences_is_a_tree() -> None:
    """Steps are counted through all repetitions; the leaf has the share that was done."""
    talk = RecordedRun(algorithm(once(21.0, kill_all)))
    talk.run([workload(job("a", "twice", at=0), profiles=NESTED)])
    ((_, _, data),) = talk.told("JOB_KILLED")
    assert data["job_progress"]["w0!a"] == {
        "profile_name": "twice",
        "current_task_index": 2,
        "current_task": {
            "profile_name": "pair",
            "current_task_index": 1,
            "current_task": {"profile_name": "d6", "progress": 0.5},
        },
    }


class GoOn(Scheduler[NoOptions]):
    """Kills at t=21 what runs, and submits what was left of it as one job for each piece."""

    name = "go-on"
    needs_dynamic_jobs = True

    def setup(self, view: View) -> None:
        self.left: list[Any] = []

    def observe(self, event: Event, view: View) -> None:
        if isinstance(event, JobKilled):
            for job_id, progress in event.progress.items():
                self.left = list(view.remainder(job_id, progress) or ())

    def decide(self, view: View, plan: Plan) -> None:
        if self.left:
            piece = self.left.pop(0)
            number = 10 - len(self.left)
            plan.submit(Job.create(f"rest!{number}", size=1, profile=f"p{number}"), piece)
            if not self.left:
                plan.finish_registration()
        in_order(view, plan)
        if not view.wakeups and view.now < 21:
            plan.wake_at(21.0)
        if view.now == 21.0 and any(run.job.workload == "w0" and not run.killed for run in view.running):
            kill_all(view, plan)


def test_what_was_left_can_be_done_later() -> None:
    """The killed job's 28 s become 21 s, and a piece of 7 s, although its profile went with it."""
    talk = RecordedRun(GoOn)
    settings = Settings(dynamic_jobs=True, acknowledge_dynamic_jobs=True)
    result = talk.run([workload(job("a", "twice", at=0), profiles=NESTED)], settings)
    pieces = [(record.job.id, record.finish - record.start) for record in result.jobs]
    assert pieces == [("w0!a", 21.0), ("rest!10", 7.0)]


def test_an_end_that_comes_at_the_instant_of_the_kill_is_an_end() -> None:
    """BA-7: the completion is in the message that calls for the decision; nothing is left to kill, nothing is said."""
    talk = RecordedRun(algorithm(once(11.0, kill_all)))
    result = talk.run([workload(job("a", at=1))])
    assert talk.said("KILL_JOB") == []
    assert result.jobs[0].state == "COMPLETED_SUCCESSFULLY"


@pytest.mark.parametrize(
    ("asked", "state", "progress"),
    [
        (10.9, "COMPLETED_KILLED", {"w0!a": {"profile_name": "d10", "progress": 0.99}}),
        (11.0, "COMPLETED_SUCCESSFULLY", {}),
        (11.1, "COMPLETED_SUCCESSFULLY", {}),
    ],
    ids=["kill first", "at one instant", "end first"],
)
def test_an_end_may_overtake_a_kill_that_is_on_its_way(asked: float, state: str, progress: Any) -> None:
    """BA-7: a decision takes half a second; meanwhile, at 11.5, the job ends. It ends once, and is free once."""
    talk = RecordedRun(algorithm(once(asked, kill_all)), clock=DecisionClock(fixed=0.5))
    result = talk.run([workload(job("a", at=1), job("b", at=20, res=4))])
    assert [record.state for record in result.jobs] == [state, "COMPLETED_SUCCESSFULLY"]
    ((_, _, killed),) = talk.told("JOB_KILLED")
    assert killed == {"job_ids": ["w0!a"], "job_progress": progress}
    assert [kind for _, kind, _ in talk.told(*KILLS)] == ["JOB_COMPLETED", "JOB_KILLED", "JOB_COMPLETED"]


def test_nothing_is_killed_twice() -> None:
    """Asked for twice in one plan, and again at the messages that follow."""

    def twice(view: View, plan: Plan) -> None:
        in_order(view, plan)
        if view.running and view.now >= 1.0:
            kill_all(view, plan)
            kill_all(view, plan)

    talk = RecordedRun(algorithm(twice))
    talk.run([workload(job("a", at=0, profile="d20"), job("b", at=1, profile="d20"), job("c", at=1))])
    assert [data["job_ids"] for _, _, data in talk.said("KILL_JOB")] == [["w0!a", "w0!b", "w0!c"]]
    assert len(talk.told("JOB_KILLED")) == 1


def test_a_killed_job_frees_shared_hosts_when_its_last_neighbour_ends() -> None:
    """Once, not once for each job."""

    def share(view: View, plan: Plan) -> None:
        for waiting in view.queue:
            plan.start(waiting, HostSet.of(0))
        if not view.wakeups and view.now < 3:
            plan.wake_at(3.0)
        if view.now == 3.0:
            plan.kill([run.job for run in view.running if run.job.name == "a"])
            free.append(str(plan.free))

    free: list[str] = []
    talk = RecordedRun(algorithm(share))
    result = talk.run([workload(job("a"), job("b"))], Settings(compute_sharing=True))
    assert free == ["1-3", "1-3"]
    assert [(record.job.name, record.finish) for record in result.jobs] == [("a", 3.0), ("b", 10.0)]

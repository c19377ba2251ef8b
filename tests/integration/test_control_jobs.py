"""Control jobs: CHANGE_JOB_STATE through the Plan, against the simulator as Batsim 1.4 and as Batsim 4."""

from __future__ import annotations

import pytest

from batsched_py.api import Job, NoOptions, Plan, Scheduler, View
from batsched_py.errors import DeadlockError
from batsched_py.model.settings import Settings
from tests.recorded_run import RecordedRun, algorithm, in_order
from tests.unit.simulator.scenario import job, workload

V14 = Settings(protocol="v1.4")
JOBS = workload(job("1", at=1), job("2", at=1), job("3", at=1, res=4))


class Control(Scheduler[NoOptions]):
    """Job 1 is in its hands until t=7, job 2 is rejected, job 3 really runs."""

    name = "control"

    def setup(self, view: View) -> None:
        self.mine: list[Job] = []

    def decide(self, view: View, plan: Plan) -> None:
        for waiting in view.queue:
            if waiting.name == "1":
                self.mine.append(waiting)
                plan.change_state(waiting, "RUNNING")
                plan.wake_at(7.0)
                assert view.job(waiting.id) == waiting
            elif waiting.name == "2":
                plan.change_state(waiting, "REJECTED")
        if view.due(7.0):
            while self.mine:
                plan.change_state(self.mine.pop(), "COMPLETED_KILLED", "enough")
        in_order(view, plan)


def test_control_jobs_have_a_life_of_their_own_in_batsim_1() -> None:
    """They take no hosts, no event tells of them, and the run ends when they have ended."""
    talk = RecordedRun(Control)
    result = talk.run([JOBS], V14)
    ends = {record.job.name: (record.state, record.start, record.finish) for record in result.jobs}
    assert ends["1"] == ("COMPLETED_KILLED", 1.0, 7.0)
    assert ends["2"][0] == "REJECTED"
    assert ends["3"] == ("COMPLETED_SUCCESSFULLY", 1.0, 11.0)
    assert [data["job_id"].endswith("!3") for _, _, data in talk.told("JOB_COMPLETED")] == [True]
    assert [data["job_state"] for _, _, data in talk.said("CHANGE_JOB_STATE")] == [
        "RUNNING",
        "REJECTED",
        "COMPLETED_KILLED",
    ]


def test_a_control_job_never_ends_in_batsim_4() -> None:
    """The verb is let pass, as Batsim does; the run stands still, and the error names the job."""

    def run_it(view: View, plan: Plan) -> None:
        for waiting in view.queue:
            plan.change_state(waiting, "RUNNING")

    talk = RecordedRun(algorithm(run_it))
    with pytest.raises(DeadlockError, match="w0!a was set to RUNNING by CHANGE_JOB_STATE and never ends"):
        talk.run([workload(job("a", at=1))])


@pytest.mark.parametrize(("protocol", "completions"), [("v4", 3), ("v1.4", 1)])
def test_a_kill_frees_the_hosts_in_both_dialects(protocol: str, completions: int) -> None:
    """v1.4 says JOB_KILLED alone; the job that waited starts in the reply to it."""

    def kill(view: View, plan: Plan) -> None:
        in_order(view, plan)
        if view.now < 4:
            plan.wake_at(4.0)
        elif view.due(4.0) and view.now < 5:
            plan.kill([run.job for run in view.running if run.start < 4])

    talk = RecordedRun(algorithm(kill))
    jobs = workload(job("1", at=1, res=2), job("2", at=1, res=2), job("3", at=2, res=4))
    result = talk.run([jobs], Settings(protocol=protocol))
    assert [(record.job.name, record.state, record.finish) for record in result.jobs] == [
        ("1", "COMPLETED_KILLED", 4.0),
        ("2", "COMPLETED_KILLED", 4.0),
        ("3", "COMPLETED_SUCCESSFULLY", 14.0),
    ]
    assert len(talk.told("JOB_KILLED")) == 1
    assert len(talk.told("JOB_COMPLETED")) == completions

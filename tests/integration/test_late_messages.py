"""Time is not exact (E18): announcements and calls come late, and nothing of ours minds."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.api import Job, NoOptions, Plan, Scheduler, Slot, View
from batsched_py.campaigns import simulate
from batsched_py.model.settings import Settings
from batsched_py.session.session import Session
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from tests.builders import begins_data, completed_data, message, submitted_data
from tests.clone import ROOT
from tests.integration.energy_runs import run
from tests.integration.variants import VARIANTS
from tests.recorded_run import RecordedRun
from tests.unit.simulator.scenario import job, workload

LATE = Settings(message_latency=True)


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_every_algorithm_runs_all_jobs_when_messages_take_time(name: str, options: dict[str, Any]) -> None:
    """The books are right after each message, calls and ends that come late included."""
    talk = RecordedRun(name, options)
    jobs = read_workload(ROOT / "workloads" / "mixed.json")
    result = talk.run([jobs], LATE, on=read_platform(ROOT / "platforms" / "cluster32.xml"))
    assert len(result.jobs) == len(jobs.jobs)
    late = [time for time, _, _ in talk.told("JOB_COMPLETED") if time != round(time, 3)]
    assert late, "nothing was late: the test shows nothing"


class Planner(Scheduler[NoOptions]):
    """Plans each job when it comes, on hosts and for an instant, and starts it when both are there."""

    name = "planner"
    needs_walltime = True

    def setup(self, view: View) -> None:
        self.plans: dict[str, tuple[Job, Slot]] = {}
        #: (planned, started) of each job, in order.
        self.starts: list[tuple[float, float]] = []

    def decide(self, view: View, plan: Plan) -> None:
        future = view.availability()
        for new in view.arrived:
            assert new.walltime is not None
            slot = future.earliest(new.size, new.walltime)
            assert slot is not None
            future.reserve(slot)
            self.plans[new.id] = new, slot
            if not view.due(slot.start):
                plan.wake_at(slot.start)
        for waiting, slot in list(self.plans.values()):
            if view.due(slot.start) and slot.hosts <= plan.free:
                future.release(slot)
                plan.start(waiting, slot.hosts)
                del self.plans[waiting.id]
                self.starts.append((slot.start, view.now))


def test_planned_jobs_start_when_it_is_time_and_their_hosts_are_free() -> None:
    """Back to back plans: each end is told after the instant for which the next job was planned."""
    talk = RecordedRun(Planner)
    jobs = workload(*(job(str(n), at=0, res=16 if n % 2 else 20, walltime=10.0) for n in range(12)))
    result = talk.run([jobs], LATE, on=read_platform(ROOT / "platforms" / "cluster32.xml"))
    assert len(result.jobs) == 12
    planner = talk.session.scheduler
    assert isinstance(planner, Planner)
    late = [started - planned for planned, started in planner.starts]
    assert any(lateness > 0 for lateness in late)
    assert max(late) < 1.0
    assert not planner.plans


@pytest.mark.parametrize("order", ["call first", "end first", "one message"])
def test_a_call_and_an_end_of_one_instant_come_in_any_order(order: str) -> None:
    """For t=10 at 10.000015, and 10.00009: the job that was planned for then starts with the second of them."""
    session = Session(Planner)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(4))))
    session.answer(message(0, *(("JOB_SUBMITTED", submitted_data(name, 4, 10)) for name in ("a", "b"))))
    call = ("REQUESTED_CALL", dict[str, Any]())
    end = ("JOB_COMPLETED", completed_data("a", "0-3"))
    requests = {
        "call first": [message(10.000015, call), message(10.00009, end)],
        "end first": [message(10.000015, end), message(10.00009, call)],
        "one message": [message(10.000015, call, end)],
    }
    replies = []
    for request in requests[order]:
        replies.append(session.answer(request))
        session.check()
    started = [b"EXECUTE_JOB" in reply for reply in replies]
    assert started == {"call first": [False, True], "end first": [True, False], "one message": [True]}[order]


def test_a_call_that_comes_a_hair_early_on_the_wire_is_done() -> None:
    """Batsim rounds to microseconds: the call for a third of a second comes at 0.333333."""
    session = Session(Planner)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(4))))
    session.plan.begin(0.0)
    session.plan.wake_at(1 / 3)
    session.answer(message(0.333333, ("REQUESTED_CALL", {})))
    assert session.view.wakeups == []
    assert session.view.due(1 / 3)


@pytest.mark.parametrize(
    ("name", "options"), [("easy_plus_plus", {}), ("energy_budget", {"energy": "70000", "period": "100"})]
)
def test_an_algorithm_acts_at_a_call_that_comes_a_hair_early(name: str, options: dict[str, str]) -> None:
    """It does not ask to be called again 10 ms later, the soonest that there is."""
    specs = [(7.0 * n, 1 + n % 4, 20.0 + 5 * (n % 7) + n / 3e6, 90.0) for n in range(60)]
    _, talk = run(name, options, specs)
    assert talk.told("REQUESTED_CALL")
    again = [data["timestamp"] for now, _, data in talk.said("CALL_ME_LATER") if data["timestamp"] - now < 0.02]
    assert again == []


@pytest.mark.parametrize(("time", "due"), [(4.9, True), (5.0, True), (5.0005, True), (5.0011, False), (6.0, False)])
def test_an_instant_is_due_a_little_before_it_has_come(time: float, due: bool) -> None:
    """One millisecond, or what the caller says."""
    session = Session(Planner)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(4))))
    session.answer(message(5.0))
    assert session.view.due(time) is due
    assert session.view.due(time, tolerance=2.0)


@pytest.mark.parametrize("latency", [False, True])
@pytest.mark.parametrize("protocol", ["v4", "v5"])
def test_jobs_that_arrive_together_are_served_alike_with_and_without_latency(protocol: str, latency: bool) -> None:
    """The third has waited longest for its walltime, if a message takes 0.2 ms."""
    jobs = workload(
        job("1", "d50", at=5, walltime=900),
        job("2", "d50", at=5, walltime=600),
        job("3", "d50", at=5, walltime=60),
        profiles={"d50": {"type": "delay", "delay": 50}},
    )
    settings = Settings(protocol=protocol, message_latency=latency)
    run = simulate(ROOT / "platforms" / "cluster32.xml", jobs, "priority", {"order": "wfp3"}, settings=settings)
    starts = {record.job.id: record.start for record in run.result.jobs}
    assert sorted(starts, key=lambda job_id: (starts[job_id], job_id)) == ["w0!1", "w0!2", "w0!3"]


TOLD = "waits: messages take no time here and up to 0.2 ms in Batsim, which may decide between waits"


@pytest.mark.parametrize(
    ("options", "platform", "settings", "expected"),
    [
        ({"order": "wfp3"}, "cluster32.xml", Settings(), [f"{TOLD} (--message-latency)"]),
        ({"backfill_order": "unicep"}, "cluster32.xml", Settings(protocol="v1.4"), [TOLD]),
        ({"order": "wfp3"}, "cluster32.xml", LATE, []),
        ({"order": "sjf"}, "cluster32.xml", Settings(), []),
        ({"order": "wfp3"}, "tiny4.xml", Settings(), []),
    ],
)
def test_a_run_says_if_it_depends_on_latency(
    options: dict[str, Any], platform: str, settings: Settings, expected: list[str]
) -> None:
    """It does if waits decide and messages would take time."""
    run = simulate(ROOT / "platforms" / platform, workload(job("1", walltime=20)), "easy", options, settings=settings)
    assert [line for line in run.result.approximations if "waits" in line] == expected

"""The bench: what is told, what is decided, what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from batsched_py.api import Event as Told
from batsched_py.api import FromJobMessage, HostSet, Job, JobKilled, NoOptions, Plan, Scheduler, View
from batsched_py.errors import AlgorithmError, BenchError
from batsched_py.testing import Bench
from tests.recorded_run import Decide, algorithm, in_order


def saying(decide: Decide, **attributes: Any) -> type[Scheduler[NoOptions]]:
    """An algorithm that is one function, with class attributes."""
    return type("Saying", (algorithm(decide),), attributes)


def test_a_job_is_submitted_and_started() -> None:
    """In a line each."""
    bench = Bench("easy", hosts=8)
    job = bench.submit(size=4, walltime=100)
    plan = bench.decide()
    assert plan.started == {job: HostSet.range(4)}
    assert bench.running == {job: HostSet.range(4)}
    assert (plan.rejected, plan.killed, plan.calls, plan.pstates, plan.holds) == ({}, [], [], {}, {})


def test_what_runs_was_never_asked() -> None:
    """A state with running jobs, on hosts of one's choice or the lowest; the plan holds and promises."""
    bench = Bench("easy", hosts=8)
    first = bench.run(size=2, walltime=50)
    second = bench.run("long", hosts="4-6", walltime=90)
    large, small = bench.submit(size=6, walltime=10), bench.submit(size=1, walltime=40)
    plan = bench.decide()
    assert (first, second) == ("w0!1", "w0!long")
    assert bench.running == {first: HostSet.parse("0-1"), second: HostSet.parse("4-6"), small: HostSet.of(2)}
    assert plan.promises == {large: 90.0}
    assert plan.holds == {large: "needs 6 hosts, 3 are free"} or large in plan.holds
    assert plan.started == {small: HostSet.of(2)}


def test_time_passes_and_jobs_end_early() -> None:
    """`at` moves the clock, `end` notes an end, and who waited starts."""
    bench = Bench("fcfs", hosts=2)
    running = bench.run(size=2, walltime=50)
    waiting = bench.submit(size=1)
    assert bench.decide().started == {}
    bench.at(7.5).end("1")
    plan = bench.decide()
    assert plan.now == 7.5
    assert plan.started == {waiting: HostSet.of(0)}
    assert running not in bench.running


def test_rejections_come_with_their_reasons() -> None:
    """Also those that the algorithm never saw."""
    bench = Bench("easy", hosts=2)
    large, endless = bench.submit(size=3, walltime=1), bench.submit(size=1)
    plan = bench.decide()
    assert set(plan.rejected) == {large, endless}
    assert "3 hosts" in plan.rejected[large]
    assert "walltime" in plan.rejected[endless]


def test_hosts_fail_and_come_back() -> None:
    """Nothing starts there in between."""
    bench = Bench("fcfs", hosts=4)
    bench.fail("0-2")
    job = bench.submit(size=2)
    assert bench.decide().started == {}
    bench.at(5).repair(HostSet.of(1))
    assert bench.decide().started == {job: HostSet.parse("1 3")}


def test_calls_come_when_they_were_asked_for() -> None:
    """`call` lets time pass until then."""
    bench = Bench(saying(lambda view, plan: plan.wake_at(view.now + 10) if view.now < 15 else None), hosts=1)
    assert bench.opening.calls == [10.0]
    assert bench.call().decide().calls == [20.0]
    assert bench.now == 10.0
    assert bench.call().decide().calls == []
    with pytest.raises(BenchError, match="call: none was asked for"):
        bench.call()


def test_kills_are_asked_for_and_done() -> None:
    """A job that ended before its kill was not killed."""

    def kill_all(view: View, plan: Plan) -> None:
        plan.kill([run.job for run in view.running])

    bench = Bench(saying(kill_all), hosts=4)
    jobs = [bench.run(), bench.run()]
    assert bench.decide().killed == jobs
    bench.end(jobs[0])
    bench.finish_kills()
    assert bench.decide().killed == []
    assert not bench.running
    assert bench.view.free == HostSet.range(4)
    with pytest.raises(BenchError, match="finish kills: nothing was killed"):
        bench.finish_kills()


def test_hosts_sleep_and_are_woken() -> None:
    """Brought about without the algorithm, or asked for by it; either way they take no job until it is done."""

    def wake(view: View, plan: Plan) -> None:
        in_order(view, plan)
        asleep = view.asleep - view.switching
        if view.queue.first() is not None and asleep:
            plan.set_pstate(asleep, 0)

    bench = Bench(saying(wake), hosts=2, energy=True)
    bench.sleep("0-1")
    job = bench.submit(size=2)
    plan = bench.decide()
    assert (plan.started, plan.pstates) == ({}, {0: 0, 1: 0})
    bench.at(20).finish_switches("0-1")
    assert bench.decide().started == {job: HostSet.range(2)}
    with pytest.raises(BenchError, match="no change of pstate"):
        bench.finish_switches()


@pytest.mark.parametrize("acknowledge", [False, True])
def test_an_algorithm_submits_jobs(acknowledge: bool) -> None:
    """They are among the values of the plan; what Batsim sends back is told like any event."""

    def own(view: View, plan: Plan) -> None:
        if view.registration_open:
            plan.submit(Job.create("own!1", size=1, profile="short"), {"type": "delay", "delay": 5})
            plan.finish_registration()
        in_order(view, plan)

    bench = Bench(saying(own, needs_dynamic_jobs=True), hosts=1, acknowledge=acknowledge)
    assert list(bench.opening.submitted) == ["own!1"]
    assert bench.opening.started == ({} if acknowledge else {"own!1": HostSet.of(0)})


def test_any_other_event_can_be_told() -> None:
    """As it stands in the protocol."""
    heard: list[Told] = []
    bench = Bench(saying(lambda view, plan: None, observe=lambda self, event, view: heard.append(event)), hosts=1)
    job = bench.run()
    bench.add_event(FromJobMessage(0.0, job, {"what": "more"}))
    bench.decide()
    assert isinstance(heard[-1], FromJobMessage)
    assert not any(isinstance(event, JobKilled) for event in heard)


def test_jobs_have_members_and_profiles_of_their_own() -> None:
    """A bench has all that the author of a workload may write."""
    bench = Bench("fcfs", hosts=1)
    bench.run()
    job = bench.submit(profile={"type": "delay", "delay": 3}, lease={"start": 10})
    bench.decide()
    waiting = bench.view.job(job)
    assert waiting is not None
    assert waiting.extra == {"lease": {"start": 10}}
    profile = bench.view.profile(waiting)
    assert profile is not None
    assert profile.members == {"type": "delay", "delay": 3}


def test_an_impossible_plan_is_an_error_with_the_story() -> None:
    """The session checks each decision."""

    def crowd(view: View, plan: Plan) -> None:
        for job in view.queue:
            plan.start(job, HostSet.of(0))

    bench = Bench(saying(crowd), hosts=2)
    bench.submit()
    bench.submit()
    with pytest.raises(AlgorithmError, match=r"start w0!2 on 0: 0 running a job \(test_bench.py"):
        bench.decide()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda bench: bench.end("9"), "end w0!9: it does not run; there run: w0!1"),
        (lambda bench: bench.end("1", "REJECTED"), "end w0!1: must be COMPLETED_FAILED, .*, not 'REJECTED'"),
        (lambda bench: bench.at(-1), "at -1: time does not go back, it is 0.0"),
        (lambda bench: bench.fail("a-b"), "hosts 'a-b': 'a-b' is not a host number or an interval"),
        (lambda bench: bench.sleep("1"), "sleep 1: hosts have no power states; make the bench with energy=True"),
        (lambda bench: bench.run(size=3), "run w0!2: it needs 3 hosts, 1 is free"),
        (lambda bench: bench.run(hosts="0"), "start w0!2 on 0: 0 running a job"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(wrong: Any, words: str) -> None:
    """With the job or the hosts, and the rule."""
    bench = Bench("fcfs", hosts=2)
    bench.run()
    with pytest.raises(BenchError, match=f"^{words}") as caught:
        wrong(bench)
    assert len(str(caught.value).splitlines()) == 1


def test_the_bench_needs_neither_pytest_nor_hypothesis() -> None:
    """The contract suite without them names the extra that has them."""
    program = """
import sys
sys.modules["hypothesis"] = None
from batsched_py.testing import Bench
bench = Bench("fcfs")
job = bench.submit(size=8)
assert list(bench.decide().started) == [job]
assert "pytest" not in sys.modules
from batsched_py.testing import ContractTests
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()[-1]
    assert said.startswith(
        "ImportError: the contract tests need pytest and hypothesis: pip install '.[testing]' in a clone"
    )

"""An algorithm that tries everything: the referee refuses nothing that the Plan lets pass."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.api import Event, HostSet, Job, JobKilled, NoOptions, Plan, Scheduler, View
from batsched_py.errors import DeadlockError, PlanError
from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.session.clock import DecisionClock
from batsched_py.traces.simgrid_xml import read_platform
from tests.recorded_run import RecordedRun, in_order
from tests.unit.simulator.scenario import DELAYS, SLEEPER, SLEEPER_SPEEDS, job, workload

HOSTS = 4
#: Hosts that sleep, half a millisecond and more from their master.
NETWORK = """<?xml version='1.0'?>
<platform version="4.1">
  <zone id="world" routing="Full">
    <host id="master_host" speed="1Gf"/><link id="loop" bandwidth="1e12" latency="500us"/>
    %s
    <route src="master_host" dst="master_host"><link_ctn id="loop"/></route>
    %s
  </zone>
</platform>
"""
HOST = """<host id="h%(n)d" speed="%(speeds)s">%(properties)s</host>
    <link id="l%(n)d" bandwidth="1e12" latency="%(n)d.5ms"/>"""
ROUTE = """<route src="master_host" dst="h%(n)d"><link_ctn id="l%(n)d"/></route>"""
#: The jobs' profiles in turn: one is composed of a profile that other jobs name, one of a profile that none does.
NAMES = ["d5", "part", "twice", "rest", "twice", "part"]
JOBS = workload(
    *(job(str(n), NAMES[n % 6], at=n // 2 * 3, res=1 + n % 3, walltime=11) for n in range(12)),
    profiles={
        **DELAYS,
        "part": {"type": "delay", "delay": 4},
        "twice": {"type": "composed", "seq": ["part", "part"], "repeat": 1},
        "pause": {"type": "delay", "delay": 3},
        "rest": {"type": "composed", "seq": ["pause", "pause"], "repeat": 2},
    },
)
PROFILES: list[Any] = [
    None,
    None,
    None,
    {"type": "delay", "delay": 3},
    {"type": "delay", "delay": 3},
    {"type": "delay", "delay": 0},
    {"type": "composed", "seq": ["p0", "p1"]},
    {"type": "parallel", "cpu": [1e9, 1e9]},
    {"type": "parallel_homogeneous", "cpu": 2e9, "com": 0},
    {"type": "nap"},
]
STATES = ["RUNNING", "REJECTED", "COMPLETED_SUCCESSFULLY", "COMPLETED_KILLED", "COMPLETED_FAILED"]
#: Decisions after which it becomes sensible.
WILD = 70


class Wild(Scheduler[NoOptions]):
    """Tries everything with anything, and takes no for an answer; in the end it brings the run to its end."""

    name = "wild"
    needs_dynamic_jobs = True
    random = Random(0)
    is_v14 = False

    def setup(self, view: View) -> None:
        self.decisions = 0
        self.refused: list[str] = []
        #: Kinds of verbs that were let pass.
        self.passed: list[str] = []
        #: Profiles of the jobs that were killed while they ran.
        self.killed: set[str] = set()
        self.jobs: list[Job] = [Job.create("dyn!0", size=1, profile="p0")]

    def decide(self, view: View, plan: Plan) -> None:
        self.decisions += 1
        self.jobs += view.arrived
        if self.decisions > WILD:
            self.sensible(view, plan)
            return
        for _ in range(self.random.randrange(8)):
            verb = self.random.choice(VERBS)
            try:
                verb(self, view, plan)
            except PlanError as error:
                self.refused.append(str(error))
            else:
                self.passed.append(verb.__name__)
        if not view.wakeups:
            plan.wake_at(view.now + 1)

    def observe(self, event: Event, view: View) -> None:
        """Check that the remaining work of each killed job is known: Batsim 4 reports its profiles."""
        if isinstance(event, JobKilled):
            for job_id, progress in event.progress.items():
                self.killed.add(progress.profile)
                assert self.is_v14 or view.remainder(job_id, progress) is not None, progress

    def sensible(self, view: View, plan: Plan) -> None:
        asleep = view.asleep - view.switching
        if asleep:
            plan.set_pstate(asleep, 0)
        in_order(view, plan)
        if view.registration_open:
            plan.finish_registration()

    def some_job(self, view: View) -> Job:
        """Mostly one that waits or runs."""
        alive: list[Job] = [*view.queue, *(run.job for run in view.running)]
        return self.random.choice(alive if alive and self.random.random() < 0.8 else self.jobs)

    def some_hosts(self, size: int) -> HostSet:
        """Mostly as many as needed, sometimes one that does not exist."""
        count = size if self.random.random() < 0.8 else self.random.randrange(HOSTS)
        return HostSet.of(*self.random.sample(range(HOSTS + (self.random.random() < 0.1)), min(count, HOSTS)))

    def start(self, view: View, plan: Plan) -> None:
        new = self.some_job(view)
        mapping = {n: self.random.randrange(2) for n in range(new.size)} if self.random.random() < 0.2 else None
        plan.start(new, self.some_hosts(new.size), mapping)

    def kill(self, view: View, plan: Plan) -> None:
        plan.kill([self.some_job(view) for _ in range(self.random.randrange(3))])

    def reject(self, view: View, plan: Plan) -> None:
        if self.random.random() < 0.3:
            plan.reject(self.some_job(view), "a whim")

    def wake(self, view: View, plan: Plan) -> None:
        plan.wake_at(view.now + self.random.choice([-1, 0, 1e-9, 1e-5, 0.5, 3]))

    def switch(self, view: View, plan: Plan) -> None:
        plan.set_pstate(self.some_hosts(1), self.random.choice([0, 1, 2, 2, 2, 3, 5]))

    def ask(self, view: View, plan: Plan) -> None:
        plan.ask_energy()

    def submit(self, view: View, plan: Plan) -> None:
        new = Job.create(
            f"{self.random.choice(['dyn', 'dyn', 'w0'])}!{self.random.randrange(100, 300)}",
            size=self.random.choice([1, 1, 1, 2, 2, 3, 0, HOSTS + 1]),
            profile=self.random.choice(["p0", "p1", "d5", "part", "twice", "pause", f"p{self.random.randrange(99)}"]),
            walltime=self.random.choice([None, None, 3, 20, 0, 1e12]),
        )
        plan.submit(new, self.random.choice(PROFILES))
        self.jobs.append(new)

    def register(self, view: View, plan: Plan) -> None:
        name = f"p{self.random.randrange(4)}"
        plan.register_profile(self.random.choice(["dyn", "w0"]), name, self.random.choice(PROFILES))

    def finish(self, view: View, plan: Plan) -> None:
        if self.random.random() < 0.2:
            plan.finish_registration()

    def go_on(self, view: View, plan: Plan) -> None:
        plan.continue_registration()

    def note(self, view: View, plan: Plan) -> None:
        plan.set_metadata(self.some_job(view), self.random.choice(["note", 'a "note"', "two\nlines"]))

    def tell(self, view: View, plan: Plan) -> None:
        plan.message(self.some_job(view), "hello")

    def change(self, view: View, plan: Plan) -> None:
        plan.change_state(self.some_job(view), self.random.choice(STATES))


VERBS: list[Any] = [
    *([Wild.start] * 4),
    *(Wild.kill, Wild.reject, Wild.wake, Wild.switch, Wild.ask, Wild.submit, Wild.submit, Wild.register),
    *(Wild.finish, Wild.go_on, Wild.note, Wild.tell, Wild.change),
]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    speeds = ",".join(f"{speed}f" for speed in SLEEPER_SPEEDS)
    properties = "".join(f'<prop id="{name}" value="{value}"/>' for name, value in SLEEPER.items())
    hosts = "\n    ".join(HOST % {"n": n, "speeds": speeds, "properties": properties} for n in range(HOSTS))
    path = tmp_path_factory.mktemp("platform") / "network.xml"
    routes = "\n    ".join(ROUTE % {"n": n} for n in range(HOSTS))
    path.write_text(NETWORK % (hosts, routes))
    return read_platform(path)


def play(machine: Platform, seed: int, thinking: float, told: Settings) -> Wild:
    """Run a conversation, in which the referee must not refuse anything, and return the algorithm."""
    chosen = Random(seed)

    class Seeded(Wild):
        random = chosen
        is_v14 = told.protocol == "v1.4"

    talk = RecordedRun(Seeded, clock=DecisionClock(fixed=thinking))
    try:
        talk.run([JOBS], told, on=machine)
    except DeadlockError as error:
        assert "by CHANGE_JOB_STATE and never ends" in str(error)  # noqa: PT017  (it may end well, too)
    wild = talk.session.scheduler
    assert isinstance(wild, Wild)
    assert wild.passed
    return wild


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    thinking=st.sampled_from([0.0, 0.0, 0.7]),
    told=st.builds(
        Settings,
        energy=st.just(True),
        dynamic_jobs=st.just(True),
        acknowledge_dynamic_jobs=st.booleans(),
        profile_reuse=st.booleans(),
        compute_sharing=st.booleans(),
        message_latency=st.booleans(),
        protocol=st.just("v4"),
    ),
)
def test_what_the_plan_lets_pass_batsim_4_does_not_refuse(
    machine: Platform, seed: int, thinking: float, told: Settings
) -> None:
    """The books are right after each message, whatever was refused in between."""
    play(machine, seed, thinking, told)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32), thinking=st.sampled_from([0.0, 0.7]), acknowledge=st.booleans())
def test_what_the_plan_lets_pass_batsim_1_does_not_refuse(
    machine: Platform, seed: int, thinking: float, acknowledge: bool
) -> None:
    """The same in v1.4, where control jobs have an end."""
    told = Settings(energy=True, dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledge, protocol="v1.4")
    play(machine, seed, thinking, told)


@pytest.mark.parametrize("protocol", ["v4", "v1.4"])
def test_the_wild_algorithm_tries_everything(machine: Platform, protocol: str) -> None:
    """Each verb is let pass at least once, and refused for many reasons: else the tests above show little."""
    told = Settings(energy=True, dynamic_jobs=True, acknowledge_dynamic_jobs=True, protocol=protocol)
    passed: set[str] = set()
    refused: set[str] = set()
    killed: set[str] = set()
    for seed in range(20):
        wild = play(machine, seed, 0.0, told)
        passed.update(wild.passed)
        killed.update(wild.killed)
        refused.update(error.partition(":")[2].split(",")[0] for error in wild.refused)
    missing = {verb.__name__ for verb in VERBS} - passed
    assert missing == (set() if protocol == "v4" else {"note"})
    assert len(refused) > 30
    assert {"twice", "part", "rest"} <= killed

"""Commands on which real Batsim aborts: the simulator refuses them for the same reason, and no reply has them.

The mistakes are in tests/refusals.py; docs/protocol.md has a line for each of them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
import zmq

from batsched_py.api import HostSet, Job, NoOptions, Plan, Scheduler, View
from batsched_py.errors import (
    AlgorithmError,
    DeadlockError,
    LocalProtocolError,
    PlanError,
    RefusedError,
    RemoteProtocolError,
    TransportError,
)
from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.protocol import commands
from batsched_py.protocol.commands import CallMeLater
from batsched_py.protocol.conversation import DecisionSide, Turn
from batsched_py.results.records import Result
from batsched_py.simulator.simulation import Simulation
from batsched_py.transport.zmq_req import ReqSocket
from tests.builders import begins_data, message
from tests.recorded_run import RecordedRun
from tests.refusals import DELAY, JOBS, LAST, MISTAKES, Mistake, Verb, known
from tests.unit.simulator import scenario
from tests.unit.simulator.scenario import SLEEPER, SLEEPER_SPEEDS, Command, Script, call, platform, workload

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"
ONE = workload(scenario.job("a", at=1))
#: Where the jobs of JOBS run if nothing else was said of them.
PLACES = {"w0!a": "0", "w0!b": "1-2", "w0!late": "3"}


def cases(mistakes: Sequence[Mistake]) -> list[Any]:
    return [pytest.param(mistake, id=f"{mistake.row.split()[0].strip('`;')}: {mistake.name}") for mistake in mistakes]


ABORTS = [mistake for mistake in MISTAKES if mistake.rule is not None]
ACCEPTED = [mistake for mistake in MISTAKES if mistake.rule is None]


class Mistaken:
    """A decision process that makes one mistake, and after it starts whatever waits."""

    def __init__(self, mistake: Mistake) -> None:
        self.mistake, self.script = mistake, dict(mistake.before)
        self.heard: list[Any] = []
        self.made = False
        #: Jobs that were submitted and not spoken of.
        self.waiting: list[str] = []

    def __call__(self, request: bytes) -> bytes:
        heard = orjson.loads(request)
        self.heard.append(heard)
        now = heard["now"]
        self.waiting += [event["data"]["job_id"] for event in heard["events"] if event["type"] == "JOB_SUBMITTED"]
        if now == self.mistake.at and not self.made:
            self.made = True
            return self._spoken(self.raw(now))
        commands = list(self.script.pop(now, ()))
        if self.made:
            commands += [("EXECUTE_JOB", {"job_id": name, "alloc": PLACES[name]}) for name in self.waiting]
        return self._spoken(written(now, commands))

    def raw(self, now: float) -> bytes:
        """The reply with the mistake."""
        said = self.mistake.said
        if isinstance(said, bytes):
            return said
        return written(now if self.mistake.now is None else self.mistake.now, said, now)

    def _spoken(self, reply: bytes) -> bytes:
        self.waiting = [name for name in self.waiting if f'"{name}"'.encode() not in reply]
        return reply


def written(now: float, commands: Sequence[Command], stamp: float | None = None) -> bytes:
    """A reply; commands without a timestamp have `stamp`, or else `now`."""
    default = now if stamp is None else min(stamp, now)
    events = [
        {"timestamp": command[2] if len(command) > 2 else default, "type": command[0], "data": command[1]}
        for command in commands
    ]
    return orjson.dumps({"now": now, "events": events})


def machine(settings: Settings) -> Platform:
    """Four hosts, which describe their power if it is counted."""
    return platform(4, SLEEPER_SPEEDS, **SLEEPER) if settings.energy else platform(4)


def simulate(mistake: Mistake) -> tuple[Result, Mistaken]:
    peer = Mistaken(mistake)
    return Simulation(machine(mistake.settings), [JOBS], mistake.settings).run(peer), peer


@pytest.mark.parametrize("mistake", cases(ABORTS))
def test_the_simulator_refuses_what_batsim_aborts_on(mistake: Mistake) -> None:
    """In one line with the instant, the place in the reply and the rule."""
    with pytest.raises((RefusedError, RemoteProtocolError)) as caught:
        simulate(mistake)
    said = str(caught.value)
    assert mistake.rule is not None
    assert mistake.rule in said
    assert f"t={mistake.at:.6f}" in said
    assert "\n" not in said


@pytest.mark.parametrize("mistake", cases(ACCEPTED))
def test_the_simulator_accepts_what_batsim_accepts(mistake: Mistake) -> None:
    """The run goes on, and ends with all jobs in its records."""
    result, peer = simulate(mistake)
    assert sorted(record.job.id for record in result.jobs) == sorted(PLACES)
    assert peer.heard[-1]["events"][0]["type"] == "SIMULATION_ENDS"


def test_what_happens_until_a_late_reply_comes_with_the_next_message() -> None:
    """Batsim sleeps until the reply's `now`; jobs end and come meanwhile."""
    (late,) = [mistake for mistake in MISTAKES if mistake.name == "1000 s later"]
    _, peer = simulate(late)
    after = next(heard for heard in peer.heard if heard["now"] > 1)
    assert after["now"] == 1001.0
    told = [(event["timestamp"], event["type"]) for event in after["events"]]
    assert told == [
        (11.0, "JOB_COMPLETED"),
        (50.0, "JOB_SUBMITTED"),
        (50.0, "NOTIFY"),
    ]


def doer(verbs: Mapping[float, Verb], *, dynamic: bool) -> type[Scheduler[NoOptions]]:
    """An algorithm that calls these verbs at these instants."""
    left = dict(verbs)

    class Doer(Scheduler[NoOptions]):
        name = "doer"
        needs_dynamic_jobs = dynamic

        def decide(self, view: View, plan: Plan) -> None:
            verb = left.pop(view.now, None)
            if verb is not None:
                verb(view, plan)

    return Doer


@pytest.mark.parametrize("mistake", cases([mistake for mistake in ABORTS if mistake.verbs is not None]))
def test_the_plan_refuses_what_batsim_aborts_on(mistake: Mistake) -> None:
    """At the call, so that the session sends nothing: the story names the algorithm's line."""
    assert mistake.verbs is not None
    recorded = RecordedRun(doer(mistake.verbs, dynamic=mistake.settings.dynamic_jobs))
    with pytest.raises(AlgorithmError) as caught:
        recorded.run([JOBS], mistake.settings, machine(mistake.settings))
    assert isinstance(caught.value.__cause__, PlanError)
    assert mistake.told in str(caught.value)
    assert "refusals.py" in str(caught.value) or "test_what_batsim_refuses.py" in str(caught.value)
    assert recorded.session.now == mistake.at


@pytest.mark.parametrize("mistake", cases([mistake for mistake in ABORTS if mistake.written is not None]))
def test_the_protocol_writes_no_command_that_batsim_aborts_on(mistake: Mistake) -> None:
    """It refuses the command whatever made it, and sends nothing."""
    side = DecisionSide()
    side.receive(message(0, ("SIMULATION_BEGINS", begins_data())))
    side.reply(0.0, ())
    side.receive(message(1.0))
    assert mistake.written is not None
    with pytest.raises(LocalProtocolError):
        side.reply(1.0, [cast(commands.Command, mistake.written)])
    assert side.turn is Turn.DECIDING


class Everything(Scheduler[NoOptions]):
    """Uses each verb of the Plan that works in Batsim 4."""

    name = "everything"
    needs_dynamic_jobs = needs_energy = True

    def setup(self, view: View) -> None:
        self.steps = 0

    def decide(self, view: View, plan: Plan) -> None:
        self.steps += 1
        if self.steps == 1:
            plan.submit(Job.create("dyn!1", size=2, profile="p"), DELAY)
            plan.submit(Job.create("dyn!2", size=2, profile="p", walltime=4))
            plan.ask_energy()
            plan.wake_at(5.0)
        if view.now >= 50.0 and view.registration_open:
            plan.finish_registration()
            plan.continue_registration()
            plan.finish_registration()
            plan.reject(known(view, "late"), "enough")
        for job in view.queue:
            hosts = HostSet.of(0) if job.id == "w0!b" else plan.free.first(job.size)
            if hosts is not None and hosts <= plan.free:
                plan.set_metadata(job, f"number {self.steps}")
                plan.start(job, hosts, {0: 0, 1: 0} if job.id == "w0!b" else None)
                plan.message(job, "hello")
        if view.now == 5.0 and view.running:
            plan.kill([run.job for run in view.running][:1])
            idle = plan.free
            if idle:
                plan.set_pstate(idle, 1)


def test_what_no_verb_can_say_is_in_no_reply() -> None:
    """If no verb refuses the mistake, none can make it: it is in the wrong reply and in no reply of an algorithm."""
    settings = Settings(energy=True, dynamic_jobs=True, acknowledge_dynamic_jobs=True)
    recorded = RecordedRun(Everything)
    recorded.run([JOBS], settings, machine(settings))
    kinds = {kind for _, kind, _ in recorded.said()}
    assert len(kinds) == 11, kinds
    for mistake in ABORTS:
        if mistake.sent is not None:
            assert mistake.sent(Mistaken(mistake).raw(mistake.at)), mistake.name
            assert not any(mistake.sent(reply) for _, reply in recorded.exchanges), mistake.name


@pytest.mark.parametrize("mistake", cases(ABORTS))
def test_nothing_that_batsim_aborts_on_is_left_unguarded(mistake: Mistake) -> None:
    """A verb refuses it, or no verb can say it; and the documentation tells."""
    assert (mistake.verbs is None) != (mistake.sent is None)
    assert any(line.startswith(f"| {mistake.row} |") for line in PAGE.read_text().splitlines())


class Restless(Scheduler[NoOptions]):
    """Always wants to be called again, while something is left to do; starts what waits."""

    name = "restless"

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            plan.start(job, plan.free.first(job.size) or HostSet())
        if not view.all_submitted:
            plan.wake_at(view.now + 10)


def test_the_reply_to_the_end_is_empty() -> None:
    """CALL_ME_LATER there makes Batsim abort: the simulator refuses it, the session asks nobody, the writer refuses."""

    def exchange(request: bytes) -> bytes:
        now = orjson.loads(request)["now"]
        ends = b"SIMULATION_ENDS" in request
        return script(request) if not ends else written(now, [call(now + 10)])

    script = Script({1.0: [("REJECT_JOB", {"job_id": "w0!a"})]})
    with pytest.raises(
        RemoteProtocolError, match=r"events: must be empty in the reply to SIMULATION_ENDS \(t=1.000000\)"
    ):
        Simulation(platform(4), [ONE]).run(exchange)

    recorded = RecordedRun(Restless)
    recorded.run([JOBS])
    assert recorded.replies[-1]["events"] == []
    assert recorded.session.over

    side = DecisionSide()
    side.receive(message(0, ("SIMULATION_BEGINS", begins_data())))
    side.reply(0.0, ())
    side.receive(message(1, ("SIMULATION_ENDS", {})))
    with pytest.raises(LocalProtocolError, match="must be empty in the reply to SIMULATION_ENDS"):
        side.reply(1.0, [CallMeLater(1.0, 2.0)])
    assert any(line.startswith(f"| {LAST} |") for line in PAGE.read_text().splitlines())


@pytest.mark.parametrize(
    ("script", "settings", "story"),
    [
        (
            {1.0: [("REJECT_JOB", {"job_id": "w0!a"})]},
            Settings(dynamic_jobs=True),
            "t=1.000000: nothing will ever happen again, yet registration was never finished; 4 of 4 hosts are free",
        ),
        (
            {},
            Settings(),
            "t=1.000000: nothing will ever happen again, yet 1 job waits for a decision (w0!a of 1 host);",
        ),
    ],
    ids=["registration is never finished", "a job never runs"],
)
def test_a_standstill_is_an_error_with_a_story(
    script: dict[float, list[Command]], settings: Settings, story: str
) -> None:
    """Real Batsim says so in its log only, and its exit code is 0."""
    with pytest.raises(DeadlockError, match=re.escape(story)) as caught:
        Simulation(platform(4), [ONE], settings).run(Script(script))
    assert caught.value.exit_code == 3


def test_a_decision_process_that_dies_ends_the_run() -> None:
    """Real Batsim waits for ever: over a socket, the connection's end is an error. (As processes: test_simulate.py.)"""
    ready = threading.Event()
    address = []

    def die_at_the_second_request() -> None:
        with zmq.Context() as context, context.socket(zmq.REP) as socket:
            socket.linger = 0
            socket.bind("tcp://127.0.0.1:*")
            address.append(socket.get_string(zmq.LAST_ENDPOINT))
            ready.set()
            socket.recv()
            socket.send(written(0.0, ()))
            socket.recv()

    victim = threading.Thread(target=die_at_the_second_request)
    victim.start()
    ready.wait()
    with ReqSocket(address[0], connect_timeout=600.0) as socket, pytest.raises(TransportError) as caught:
        Simulation(platform(4), [JOBS]).run(socket.exchange)
    victim.join()
    assert f"the decision process on {address[0]} closed the connection" in str(caught.value)

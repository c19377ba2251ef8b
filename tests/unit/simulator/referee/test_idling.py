"""Schedulers that only ask to be called again: told from those that wait for something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from batsched_py.errors import DeadlockError
from batsched_py.hostset import HostSet
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.settings import Settings
from batsched_py.protocol.codec import Message
from batsched_py.protocol.events import Answer, RequestedCall
from batsched_py.simulator.referee.idling import IdleGuard
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import DELAYS, Command, Fcfs, execute, job, platform, workload


class Poller:
    """Asks at each message to be called `period` seconds later, and does besides what another scheduler would."""

    def __init__(self, period: float, other: Callable[[bytes], bytes] | None = None, until: float = 1e9) -> None:
        self.period, self.other, self.until = period, other, until
        self.calls = 0

    def __call__(self, request: bytes) -> bytes:
        now = orjson.loads(request)["now"]
        reply: dict[str, Any] = {"now": now, "events": []}
        if self.other is not None:
            reply = orjson.loads(self.other(request))
        if b"SIMULATION_ENDS" not in request and now < self.until:
            self.calls += 1
            call = {"timestamp": now, "type": "CALL_ME_LATER", "data": {"timestamp": now + self.period}}
            reply["events"].insert(0, call)
        return orjson.dumps(reply)


def test_calls_after_the_last_job_end_the_run() -> None:
    """All jobs have ended, and yet the scheduler goes on asking."""
    poller = Poller(60, Fcfs(4))
    simulation = Simulation(platform(), [workload(job("a"), job("b", at=5))], Settings(max_calls=50))
    with pytest.raises(DeadlockError) as caught:
        simulation.run(poller)
    assert caught.value.why == (
        "t=785.000000: since t=60.000000 nothing has happened but 50 calls that were asked for, and nothing else ever"
        " will: all jobs have ended; 4 of 4 hosts are free; --max-calls N allows more calls"
    )
    assert [record.job.id for record in simulation.records] == ["w0!a", "w0!b"]


@pytest.mark.parametrize("latency", [False, True])
def test_calls_while_jobs_wait_in_vain_end_the_run(latency: bool) -> None:
    """No job was started, and none will be: what waits is named."""
    settings = Settings(max_calls=50, message_latency=latency)
    with pytest.raises(DeadlockError, match=r"1 job waits for a decision \(w0!a of 3 hosts\); 4 of 4 hosts are free"):
        Simulation(platform(), [workload(job("a", res=3))], settings).run(Poller(1))


def test_time_does_not_matter() -> None:
    """Calls at once, or as soon as possible, are calls, too."""
    poller = Poller(1e-6)
    with pytest.raises(DeadlockError, match=r"since t=0.* nothing has happened but 10000 calls"):
        Simulation(platform(), [workload(job("a"))]).run(poller)
    assert poller.calls < 10_100


@pytest.mark.parametrize(
    ("jobs", "events"),
    [
        ([job("a", "d1000")], ()),
        ([job("a"), job("b", at=900)], ()),
        ([job("a")], (ExternalEvent(900.0, "machine_unavailable", HostSet.of(3)),)),
    ],
    ids=["a job runs", "a job will come", "an event will come"],
)
def test_who_waits_for_something_may_poll(jobs: list[Any], events: tuple[ExternalEvent, ...]) -> None:
    """The run ends as it would without, and is warned of once."""
    told: list[str] = []
    work = workload(*jobs, profiles={**DELAYS, "d1000": {"type": "delay", "delay": 1000}})
    settings = Settings(max_calls=50, external_events=events)
    result = Simulation(platform(), [work], settings, warn=told.append).run(Poller(1, Fcfs(4), until=905))
    assert len(result.jobs) == len(jobs)
    assert result.messages > 900
    [line] = told
    assert "nothing has happened but 50 calls that were asked for: it is enough" in line


def test_who_measures_may_poll_without_a_warning() -> None:
    """Such as an algorithm that asks for the energy every other second, while a job runs."""
    told: list[str] = []
    events, reply = (Answer(0.0, {}),), Message(0.0, ())
    for seen in (events, (RequestedCall(0.0),)):
        guard = IdleGuard(3, is_due=lambda: True, describe=str, warn=told.append)
        for now in range(9):
            guard.note(float(now), seen, reply)
    assert len(told) == 1


def test_a_scheduler_that_does_something_is_not_idle() -> None:
    """However many calls: here it starts a job at every fortieth."""
    jobs = [job(f"j{number}") for number in range(10)]
    script = {400.0 * number: [execute(f"j{number}", "0")] for number in range(10)}

    def starting(request: bytes) -> bytes:
        now = orjson.loads(request)["now"]
        commands: list[Command] = script.pop(now, []) if now else []
        events = [{"timestamp": now, "type": kind, "data": data} for kind, data in commands]
        return orjson.dumps({"now": now, "events": events})

    script[400.0 * 10] = script.pop(0.0)
    result = Simulation(platform(), [workload(*jobs)], Settings(max_calls=50)).run(Poller(10, starting, until=4001))
    assert len(result.jobs) == 10


@pytest.mark.parametrize("most", [0, 5000])
def test_the_number_of_calls_can_be_set(most: int) -> None:
    """0 is no limit."""
    settings = Settings(max_calls=most)
    result = Simulation(platform(), [workload(job("a"))], settings).run(Poller(1, Fcfs(4), until=4000))
    assert result.messages > 4000

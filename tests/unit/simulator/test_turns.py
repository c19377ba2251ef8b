"""A simulation that is played turn by turn, led by its caller."""

from __future__ import annotations

import pytest

from batsched_py.errors import DeadlockError, OptionError
from batsched_py.model.settings import Settings
from batsched_py.results.records import Result
from batsched_py.schedulers.easy import Easy
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from tests.drawing import given_once
from tests.integration.variants import PLATFORM, SPECS, workload
from tests.unit.simulator.scenario import Script, job, platform
from tests.unit.simulator.scenario import workload as jobs


def lead(simulation: Simulation, session: Session) -> tuple[Result, list[bytes]]:
    """Play in turns, with the session in its two halves; return the requests, too."""
    turns, requests = simulation.turns(), list[bytes]()
    request = next(turns)
    while True:
        requests.append(request)
        session.receive(request)
        try:
            request = turns.send(session.reply())
        except StopIteration as end:
            return end.value, requests


@given_once(SPECS)
def test_turns_are_the_messages_of_a_run(specs: list[tuple[int, int, int, int]]) -> None:
    """The same requests, and the same records, as where the simulator leads."""
    heard: list[bytes] = []
    session = Session(Easy)

    def exchange(request: bytes) -> bytes:
        heard.append(request)
        return session.answer(request)

    ran = Simulation(PLATFORM, [workload(specs)]).run(exchange)
    led, requests = lead(Simulation(PLATFORM, [workload(specs)]), Session(Easy))
    assert requests == heard
    assert (led.jobs, led.messages, led.end, led.host_seconds) == (ran.jobs, ran.messages, ran.end, ran.host_seconds)


def test_a_deadlock_is_told_at_the_turn_after_the_last_event() -> None:
    """As by `run`."""
    turns, silent = Simulation(platform(), [jobs(job("a", at=1))]).turns(), Script({})
    request = next(turns)
    with pytest.raises(DeadlockError, match="a"):  # noqa: PT012
        for _ in range(3):
            request = turns.send(silent(request))


@pytest.mark.parametrize("settings", [Settings(message_latency=True), Settings(protocol="v1.4")])
def test_loops_that_cannot_be_left_are_refused(settings: Settings) -> None:
    """An error before anything is played."""
    with pytest.raises(OptionError, match="turn by turn"):
        next(Simulation(platform(), [jobs(job("a"))], settings).turns())

"""A link that goes round in circles is ended."""

from __future__ import annotations

import orjson
import pytest

from batsched_py.errors import DeadlockError
from batsched_py.model.settings import Settings
from batsched_py.protocol.events import Answer
from batsched_py.simulator.referee.livelock import LivelockGuard
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import SLEEPER, SLEEPER_SPEEDS, job, platform, workload


def test_a_scheduler_that_answers_each_answer_with_a_question_is_stopped() -> None:
    """Real Batsim would go on for ever."""

    def exchange(request: bytes) -> bytes:
        now = orjson.loads(request)["now"]
        question = {"timestamp": now, "type": "QUERY", "data": {"requests": {"consumed_energy": {}}}}
        return orjson.dumps({"now": now, "events": [question]})

    simulation = Simulation(platform(2, SLEEPER_SPEEDS, **SLEEPER), [workload(job("a", at=3))], Settings(energy=True))
    with pytest.raises(DeadlockError) as caught:
        simulation.run(exchange, most_in_vain=50)
    assert str(caught.value) == (
        "t=0.000000: 50 messages and no time has passed; the scheduler answers each with what is answered at once"
        " (the latest: Answer)"
    )


def test_messages_that_bring_a_job_on_are_not_in_vain() -> None:
    """Thousands of jobs may be registered, one a message, at one instant."""
    guard, events = LivelockGuard(most=3), (Answer(0.0, {}),)
    for ended in range(20):
        guard.note(events, ended, 1)
    for _ in range(3):
        guard.note(events, 20, 5)
    with pytest.raises(DeadlockError):
        guard.note(events, 20, 5)


def test_time_that_passes_ends_a_livelock() -> None:
    """Messages in vain are counted for each instant by itself."""
    guard, events = LivelockGuard(most=3), (Answer(0.0, {}),)
    for guard.instant in (1.0, 1.5, 2.0):
        for _ in range(3):
            guard.note(events, 0, 1)
    with pytest.raises(DeadlockError):
        guard.note(events, 0, 1)

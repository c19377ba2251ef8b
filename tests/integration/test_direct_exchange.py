"""Simulations whose messages are not written between simulator and session: the same runs as those of bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import BatschedError
from batsched_py.model.decision_row import DecisionRow
from batsched_py.plugins import load
from batsched_py.protocol.codec import Message, decode, encode
from batsched_py.protocol.dialects import DIALECTS
from batsched_py.results.records import Result
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.simulator.wire.scheduler_link import AnyExchange, DirectExchange
from batsched_py.testing import Case
from batsched_py.testing.edges import crowded, edges
from tests.integration.variants import EACH

#: Failures, bursts, jobs without walltimes, jobs that can never run; and long queues.
CASES = [case for case in (*edges(6), *crowded(6)) if case.peer in ("simulator", "messages")]


@dataclass
class Told:
    """The messages of a run, as bytes, and what came of it."""

    messages: list[bytes] = field(default_factory=list)
    result: Result | None = None
    error: str = ""
    rows: list[DecisionRow] = field(default_factory=list)
    rejections: dict[str, str] = field(default_factory=dict)
    unwritten: int = 0


#: Settings that add to messages, or let others in.
VARIATIONS: dict[str, dict[str, Any]] = {
    "profiles": {"forward_profiles": True},
    "sharing": {"compute_sharing": True},
    "events": {"forward_unknown_events": True, "dynamic_jobs": True, "acknowledge_dynamic_jobs": True},
}


def play(case: Case, name: str, options: dict[str, str], *, direct: bool, **others: Any) -> Told:
    """Run a case to its end, or to the error that ends it; each look at the clock takes a second."""
    told, ticks = Told(), count()
    settings = replace(case.settings(), **others)
    session = Session(load(name), options, log=told.rows.extend, features=settings.features)
    dialect = DIALECTS[case.protocol]

    def answer(request: bytes) -> bytes:
        told.messages.append(request)
        reply = session.answer(request)
        told.messages.append(reply)
        return reply

    def answer_unwritten(request: Message) -> bytes | Message:
        written = encode(request, dialect.events, dialect.name, keep_unknown=True)
        assert decode(written, dialect.events, keep_unknown=True) == request
        told.messages.append(written)
        told.unwritten += 1
        reply = session.answer_unwritten(request)
        if isinstance(reply, Message):
            written = encode(reply, dialect.commands, dialect.name, keep_unknown=False)
            assert decode(written, dialect.commands, keep_unknown=False) == reply
            told.messages.append(written)
        else:
            told.messages.append(reply)
        return reply

    simulation = Simulation(case.platform(), [case.workload()], settings)
    try:
        exchange: AnyExchange = DirectExchange(answer, answer_unwritten) if direct else answer
        told.result = simulation.run(exchange, clock=ticks.__next__)
    except BatschedError as error:
        told.error = f"{type(error).__name__}: {error}"
    told.rejections = dict(session.rejections)
    return told


def equal(case: Case, name: str, options: dict[str, str], **others: Any) -> int:
    """Require both runs to be the same; return the number of requests that stayed unwritten in one of them."""
    direct, written = (play(case, name, options, direct=way, **others) for way in (True, False))
    assert direct.messages == written.messages
    assert direct.result is None or direct.result.deciding_seconds >= direct.result.messages
    assert (direct.result, direct.error) == (written.result, written.error)
    assert (direct.rows, direct.rejections) == (written.rows, written.rejections)
    return direct.unwritten


@pytest.mark.parametrize(("name", "options"), EACH, ids=str)
def test_a_run_is_the_same_without_bytes(name: str, options: dict[str, str]) -> None:
    """The bytes that the messages would have are those of the other run, and so is what comes of it."""
    scheduler: Any = load(name)
    unwritten = 0
    for case in CASES:
        fitted = replace(case, energy=scheduler.needs_energy, dynamic=scheduler.needs_dynamic_jobs)
        unwritten += equal(fitted, name, options)
    assert unwritten or name == "crasher"  # which fails at once


@pytest.mark.parametrize("variation", VARIATIONS)
def test_a_run_with_other_messages_is_the_same_too(variation: str) -> None:
    """Messages with more in them are written."""
    assert sum(equal(case, "easy", {}, **VARIATIONS[variation]) for case in CASES) > 0


@pytest.mark.parametrize("protocol", ["v1.4", "v5"])
def test_a_run_in_another_dialect_is_the_same_too(protocol: str) -> None:
    """Version 5 writes all messages, and 1.4, which knows neither latencies nor failures, those of ends."""
    known = [case for case in CASES if protocol == "v5" or (case.peer == "simulator" and not case.outages)]
    unwritten = sum(equal(replace(case, protocol=protocol), "easy", {}) for case in known)
    assert unwritten == 0 if protocol == "v5" else unwritten > 0

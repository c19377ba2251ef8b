"""Numbers on the wire of Batsim 5: the same bytes in pure and in compiled installations."""

from __future__ import annotations

import pytest

from batsched_py.api import Plan
from batsched_py.protocol.batsim5.event_forms import V5
from batsched_py.protocol.codec import Message, decode, encode
from batsched_py.protocol.events import JobCompleted
from batsched_py.simulator.wire.rounding import wire_job
from batsched_py.state.state import State
from tests.builders import begins, job, submitted


@pytest.mark.parametrize("time", [1, 1.0])
def test_a_submission_is_a_float(time: float) -> None:
    """Also where the workload has an integer; the walltime stays what it was."""
    new = wire_job(job("1", 1, 10, time), "w0!1")
    raw = encode(Message(1.0, (submitted(new, 1.0),)), V5, "v5", keep_unknown=True)
    assert b'"submission_time":1.0' in raw
    assert b'"walltime":10,' in raw


@pytest.mark.parametrize(("wire", "code"), [(0, 0), (3, 3), (4294967295, -1), (4294967294, -2), (2147483648, -(2**31))])
def test_return_codes_are_signed_for_algorithms(wire: int, code: int) -> None:
    """Batsim 5 writes 32 bits without a sign: what is -1 for a walltime in other versions is 4294967295 there."""
    event = JobCompleted(1.0, "w0!1", "COMPLETED_KILLED", code)
    raw = encode(Message(1.0, (event,)), V5, "v5", keep_unknown=True)
    assert f'"return_code":{wire}}}'.encode() in raw
    (read,) = decode(raw, V5, keep_unknown=True).events
    assert read == event


def test_a_call_is_a_float() -> None:
    """An algorithm may ask for an integer."""
    state = State()
    state.apply(begins())
    plan = Plan(state, None)
    plan.begin(0.0)
    plan.wake_at(5)
    (command,) = plan.commands
    assert repr(command).count("at=5.0") == 1

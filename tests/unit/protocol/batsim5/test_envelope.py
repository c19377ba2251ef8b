"""The envelope of Batsim 5: what FlatBuffers' parser reads in a message of a decision process, and what it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from batsched_py.errors import RemoteProtocolError
from batsched_py.hostset import HostSet
from batsched_py.protocol.codec import decode
from batsched_py.protocol.commands import CallMeLater, CallPeriodically, Command, ExecuteJob
from batsched_py.protocol.conversation import BatsimSide
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.events import SimulationBegins

PLACEMENT = {"executor_placement_type": "PredefinedExecutorPlacementStrategyWrapper", "executor_placement": {}}
EXECUTE: dict[str, Any] = {"job_id": "w0!a", "allocation": {"host_allocation": "0", **PLACEMENT}}
SECONDS = {"time": 5, "time_unit": "Second"}


def said(*events: dict[str, Any]) -> bytes:
    """A reply with these events."""
    return json.dumps({"now": 5.0, "events": events}).encode() + b"\0"


def event(kind: str | int, data: dict[str, Any]) -> dict[str, Any]:
    """An event."""
    return {"timestamp": 1.0, "event_type": kind, "event": data}


def call(when_type: str | int, when: dict[str, Any]) -> dict[str, Any]:
    """Return the members that ask for a call."""
    return {"call_me_later_id": "c", "when_type": when_type, "when": when}


def placed(kind: str | int, placement: dict[str, Any]) -> dict[str, Any]:
    """An execution with its executors placed."""
    about = {"executor_placement_type": kind, "executor_placement": placement}
    return {"job_id": "w0!a", "allocation": {"host_allocation": "0", **about}}


FILLED = ExecuteJob(1.0, "w0!a", HostSet.of(0), placement="fill")
PERIODIC = {"period": 2, "offset": 0, "time_unit": 1, "mode_type": 2, "mode": {"nb_periods": 3}}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (event(4, EXECUTE), ExecuteJob(1.0, "w0!a", HostSet.of(0))),
        (event(4, placed(1, {"strategy": 1})), FILLED),
        (event("ExecuteJobEvent", placed(2, {"mapping": [0]})), ExecuteJob(1.0, "w0!a", HostSet.of(0), {0: 0})),
        (event(14, call(1, {**SECONDS, "time_unit": 0})), CallMeLater(1.0, 5.0, "c")),
        (event("CallMeLaterEvent", call(2, PERIODIC)), CallPeriodically(1.0, "c", 0.002, 3)),
    ],
)
def test_numbers_stand_for_names(written: dict[str, Any], meant: Command) -> None:
    """Events, types of values, and values have numbers."""
    assert decode(said(written), V5.commands, keep_unknown=False).events == (meant,)


@pytest.mark.parametrize("number", [0, 30, -1, True, 1.0])
def test_a_number_that_stands_for_nothing_is_refused(number: float) -> None:
    """None, beyond the last, or no integer."""
    with pytest.raises(RemoteProtocolError, match=r"events\[0\]\.event_type: "):
        decode(said({"timestamp": 1.0, "event_type": number, "event": {}}), V5.commands, keep_unknown=False)


def test_a_type_may_stand_before_its_value_or_right_after_it() -> None:
    """The parser looks one member ahead."""
    kind, data = ("event_type", "ExecuteJobEvent"), ("event", EXECUTE)
    for members in ((kind, ("timestamp", 1.0), data), (("timestamp", 1.0), data, kind)):
        (read,) = decode(said(dict(members)), V5.commands, keep_unknown=False).events
        assert type(read) is ExecuteJob
    with pytest.raises(RemoteProtocolError, match=r"events\[0\]\.event: must stand after event_type, or right before"):
        decode(said(dict((data, ("timestamp", 1.0), kind))), V5.commands, keep_unknown=False)
    inner = {"executor_placement": {}, "host_allocation": "0", "executor_placement_type": "x"}
    with pytest.raises(RemoteProtocolError, match=r"event\.allocation\.executor_placement: must stand after"):
        decode(said(event("ExecuteJobEvent", {"job_id": "w0!a", "allocation": inner})), V5.commands, keep_unknown=False)


def test_batsim_5_refuses_times_that_go_back() -> None:
    """Batsim 4 does not look."""
    batsim = BatsimSide(V5)
    batsim.request(5.0, [SimulationBegins(5.0, ())])
    first, second = event("ExecuteJobEvent", EXECUTE), event("ExecuteJobEvent", EXECUTE)
    with pytest.raises(RemoteProtocolError, match=r"events\[1\].timestamp: must not be before .* 1\.5, as 1\.0 is"):
        batsim.receive(said({**first, "timestamp": 1.5}, second))
    batsim.receive(said(first, {**second, "timestamp": 1.5}))


@pytest.mark.parametrize(
    ("reply", "path"),
    [
        ({"now": 5.0, "events": [], "version": 5}, "version"),
        ({"now": 5.0, "events": [{**event("ExecuteJobEvent", EXECUTE), "why": "x"}]}, r"events\[0\]\.why"),
    ],
)
def test_members_that_nobody_knows_are_refused(reply: dict[str, Any], path: str) -> None:
    """Batsim 5 aborts on them, Batsim 4 passes over them."""
    with pytest.raises(RemoteProtocolError, match=f"^{path}: is not a member here"):
        decode(json.dumps(reply).encode(), V5.commands, keep_unknown=False)

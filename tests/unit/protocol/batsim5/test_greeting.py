"""The greeting of Batsim 5: what is said before SimulationBeginsEvent, at both ends."""

from __future__ import annotations

import json

import pytest

from batsched_py.errors import LocalProtocolError, RemoteProtocolError
from batsched_py.model.features import Features
from batsched_py.protocol.batsim5.greeting import Hello, read_hello, write_greeting
from batsched_py.protocol.commands import CallMeLater
from batsched_py.protocol.conversation import BatsimSide, DecisionSide, Turn
from batsched_py.protocol.dialect import V4
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.events import DescribedHost, SimulationBegins, SimulationEnds
from batsched_py.protocol.stopping import check_stop

HELLO = Hello("me", "1.2", Features(dynamic_registration=True, profile_reuse=True))
BEGINS = SimulationBegins(0.0, (DescribedHost(0, "n0", "idle", {}, {}),), workloads={"w0": "w.json"})


def greeted() -> tuple[DecisionSide, BatsimSide]:
    """Both ends after the greeting."""
    ours, batsim = DecisionSide(), BatsimSide(V5)
    batsim.receive_hello(ours.greet(batsim.greeting('{"depth": 4}'), HELLO))
    return ours, batsim


def test_the_hello_has_all_that_batsim_looks_at() -> None:
    """JSON (format 2), one event, the commit and the features; of these the true ones alone; a NUL at the end."""
    raw = DecisionSide().greet(write_greeting(""), HELLO)
    assert raw[:4] == b"\2\0\0\0"
    assert raw[-2:] == b"}\0"
    assert json.loads(raw[4:-1]) == {
        "now": 0.0,
        "events": [
            {
                "timestamp": 0.0,
                "event_type": "EDCHelloEvent",
                "event": {
                    "batprotocol_version": "1.0.0",
                    "decision_component_name": "me",
                    "decision_component_version": "1.2",
                    "decision_component_commit": "",
                    "requested_simulation_features": {"dynamic_registration": True, "profile_reuse": True},
                },
            }
        ],
    }
    assert read_hello(raw) == HELLO


def test_both_ends_go_on_in_the_dialect_of_batsim_5() -> None:
    """To the end."""
    ours, batsim = greeted()
    assert [ours.turn, batsim.turn] == [Turn.GREETED] * 2
    assert ours.dialect is V5
    ours.receive(batsim.request(0.0, [BEGINS]))
    batsim.receive(ours.reply(0.0, [CallMeLater(0.0, 5.0)]))
    ours.receive(batsim.request(5.0, [SimulationEnds(5.0)]))
    batsim.receive(ours.reply(5.0, ()))
    assert [ours.turn, batsim.turn] == [Turn.OVER] * 2


def test_what_was_asked_for_is_the_configuration() -> None:
    """Batsim 5 tells none: the text of the user holds the options, the hello the features."""
    ours, batsim = greeted()
    config = ours.receive(batsim.request(0.0, [BEGINS])).events[0].config
    assert (config.dynamic_jobs, config.profile_reuse, config.dynamic_jobs_acknowledged) == (True, True, False)
    assert config.scheduler_config == '{"depth": 4}'
    assert config.static_jobs
    assert not config.forgets_profiles


def test_without_a_workload_nothing_will_tell_of_its_last_job() -> None:
    """Batsim 5 sends AllStaticJobsHaveBeenSubmittedEvent only with at least one."""
    ours, batsim = greeted()
    assert not ours.receive(batsim.request(0.0, [SimulationBegins(0.0, ())])).events[0].config.static_jobs


@pytest.mark.parametrize(
    ("extra", "come"),
    [
        ({}, True),
        ({"external_event_lists": []}, False),
        ({"external_event_lists": [{"name": "ee0", "filename": "events"}]}, True),
    ],
)
def test_without_a_list_no_external_event_comes(extra: dict[str, object], come: bool) -> None:
    """Nor does Batsim 5 send AllStaticExternalEventsHaveBeenInjectedEvent then."""
    ours, batsim = greeted()
    config = ours.receive(batsim.request(0.0, [SimulationBegins(0.0, (), extra=extra)])).events[0].config
    assert config.forward_unknown_events is come
    assert config.members["forward-unknown-events"] is come


@pytest.mark.parametrize("features", [{}, {"requested_simulation_features": None}])
def test_a_hello_that_crashes_batsim_is_refused(features: dict[str, None]) -> None:
    """Its members are looked at without a check."""
    event = {
        "batprotocol_version": "1",
        "decision_component_name": "",
        "decision_component_version": "",
        "decision_component_commit": "",
        **features,
    }
    message = {"now": 0, "events": [{"timestamp": 0, "event_type": "EDCHelloEvent", "event": event}]}
    with pytest.raises(RemoteProtocolError, match="requested_simulation_features"):
        read_hello(b"\2\0\0\0" + json.dumps(message).encode())


def test_the_turn_for_a_greeting_is_the_first() -> None:
    """Nobody greets twice, nor in the middle."""
    ours, batsim = greeted()
    with pytest.raises(RemoteProtocolError, match="a greeting is out of turn"):
        ours.greet(write_greeting(""), HELLO)
    with pytest.raises(RemoteProtocolError, match=r"events\[0\].event_type: must be SimulationBeginsEvent"):
        ours.receive(b'{"now": 0, "events": []}\0')
    with pytest.raises(LocalProtocolError, match="must answer a request"):
        ours.reply(0.0, ())
    assert batsim.turn is Turn.GREETED


def test_a_text_that_is_none_is_refused() -> None:
    """The bytes of a file that is no text."""
    with pytest.raises(RemoteProtocolError, match="init: must be a text in UTF-8"):
        DecisionSide().greet(b"\1\0\0\0\xff", HELLO)


def test_a_refusal_makes_batsim_5_stop() -> None:
    """It aborts on an event that it does not know; the simulator shows the reason."""
    ours, batsim = greeted()
    ours.receive(batsim.request(0.0, [BEGINS]))
    refusal = ours.refusal("no power")
    assert refusal.endswith(b"\0")
    with pytest.raises(RemoteProtocolError, match="the decision process stopped: no power"):
        check_stop(refusal)
    with pytest.raises(RemoteProtocolError, match=r"events\[0\].event_type: must be a known event"):
        batsim.receive(refusal)


def test_a_first_message_without_a_greeting_is_of_an_earlier_batsim() -> None:
    """One command serves all versions."""
    ours = DecisionSide()
    ours.receive(BatsimSide(V4).request(0.0, [BEGINS]))
    assert ours.dialect is V4

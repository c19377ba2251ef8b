"""Members of messages that nothing reads."""

from __future__ import annotations

from batsched_py.protocol.conversation import DecisionSide
from batsched_py.protocol.unread import MOST
from tests.unit.protocol.messages import OPENING_V4, document, raw


def told(*requests: dict[str, object]) -> list[str]:
    """Return the warnings about these requests, after an opening."""
    warnings: list[str] = []
    side = DecisionSide(warnings.append)
    side.receive(raw(OPENING_V4))
    warnings.clear()
    for request in requests:
        side.reply(side.now, ())
        side.receive(raw(request))
    return warnings


def test_an_unknown_member_of_an_event_is_told_once() -> None:
    """A peer that sends it with each event fills no log; the algorithm has it in `extra`."""
    call = ("REQUESTED_CALL", {"reason": "why"})
    assert told(document(1.0, call), document(2.0, call)) == [
        "t=1: member reason of REQUESTED_CALL is unknown: nothing reads it"
    ]


def test_unknown_members_around_events_are_told() -> None:
    """Those of the message and of the frame of an event are."""
    request = document(1.0, ("REQUESTED_CALL", {}))
    request["sent"] = 5
    request["events"][0]["id"] = 3
    assert told(request) == [
        "t=1: member sent of a message is unknown: nothing reads it",
        "t=1: member id of REQUESTED_CALL is unknown: nothing reads it",
    ]


def test_known_members_are_silent() -> None:
    """Real Batsim sends no others."""
    assert told(document(1.0, ("REQUESTED_CALL", {})), document(2.0)) == []


def test_a_hostile_peer_makes_a_bounded_number_of_lines() -> None:
    """Each member would be another line."""
    call = ("REQUESTED_CALL", {f"m{number}": 1 for number in range(10 * MOST)})
    lines = told(document(1.0, call))
    assert len(lines) <= MOST + 1
    assert lines[-1] == "further unknown members of messages are not reported"

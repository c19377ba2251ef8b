"""The envelope of Batsim 5: a JSON object that ends in a NUL, whose events are `event_type` and `event`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from batsched_py.errors import RemoteProtocolError
from batsched_py.protocol.codec import dump
from batsched_py.protocol.codec import parse as parse_message
from batsched_py.protocol.fields import Data, rest
from batsched_py.protocol.forms import Envelope
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import displayed

# Batsim 5 reads messages with the JSON parser of FlatBuffers, which is more lenient than JSON (comments, numbers in
# quotes, numbers for names, defaults) and stricter in other places: a type must come before its value or right after
# it, as it reads in one pass, and unknown members are errors. Both ends follow it, so that a reply that is accepted
# here is accepted there. The binary form is not read: its numbers of fields are in a schema that is not published for
# this version (ADR 34).
#
# Comments are removed by one regular expression in linear time. A text or comment without an end must be consumed to
# the end of the message: if the expression failed there, it would be tried again from each byte, and a hostile message
# would take quadratic time.

#: The last byte of each message: Batsim sends it; versions before rc2 read too far without it.
_END: Final = b"\0"
#: Texts, which are kept, and comments. An unterminated text or comment matches up to the end, for the JSON parser to
#: refuse: without a match it would be scanned again from each of its bytes.
_COMMENTS: Final = re.compile(rb'("(?:\\.|[^"\\])*+"?)|/\*.*?\*/|(/\*.*)', re.DOTALL)
_NUMBERS: Final = frozenset({float, int})
#: Members of a message, and of an event.
_MESSAGE: Final = frozenset({"now", "events"})
_EVENT: Final = frozenset({"timestamp", "event_type", "event"})
#: Member -> names of its values by their numbers, in the order of pybatsim 4; 0 means no type.
_NUMBERED: Final[Mapping[str, Sequence[str]]] = {
    "event_type": (
        "NONE",
        *("JobSubmittedEvent", "JobCompletedEvent", "RejectJobEvent", "ExecuteJobEvent", "KillJobsEvent"),
        *("JobsKilledEvent", "RegisterProfileEvent", "RegisterJobEvent", "CreateProbeEvent", "StopProbeEvent"),
        *("TriggerProbeEvent", "ResetProbeEvent", "ProbeDataEmittedEvent", "CallMeLaterEvent", "RequestedCallEvent"),
        *("StopCallMeLaterEvent", "EDCHelloEvent", "SimulationBeginsEvent", "SimulationEndsEvent"),
        *("SimulationErrorEvent", "AllStaticJobsHaveBeenSubmittedEvent"),
        *("AllStaticExternalEventsHaveBeenInjectedEvent", "FinishRegistrationEvent", "ForceSimulationStopEvent"),
        *("ChangeHostsPStateEvent", "HostsPStateChangedEvent", "TurnOnOffHostsEvent", "HostsTurnedOnOffEvent"),
        "ExternalEventOccurredEvent",
    ),
    "executor_placement_type": (
        "NONE",
        "PredefinedExecutorPlacementStrategyWrapper",
        "CustomExecutorToHostMapping",
    ),
    "strategy": ("SpreadOverHostsFirst", "FillOneHostCoresFirst"),
    "when_type": ("NONE", "OneShot", "Periodic"),
    "mode_type": ("NONE", "Infinite", "FinitePeriodNumber"),
    "time_unit": ("Second", "Millisecond"),
}


def parse(raw: bytes) -> dict[str, Any]:
    """Read a message as FlatBuffers' parser does: `now` defaults to 0, and comments are allowed.

    RemoteProtocolError if `events` is missing, which crashes Batsim.
    """
    content = raw[:-1] if raw.endswith(_END) else raw
    if b"/*" in content:
        content = _COMMENTS.sub(lambda found: found[1] or found[2] or b" ", content)
    return parse_message(content, _complete_now)


def _complete_now(document: dict[str, Any]) -> None:
    if type(document.get("now")) is not float:
        document["now"] = _number(document.get("now", 0.0))


def _number(value: Any) -> Any:
    """Convert a numeric text to a number; return any other value unchanged."""
    try:
        return float(value) if type(value) is str else value
    except ValueError:
        return value


def _dump(document: dict[str, Any]) -> bytes:
    return dump(document) + _END


def _complete(event: Any, _: Mapping[str, Any]) -> tuple[float, str, dict[str, Any]] | None:
    """Complete an event with its defaults: the timestamp 0, and an empty object."""
    if type(event) is not dict:
        return None
    timestamp, kind, data = _number(event.get("timestamp", 0.0)), event.get("event_type"), event.get("event", {})
    if type(timestamp) not in _NUMBERS or type(kind) is not str or type(data) is not dict:
        return None
    return timestamp, kind, data


def parse_reply(raw: bytes) -> dict[str, Any]:
    """Read a message of a decision process, in which numbers may replace names.

    A type must directly precede or follow its value, because FlatBuffers' parser reads a message sequentially, and no
    member may be unknown. RemoteProtocolError.
    """
    document = parse(raw)
    try:
        only(document, _MESSAGE)
        for position, event in enumerate(document["events"]):
            if type(event) is dict:
                only(event, _EVENT, f"events[{position}]")
    except FieldError as error:
        raise RemoteProtocolError(displayed(error.path), error.rule) from None
    inside: list[tuple[str, Any]] = [("", document)]
    while inside:
        path, value = inside.pop()
        if type(value) is list:
            inside += [(f"{path}[{position}]", item) for position, item in enumerate(value)]
        elif type(value) is dict:
            inside += _members(path, value)
    return document


def _members(path: str, value: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the members of an object with their paths, with types converted to names and put in order."""
    positions, found = {name: position for position, name in enumerate(value)}, []
    for name, position in positions.items():
        place, kind = f"{path}.{name}" if path else name, f"{name}_type"
        if positions.get(kind, 0) > position + 1:
            raise RemoteProtocolError(displayed(place), f"must stand after {displayed(kind)}, or right before it")
        item = value[name]
        if type(item) is int and name in _NUMBERED and 0 <= item < len(_NUMBERED[name]):
            value[name] = _NUMBERED[name][item]
        found.append((place, item))
    return found


#: The envelope of Batsim 5 in its JSON form.
ENVELOPE: Final = Envelope("event_type", "event", parse, _dump, _complete)
#: The same for messages of a decision process.
REPLY_ENVELOPE: Final = Envelope(ENVELOPE.kind, ENVELOPE.data, parse_reply, _dump, _complete)


def only(data: Data, known: frozenset[str], path: str = "") -> None:
    """Refuse members that are not in `known`: Batsim aborts on them."""
    if not known.issuperset(data):
        name = next(iter(rest(data, known)))
        raise FieldError(f"{path}.{name}" if path else name, f"is not a member here; {displayed(name)} is unknown")

"""The greeting of Batsim 5, before SimulationBeginsEvent: a text of the user, answered by the EDC's hello.

Batsim sends the length of its text (four bytes) and the text. The answer is the number of the message format of the
decision process (EDC), also four bytes, and a message with one event, EDCHelloEvent.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import RemoteProtocolError
from batsched_py.model.features import NO_FEATURES, Features
from batsched_py.protocol.batsim5.envelope import REPLY_ENVELOPE, only
from batsched_py.protocol.fields import Data, boolean, mapping, text
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import displayed

#: Four bytes in the native byte order, in which Batsim sends them.
_LENGTH: Final = struct.Struct("=I")
#: Formats: FlatBuffers in binary, and in JSON. Batsim checks only the second bit.
_JSON: Final = 2
#: Version of the protocol; Batsim does not check it.
PROTOCOL_VERSION: Final = "1.0.0"
_HELLO: Final = "EDCHelloEvent"
_MEMBERS: Final = frozenset(
    {
        *("batprotocol_version", "batprotocol_commit", "decision_component_name", "decision_component_version"),
        *("decision_component_commit", "requested_simulation_features"),
    }
)


class Hello(Struct, frozen=True):
    """The answer of a decision process: its name, its version and the requested features."""

    name: str
    version: str
    features: Features = NO_FEATURES
    commit: str = ""
    protocol_version: str = PROTOCOL_VERSION
    protocol_commit: str | None = None


def is_greeting(raw: bytes) -> bool:
    """Return whether this frame opens a conversation with Batsim 5: other versions send JSON."""
    return len(raw) >= _LENGTH.size and _LENGTH.unpack_from(raw)[0] == len(raw) - _LENGTH.size


def read_greeting(raw: bytes) -> str:
    """Return the user's text; RemoteProtocolError if the frame has none."""
    try:
        return raw[_LENGTH.size :].decode()
    except UnicodeDecodeError as error:
        raise RemoteProtocolError("init", f"must be a text in UTF-8: {error}") from None


def write_greeting(words: str) -> bytes:
    """Write the opening frame with a text of the user."""
    content = words.encode()
    return _LENGTH.pack(len(content)) + content


def read_hello(raw: bytes) -> Hello:
    """Read the answer to a greeting; RemoteProtocolError for anything that makes Batsim abort or crash."""
    if len(raw) < _LENGTH.size:
        raise RemoteProtocolError("hello", f"must begin with the number of a format, not end after {len(raw)} bytes")
    if not _LENGTH.unpack_from(raw)[0] & _JSON:
        raise RemoteProtocolError("hello", "must say that it speaks JSON (format 2), the one that is understood here")
    events = REPLY_ENVELOPE.parse(raw[_LENGTH.size :])["events"]
    if len(events) != 1 or type(events[0]) is not dict or events[0].get("event_type") != _HELLO:
        raise RemoteProtocolError("events", f"must be one {_HELLO}")
    try:
        return _read_members(mapping(events[0], "event"))
    except FieldError as error:
        raise RemoteProtocolError(f"events[0].event.{displayed(error.path)}", f"{error.rule} ({_HELLO})") from None


def write_hello(hello: Hello) -> bytes:
    """Write the answer to a greeting, with all members that Batsim 5.0.0-rc2 reads."""
    event: dict[str, Any] = {"batprotocol_version": hello.protocol_version}
    if hello.protocol_commit is not None:
        event["batprotocol_commit"] = hello.protocol_commit
    event |= {
        "decision_component_name": hello.name,
        "decision_component_version": hello.version,
        "decision_component_commit": hello.commit,
        "requested_simulation_features": {
            name: True for name in Features.__struct_fields__ if getattr(hello.features, name)
        },
    }
    entry = {"timestamp": 0.0, "event_type": _HELLO, "event": event}
    return _LENGTH.pack(_JSON) + REPLY_ENVELOPE.dump({"now": 0.0, "events": [entry]})


def _read_members(data: Data) -> Hello:
    only(data, _MEMBERS)
    asked = mapping(data, "requested_simulation_features")
    only(asked, frozenset(Features.__struct_fields__), "requested_simulation_features")
    return Hello(
        text(data, "decision_component_name"),
        text(data, "decision_component_version"),
        Features(**{name: boolean(asked, name) for name in asked}),
        text(data, "decision_component_commit"),
        text(data, "batprotocol_version"),
        text(data, "batprotocol_commit") if "batprotocol_commit" in data else None,
    )

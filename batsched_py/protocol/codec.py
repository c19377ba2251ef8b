"""Messages to bytes and back: the envelope `{"now", "events": [{"timestamp", "type", "data"}]}`, in two spellings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson

from batsched_py.errors import LocalProtocolError, RemoteProtocolError
from batsched_py.protocol.events import Nop, Unknown
from batsched_py.protocol.forms import Envelope, Forms
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import displayed, shown

# The codec knows the envelope and one table of forms for each dialect (`Forms`): a new event is a row in it. An unknown
# event is kept as it is where the receiver may ignore it.
#
# Checks are made where they are cheapest. `read_document` assumes a sound event and examines it in detail only after an
# error (`_envelope_error`): to read a request and to write its reply takes 3.5 us. Types are compared by `type(...)`,
# since `true` is an int for `isinstance`. To check members of users they must be walked: a verb of the Plan with such
# members writes its command at once (`encode_alone`), which checks it, and the reply takes that over.
#
# Errors name the path in the message (`events[3].data.job_id`) and say whose they are: a RemoteProtocolError is the
# peer's, a LocalProtocolError this program's or its algorithm's. Text of the peer passes `shown` or `displayed`, as a
# message may hold terminal sequences. orjson writes subclasses and dataclasses silently, so that it is set to pass them
# on (`_STRICT`), and `_plain` refuses them.

_NUMBERS: Final = frozenset({float, int})
#: Pass dataclasses and subclasses of JSON types to `_plain`, which accepts only mappings.
_STRICT: Final = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS
#: Looked up once: attributes of modules are slower in compiled code than in the interpreter.
_loads: Final = orjson.loads
_dumps: Final = orjson.dumps

#: Id of an event or command -> itself, so that the id stays its own, and the JSON that it is written as.
Written = dict[int, tuple[Any, orjson.Fragment]]
NONE_WRITTEN: Final[Written] = {}


class Message:
    """An immutable message of either direction: a time, and events or commands.

    Attributes:
        now: seconds since the start of the simulation; an int remains an int, so that it is written as it was read.
        events: typed events or commands, in the order of the message.
    """

    __slots__ = ("events", "now")

    #: Any, so that compiled code does not turn an int into a float.
    now: Any

    def __init__(self, now: Any, events: tuple[Any, ...]) -> None:
        self.now = now
        self.events = events

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.now == other.now and self.events == other.events

    def __hash__(self) -> int:
        return hash((self.now, self.events))

    def __repr__(self) -> str:
        return f"Message(now={self.now!r}, events={self.events!r})"


def decode(raw: bytes, forms: Forms, *, keep_unknown: bool, dialect_name: str = "") -> Message:
    """Read a message; RemoteProtocolError names the member that breaks a rule.

    With `keep_unknown`, an event of an unknown type becomes Unknown; without, it is refused, as by Batsim, with an
    error that contains `dialect_name`.
    """
    return read_document(forms.envelope.parse(raw), forms, keep_unknown=keep_unknown, dialect_name=dialect_name)


def parse(raw: bytes, prepare: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
    """Parse the JSON object of a message, and check the types of its two members. RemoteProtocolError.

    `prepare` may complete the object before that.
    """
    document = loads(raw)
    if type(document) is not dict:
        raise RemoteProtocolError("message", f"must be an object with now and events, not {shown(document)}")
    if prepare is not None:
        prepare(document)
    if type(document.get("now")) not in _NUMBERS:
        raise RemoteProtocolError("now", _must(document, "now", "a number of seconds"))
    if type(document.get("events")) is not list:
        raise RemoteProtocolError("events", _must(document, "events", "a list"))
    return document


def loads(raw: bytes) -> Any:
    """Parse JSON; RemoteProtocolError for anything else."""
    try:
        return _loads(raw)
    except orjson.JSONDecodeError as error:
        raise RemoteProtocolError("message", f"must be JSON: {error}; it begins {shown(bytes(raw[:40]))}") from None


def read_document(document: dict[str, Any], forms: Forms, *, keep_unknown: bool, dialect_name: str = "") -> Message:
    """Convert a parsed document to a typed message."""
    readers, envelope = forms.readers, forms.envelope
    kind_member, data_member = envelope.kind, envelope.data
    events: list[Any] = []
    for position, event in enumerate(document["events"]):
        try:
            timestamp, kind, data = event["timestamp"], event[kind_member], event[data_member]
            reader = readers.get(kind)
            if type(data) is not dict or type(timestamp) not in _NUMBERS:
                raise KeyError
        except (KeyError, TypeError, IndexError):
            completed = envelope.complete(event, readers)
            if completed is None:
                raise _envelope_error(position, event, envelope) from None
            timestamp, kind, data = completed
            reader = readers.get(kind)
        if reader is None:
            if not keep_unknown or type(kind) is not str:
                spoken = f" in protocol {dialect_name}" if dialect_name else ""
                rule = f"must be a known event, not {shown(kind)}{spoken}"
                raise RemoteProtocolError(f"events[{position}].{kind_member}", rule)
            events.append(Unknown(timestamp, kind, data))
            continue
        try:
            events.append(reader(timestamp, data))
        except FieldError as error:
            raise RemoteProtocolError(_path(position, error, data_member), f"{error.rule} ({kind})") from None
    return Message(document["now"], tuple(events))


def encode(
    message: Message, forms: Forms, dialect_name: str, *, keep_unknown: bool, written: Written = NONE_WRITTEN
) -> bytes:
    """Write a message; LocalProtocolError for a part that may not be sent. Nop is omitted.

    With `keep_unknown`, an Unknown is written unchanged; without, it is refused, because the peer would refuse it.
    Events that are `written` already are neither checked nor written again.
    """
    writers, choosers, envelope = forms.writers, forms.choosers, forms.envelope
    kind, data = envelope.kind, envelope.data
    events: list[Any] = []
    for event in message.events:
        if written and (known := written.get(id(event))) is not None and known[0] is event:
            events.append(known[1])
            continue
        form = writers.get(type(event))
        if form is None:
            if isinstance(event, Nop):
                continue
            if keep_unknown and isinstance(event, Unknown):
                events.append({"timestamp": event.timestamp, kind: event.type, data: event.data})
                continue
            raise LocalProtocolError(
                f"events[{len(events)}]", f"{type(event).__name__} does not exist in protocol {dialect_name}"
            )
        name, write = form
        if choosers and type(event) in choosers:
            name = choosers[type(event)](event)
        try:
            events.append({"timestamp": event.timestamp, kind: name, data: write(event)})
        except FieldError as error:
            raise LocalProtocolError(_path(len(events), error, data), f"{error.rule} ({name})") from None
    try:
        return envelope.dump({"now": message.now, "events": events})
    except TypeError as fault:  # such as an object of a user's class: a local error, not the peer's
        raise LocalProtocolError("message", f"cannot be written as JSON: {fault}") from None


def encode_alone(event: Any, forms: Forms, dialect_name: str) -> orjson.Fragment:
    """Write one event or command of a later message, with the errors of `encode`."""
    raw = encode(Message(0.0, (event,)), forms, dialect_name, keep_unknown=False)
    return orjson.Fragment(raw[raw.index(b"[") + 1 : raw.rindex(b"]")])


def as_read(now: Any, events: Sequence[Any], forms: Forms) -> Message | None:
    """Return the message that the other end would read; None if only encoding can tell, or encoding may fail."""
    known = forms.as_read
    read: list[Any] = []
    for event in events:
        view = known.get(type(event))
        seen = None if view is None or type(event.timestamp) is not float else view(event)
        if seen is None:
            return None
        read.append(seen)
    return Message(now, tuple(read))


def dump(document: Mapping[str, Any]) -> bytes:
    """Write JSON; TypeError for a part of the document that cannot be encoded."""
    return _dumps(document, _plain, _STRICT)


def _plain(value: Any) -> dict[str, Any]:
    """Convert any Mapping to a dict, the only mapping that orjson writes."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{shown(value)} is a {type(value).__name__}")


def _path(position: int, error: FieldError, data: str) -> str:
    return f"events[{position}].{data}" + (f".{displayed(error.path)}" if error.path else "")


def _must(document: dict[str, Any], key: str, expected: str) -> str:
    if key not in document:
        return f"is missing; it must be {expected}"
    return f"must be {expected}, not {shown(document[key])}"


def _bare_nop(event: Any, readers: Mapping[str, Any]) -> tuple[float, str, dict[str, Any]] | None:
    """Complete a NOP without `data`, or with null: v1.4's document has "N/A" there."""
    known = type(event) is dict and event.get("type") == "NOP" in readers
    if known and event.get("data") is None and type(event.get("timestamp")) in _NUMBERS:
        return event["timestamp"], "NOP", {}
    return None


def _envelope_error(position: int, event: Any, envelope: Envelope) -> RemoteProtocolError:
    """Return the error for the first invalid member of an event's three."""
    path = f"events[{position}]"
    if type(event) is not dict:
        return RemoteProtocolError(path, f"must be an object, not {shown(event)}")
    if type(event.get("timestamp")) not in _NUMBERS:
        return RemoteProtocolError(f"{path}.timestamp", _must(event, "timestamp", "a number of seconds"))
    if type(event.get(envelope.kind)) is not str:
        return RemoteProtocolError(f"{path}.{envelope.kind}", _must(event, envelope.kind, "a text"))
    return RemoteProtocolError(f"{path}.{envelope.data}", _must(event, envelope.data, "an object"))


#: The envelope of Batsim 1 to 4.
PLAIN: Final = Envelope("type", "data", parse, dump, _bare_nop)

"""Messages to bytes and back: the JSON envelope `{"now", "events": [{"timestamp", "type", "data"}]}`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import LocalProtocolError, RemoteProtocolError
from batsched_py.protocol.events import Nop, Unknown
from batsched_py.protocol.fields import FieldError
from batsched_py.text.display import displayed, shown

_NUMBERS: Final = frozenset({float, int})
#: Leave dataclasses and subclasses of JSON types to `_plain`, which refuses all but mappings.
_STRICT: Final = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS

#: (timestamp, data) -> the typed value; raises FieldError. Those that read host sets take the highest number a host
#: may have, too.
Reader = Callable[..., Any]
#: The typed value -> data; raises FieldError.
Writer = Callable[[Any], dict[str, Any]]


class Form(Struct, frozen=True):
    """The form of one class on the wire. Without a writer it is only read; `names_hosts` if it holds host sets."""

    kind: type
    name: str
    read: Reader
    write: Writer | None
    names_hosts: bool = False


class Forms:
    """One direction of one dialect: forms by wire name for reading, by class for writing."""

    __slots__ = ("_forms", "readers", "writers")

    def __init__(self, *forms: Form) -> None:
        self._forms = forms
        #: Wire name -> reader.
        self.readers: Mapping[str, Reader] = {form.name: form.read for form in forms}
        #: Class -> (wire name, writer); a class that a dialect lacks is absent.
        self.writers: Mapping[type, tuple[str, Writer]] = {
            form.kind: (form.name, form.write) for form in forms if form.write is not None
        }

    def within(self, highest: int) -> Forms:
        """Return the same forms, which refuse a host above `highest` before bits are made of its set."""
        bounded = [
            replace(form, read=partial(form.read, highest=highest)) if form.names_hosts else form
            for form in self._forms
        ]
        return Forms(*bounded)


class Message(Struct, frozen=True):
    """A message of either direction: an instant, and events or commands.

    Attributes:
        now: seconds since the start of the simulation.
        events: typed events or commands, in the order of the message.
    """

    now: float
    events: tuple[Any, ...]


def decode(raw: bytes, forms: Forms, *, keep_unknown: bool, dialect_name: str = "") -> Message:
    """Read a message; RemoteProtocolError names the member that breaks a rule.

    With `keep_unknown` an event of an unknown type becomes Unknown; without, it is refused as Batsim refuses it.
    `dialect_name` goes into that message.
    """
    return read_document(parse(raw), forms, keep_unknown=keep_unknown, dialect_name=dialect_name)


def parse(raw: bytes) -> dict[str, Any]:
    """Parse the JSON object of a message and check its two members."""
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise RemoteProtocolError("message", f"must be JSON: {error}; it begins {shown(bytes(raw[:40]))}") from None
    if type(document) is not dict:
        raise RemoteProtocolError("message", f"must be an object with now and events, not {shown(document)}")
    if type(document.get("now")) not in _NUMBERS:
        raise RemoteProtocolError("now", _must(document, "now", "a number of seconds"))
    if type(document.get("events")) is not list:
        raise RemoteProtocolError("events", _must(document, "events", "a list"))
    return document


def read_document(document: dict[str, Any], forms: Forms, *, keep_unknown: bool, dialect_name: str = "") -> Message:
    """Read the typed message of a parsed one."""
    readers = forms.readers
    events: list[Any] = []
    for position, event in enumerate(document["events"]):
        try:
            timestamp, kind, data = event["timestamp"], event["type"], event["data"]
            reader = readers.get(kind)
            if type(data) is not dict or type(timestamp) not in _NUMBERS:
                raise KeyError
        except (KeyError, TypeError, IndexError):
            if not _is_bare_nop(event, readers):
                raise _envelope_error(position, event) from None
            events.append(Nop(event["timestamp"]))
            continue
        if reader is None:
            if not keep_unknown or type(kind) is not str:
                spoken = f" in protocol {dialect_name}" if dialect_name else ""
                rule = f"must be a known event, not {shown(kind)}{spoken}"
                raise RemoteProtocolError(f"events[{position}].type", rule)
            events.append(Unknown(timestamp, kind, data))
            continue
        try:
            events.append(reader(timestamp, data))
        except FieldError as error:
            raise RemoteProtocolError(_path(position, error), f"{error.rule} ({kind})") from None
    return Message(document["now"], tuple(events))


def encode(message: Message, forms: Forms, dialect_name: str, *, keep_unknown: bool) -> bytes:
    """Write a message; LocalProtocolError if something in it may not be sent. Nop is written as nothing.

    With `keep_unknown` an Unknown is written as it stands; without, it is refused, because the peer would.
    """
    writers = forms.writers
    events: list[dict[str, Any]] = []
    for event in message.events:
        form = writers.get(type(event))
        if form is None:
            if isinstance(event, Nop):
                continue
            if keep_unknown and isinstance(event, Unknown):
                events.append({"timestamp": event.timestamp, "type": event.type, "data": event.data})
                continue
            raise LocalProtocolError(
                f"events[{len(events)}]", f"{type(event).__name__} does not exist in protocol {dialect_name}"
            )
        name, write = form
        try:
            events.append({"timestamp": event.timestamp, "type": name, "data": write(event)})
        except FieldError as error:
            raise LocalProtocolError(_path(len(events), error), f"{error.rule} ({name})") from None
    try:
        return orjson.dumps({"now": message.now, "events": events}, _plain, _STRICT)
    except TypeError as error:  # an object of a user's own class, say: our error, not the peer's
        raise LocalProtocolError("message", f"cannot be written as JSON: {error}") from None


def _plain(value: Any) -> dict[str, Any]:
    """Turn any Mapping into a dict, the only mapping that orjson writes."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{shown(value)} is a {type(value).__name__}")


def _path(position: int, error: FieldError) -> str:
    return f"events[{position}].data" + (f".{displayed(error.path)}" if error.path else "")


def _must(document: dict[str, Any], key: str, expected: str) -> str:
    if key not in document:
        return f"is missing; it must be {expected}"
    return f"must be {expected}, not {shown(document[key])}"


def _is_bare_nop(event: Any, readers: Mapping[str, Any]) -> bool:
    """Return whether this is a NOP without `data`, or with null: v1.4's document has "N/A" there."""
    known = type(event) is dict and event.get("type") == "NOP" in readers
    return known and event.get("data") is None and type(event.get("timestamp")) in _NUMBERS


def _envelope_error(position: int, event: Any) -> RemoteProtocolError:
    """Return the error for the first wrong one of an event's three members."""
    path = f"events[{position}]"
    if type(event) is not dict:
        return RemoteProtocolError(path, f"must be an object, not {shown(event)}")
    if type(event.get("timestamp")) not in _NUMBERS:
        return RemoteProtocolError(f"{path}.timestamp", _must(event, "timestamp", "a number of seconds"))
    if type(event.get("type")) is not str:
        return RemoteProtocolError(f"{path}.type", _must(event, "type", "a string"))
    return RemoteProtocolError(f"{path}.data", _must(event, "data", "an object"))

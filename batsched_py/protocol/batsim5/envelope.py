"""The envelope of Batsim 5: a JSON object that ends in a NUL, whose events are `event_type` and `event`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from batsched_py.protocol.codec import checked, dump, loads
from batsched_py.protocol.fields import Data, FieldError, rest
from batsched_py.protocol.forms import Envelope
from batsched_py.text.display import displayed

#: The last byte of each message: Batsim sends it, and before rc2 it reads too far without it.
_END: Final = b"\0"
#: Texts, which are kept, and comments.
_COMMENTS: Final = re.compile(rb'("(?:\\.|[^"\\])*")|/\*.*?\*/', re.DOTALL)
_NUMBERS: Final = frozenset({float, int})


def parse(raw: bytes) -> dict[str, Any]:
    """Read a message as FlatBuffers' parser does: `now` is 0 if it is left out, and there may be comments.

    Batsim crashes if `events` is left out: RemoteProtocolError.
    """
    content = raw[:-1] if raw.endswith(_END) else raw
    if b"/*" in content:
        content = _COMMENTS.sub(lambda found: found[1] or b"", content)
    document = loads(content)
    if type(document) is dict and type(document.get("now")) is not float:
        document["now"] = _number(document.get("now", 0.0))
    return checked(document)


def _number(value: Any) -> Any:
    """Return the number that a text is; anything else as it is."""
    try:
        return float(value) if type(value) is str else value
    except ValueError:
        return value


def _dump(document: dict[str, Any]) -> bytes:
    return dump(document) + _END


def _complete(event: Any, _: Mapping[str, Any]) -> tuple[float, str, dict[str, Any]] | None:
    """Give an event its defaults: the timestamp 0, and an empty object."""
    if type(event) is not dict:
        return None
    timestamp, kind, data = _number(event.get("timestamp", 0.0)), event.get("event_type"), event.get("event", {})
    if type(timestamp) not in _NUMBERS or type(kind) is not str or type(data) is not dict:
        return None
    return timestamp, kind, data


#: The envelope of Batsim 5 in its JSON form.
ENVELOPE: Final = Envelope("event_type", "event", parse, _dump, _complete)


def only(data: Data, known: frozenset[str], path: str = "") -> None:
    """Refuse members that are not in `known`: Batsim aborts on them."""
    if not known.issuperset(data):
        name = next(iter(rest(data, known)))
        raise FieldError(f"{path}.{name}" if path else name, f"is not a member here; {displayed(name)} is unknown")

"""Values of descriptors, in both formats; numbers and truth may be written as text."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Any, Final, TypeVar

import msgspec

from batsched_py.experiments.model import AddressOf, Reference
from batsched_py.reading.faults import FieldError, refused
from batsched_py.reading.limits import LONGEST, TOO_LONG
from batsched_py.reading.objects import list_of
from batsched_py.reading.values import TRUTH, Reader, by_type, name_text, number, seconds, special, text, whole_number
from batsched_py.text.display import shown

T = TypeVar("T")
#: Maximum length of a name, and of any other text.
LONGEST_NAME: Final = 200
LONGEST_TEXT: Final = 10_000
_NUMBER: Final = re.compile(r"[0-9]+(\.[0-9]+)?")
#: The address of a compute in a network, as text: `${ip:Server:BonFIRE WAN}`.
_ADDRESS: Final = re.compile(r"\$\{ip:([^:{}]+):([^:{}]+)\}")
_DURATION: Final = 'whole minutes, greater than 0, or an ISO 8601 duration such as "PT2H"'
_START: Final = "a number of seconds from 0, or an ISO 8601 instant"


def _not_blank(name: str) -> str:
    if not name.strip():
        raise FieldError("", "must not be empty")
    return name


def _reference(name: str) -> Reference:
    """Return a reference: `@name` or a URI for an existing resource, a bare name for one of the experiment (M4)."""
    if name.startswith("@"):
        if not name[1:].strip():
            raise FieldError("", "must have a name after the @")
        return Reference(name[1:], exists=True)
    return Reference(name, exists=Reference(name).is_uri)


def _address_of(pair: tuple[str, ...]) -> str | AddressOf:
    return AddressOf(pair[0], pair[1].removeprefix("@"))


def _context(text: str) -> str | AddressOf:
    found = _ADDRESS.fullmatch(text)
    return text if found is None else _address_of((found[1], found[2]))


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise refused("an IP address", text) from None


def _unquoted(value: Any) -> Any:
    """Return the number in a text; return any other value unchanged."""
    if not isinstance(value, str) or len(value) >= LONGEST_NAME or not _NUMBER.fullmatch(value):
        return value
    return float(value) if "." in value else int(value)


def _also_quoted(reader: Reader[T], pattern: str = r"^[0-9]+(\.[0-9]+)?$") -> Reader[T]:
    schema = {"anyOf": [reader.schema, {"type": "string", "pattern": pattern}]}
    return Reader(lambda value: reader(_unquoted(value)), schema)


def _duration(value: Any) -> float:
    """Return the seconds of whole minutes, or of an ISO 8601 duration in weeks and shorter units."""
    number, time = _unquoted(value), math.nan
    if type(number) is int:
        time = 60.0 * number if number <= LONGEST else math.inf
    elif isinstance(number, str) and len(number) < LONGEST_NAME:
        with suppress(msgspec.ValidationError, OverflowError):  # refused below
            time = msgspec.convert(number, timedelta).total_seconds()
    if not time > 0:
        raise refused(_DURATION, value)
    if time > LONGEST:
        raise FieldError("", f"{TOO_LONG} not {shown(value)}")
    return time


def start_reader(origin: datetime | None) -> Reader[float]:
    """Return a reader of seconds since the start of the simulation, from a number or an ISO 8601 instant.

    `origin` is the instant of second 0, if any. An instant without a time zone is in UTC. An instant before the origin
    gives a negative number.
    """

    def read(value: Any) -> float:
        number = _unquoted(value)
        if not isinstance(number, str):
            return _SECONDS(number)
        try:
            instant = datetime.fromisoformat(number)
        except ValueError:
            raise refused(_START, value) from None
        if origin is None:
            raise FieldError("", f"must be seconds, not {shown(value)}: the simulation has no date")
        return ((instant if instant.tzinfo else instant.replace(tzinfo=UTC)) - origin).total_seconds()

    second = {**_SECONDS.schema, "description": "second of the simulation"}
    return Reader(read, {"anyOf": [second, {"type": "string", "description": "an ISO 8601 instant, or seconds"}]})


_SECONDS: Final = seconds(least=0)
TEXT: Final = text(most=LONGEST_TEXT)
#: Names are not blank, and printable in tables.
NAME: Final = name_text(most=LONGEST_NAME).then(
    _not_blank, pattern='^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029,"]*$'
)
NAMES: Final = list_of(NAME)
PAIR: Final = list_of(NAME, least=2, most=2)
REFERENCE: Final = NAME.then(
    _reference, description="@NAME or a URI of what exists, or the name of a resource of this document"
)
#: A text, or the address of a compute in a network: a pair of names, or `${ip:COMPUTE:NETWORK}`.
CONTEXT: Final = by_type(
    "a text, or a pair of a compute and a network", {str: TEXT.then(_context), list: PAIR.then(_address_of)}
)
ADDRESS: Final = TEXT.then(_address, description="an IP address")
COUNT: Final = _also_quoted(whole_number(least=1, most=LONGEST), "^[0-9]+$")
NUMBER: Final = _also_quoted(number(above=0, most=LONGEST))
DELAY: Final = _SECONDS
TRUTH_OR_WORD: Final = special({"true": True, "false": False}, TRUTH)
DURATION: Final = Reader(
    _duration,
    {
        "anyOf": [
            {"type": "integer", "minimum": 1, "description": "minutes"},
            {"type": "string", "description": "an ISO 8601 duration, or minutes"},
        ]
    },
)

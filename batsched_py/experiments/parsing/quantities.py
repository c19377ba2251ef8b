"""Values of descriptors: each reader refuses invalid values."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Any, Final

import msgspec

from batsched_py.experiments.faults import Place
from batsched_py.experiments.model import AddressOf, Reference
from batsched_py.reading.limits import LONGEST, NAME_RULE, TOO_LONG, breaks_csv
from batsched_py.text.display import shown

#: Maximum length of a name, and of any other text.
LONGEST_NAME: Final = 200
LONGEST_TEXT: Final = 10_000
_NUMBER: Final = re.compile(r"[0-9]+(\.[0-9]+)?")
#: The address of a compute in a network, as text: `${ip:Server:BonFIRE WAN}`.
_ADDRESS: Final = re.compile(r"\$\{ip:([^:{}]+):([^:{}]+)\}")
_DURATION_RULE: Final = 'must be whole minutes, more than 0, or an ISO 8601 duration such as "PT2H"'


def read_text(place: Place, value: Any) -> str:
    """Return a text, which may be empty."""
    if not isinstance(value, str):
        place.refuse(f"must be a text, not {shown(value)}")
    if len(value) > LONGEST_TEXT:
        place.refuse(f"must have at most {LONGEST_TEXT} characters")
    return value


def read_name(place: Place, value: Any) -> str:
    """Return a name: not empty, and printable in tables."""
    text = read_text(place, value)
    if not text.strip():
        place.refuse("must not be empty")
    if len(text) > LONGEST_NAME:
        place.refuse(f"must have at most {LONGEST_NAME} characters")
    return place.refuse(NAME_RULE) if breaks_csv(text) else text


def read_reference(place: Place, value: Any) -> Reference:
    """Return a reference: `@name` or a URI for an existing resource, a bare name for one of the experiment (M4)."""
    name = read_name(place, value)
    if name.startswith("@"):
        return Reference(name[1:], exists=True) if name[1:].strip() else place.refuse("must have a name after the @")
    return Reference(name, exists=Reference(name).is_uri)


def read_context(place: Place, value: Any) -> str | AddressOf:
    """Return a text, or the address of a compute in a network: a pair of names, or `${ip:COMPUTE:NETWORK}`."""
    if isinstance(value, list):
        if len(value) != 2:
            place.refuse(f"must be a text, or a pair of a compute and a network, not {shown(value)}")
        compute, network = (read_name(place[index], one) for index, one in enumerate(value))
        return AddressOf(compute, network.removeprefix("@"))
    text = read_text(place, value)
    found = _ADDRESS.fullmatch(text)
    return AddressOf(found[1], found[2].removeprefix("@")) if found else text


def read_address(place: Place, value: Any) -> str:
    """Return the address of a network, of version 4 or 6."""
    text = read_text(place, value)
    try:
        return str(ip_address(text))
    except ValueError:
        place.refuse(f"must be an IP address, not {shown(value)}")


def read_count(place: Place, value: Any) -> int:
    """Return a whole number of at least 1, which may be written as text."""
    number = _unquoted(value)
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= LONGEST:
        place.refuse(f"must be a whole number from 1 on, not {shown(value)}")
    return number


def read_number(place: Place, value: Any) -> float:
    """Return a number greater than 0, which may be written as text."""
    number = _unquoted(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number <= LONGEST:
        place.refuse(f"must be a number greater than 0, not {shown(value)}")
    return float(number)


def read_delay(place: Place, value: Any) -> float:
    """Return seconds, at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LONGEST:
        place.refuse(f"must be seconds from 0 on, not {shown(value)}")
    return float(value)


def read_truth(place: Place, value: Any) -> bool:
    """Return true or false, which may be written as text."""
    words = {"true": True, "false": False}
    truth = words.get(value, value) if isinstance(value, str) else value
    return truth if isinstance(truth, bool) else place.refuse(f"must be true or false, not {shown(value)}")


def read_duration(place: Place, value: Any) -> float:
    """Return the seconds of whole minutes, or of an ISO 8601 duration in weeks and shorter units."""
    number = _unquoted(value)
    seconds = math.nan
    if isinstance(number, int) and not isinstance(number, bool):
        seconds = 60.0 * number if number <= LONGEST else math.inf
    elif isinstance(number, str) and len(number) < LONGEST_NAME:
        with suppress(msgspec.ValidationError, OverflowError):  # refused below
            seconds = msgspec.convert(number, timedelta).total_seconds()
    if not seconds > 0:
        place.refuse(f"{_DURATION_RULE}, not {shown(value)}")
    return seconds if seconds <= LONGEST else place.refuse(f"{TOO_LONG} not {shown(value)}")


def read_start(place: Place, value: Any, origin: datetime | None) -> float:
    """Return seconds since the start of the simulation, from a number or an ISO 8601 instant.

    `origin` is the instant of second 0, if any. An instant without a time zone is in UTC. An instant before the origin
    gives a negative number.
    """
    rule = "must be seconds from 0 on, or an ISO 8601 instant,"
    number = _unquoted(value)
    if isinstance(number, str):
        try:
            instant = datetime.fromisoformat(number)
        except ValueError:
            place.refuse(f"{rule} not {shown(value)}")
        if origin is None:
            place.refuse(f"must be seconds, not {shown(value)}: the simulation has no date")
        return ((instant if instant.tzinfo else instant.replace(tzinfo=UTC)) - origin).total_seconds()
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= LONGEST:
        place.refuse(f"{rule} not {shown(value)}")
    return float(number)


def _unquoted(value: Any) -> Any:
    """Return the number in a text; return any other value unchanged."""
    if not isinstance(value, str) or len(value) >= LONGEST_NAME or not _NUMBER.fullmatch(value):
        return value
    return float(value) if "." in value else int(value)

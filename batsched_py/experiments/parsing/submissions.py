"""Files of experiments: descriptors with their submission times."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.experiments.parsing.quantities import DELAY, NAME, TEXT
from batsched_py.reading.faults import FieldError
from batsched_py.reading.objects import OBJECT, list_of, members_of, read_whole
from batsched_py.reading.values import Reader, by_type

#: The member that contains them; a document without it is one descriptor.
MEMBER: Final = "experiments"
#: Seconds since 1970 of the latest origin, which is also the largest number in an event: in the year 3000.
_LATEST: Final = 32_503_680_000


class Submission(Struct, frozen=True):
    """A submitted descriptor.

    Attributes:
        place: place of the descriptor in its file, for messages.
        time: second of the simulation.
        content: the descriptor, in either format.
        owner: submitting user; "" without access control.
        reserve: the id under which its computes are reserved, and not deployed; "" for an experiment.
    """

    place: str
    time: float
    content: bytes
    owner: str = ""
    reserve: str = ""


def numbered(members: Mapping[str, Any], name: str) -> int:
    """Return the number in a member of an event; 0 if it has no valid one."""
    number = members.get(name)
    return number if type(number) is int and 0 < number < _LATEST else 0


def origin_of(members: Mapping[str, Any]) -> datetime | None:
    """Return the reference date of times in a descriptor, the `origin` of its event; None if it has none."""
    begun = members.get("origin")
    return datetime.fromtimestamp(begun, UTC) if isinstance(begun, float) and 0 <= begun < _LATEST else None


def submit_text(file: str, content: bytes) -> tuple[Submission, ...]:
    """Return the submission, at 0, of a descriptor in XML."""
    return (Submission(file, 0.0, content),)


def parse_submissions(file: str, document: Mapping[str, Any]) -> tuple[Submission, ...]:
    """Return the submissions of a document, sorted by time; those of one instant in the file's order.

    WorkloadError names the file, and the field and rule of each fault. Descriptors are not read yet.
    """
    if MEMBER not in document:
        return (Submission(file, 0.0, orjson.dumps(document)),)
    found = read_whole(_SUBMISSIONS, document, WorkloadError, file)[MEMBER]
    placed = (replace(one, place=f"{file}: {MEMBER}[{index}].descriptor") for index, one in enumerate(found))
    return tuple(sorted(placed, key=lambda one: one.time))


def _as_json(members: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(members)
    except (orjson.JSONEncodeError, TypeError):  # a whole number beyond 64 bits
        raise FieldError("", "cannot be written as JSON") from None


def _not_assigned(name: str) -> str:
    if name.startswith("/"):
        raise FieldError("", "must not begin with /: such ids are assigned")
    return name


#: The reader of a descriptor given as an object, or as a text in either format: its bytes.
DESCRIPTOR: Final = by_type(
    "an object, or a text",
    {
        dict: OBJECT.then(_as_json),
        str: Reader(lambda text: str(text).encode(errors="replace"), {"type": "string"}),
    },
)
#: Types of external events: an experiment is submitted, with `descriptor` and `owner`; deleted, by its number in
#: `experiment`; a reservation is requested, with `descriptor`, `owner` and its number in `reservation`, or deleted, by
#: its id in `reservation`.
SUBMIT: Final = "submit_experiment"
RESERVE: Final = "submit_reservation"
DELETE: Final = "delete_experiment"
WITHDRAW: Final = "delete_reservation"
#: The id of a user's own reservation, which must not have the form of assigned ids.
_RESERVATION_ID: Final = NAME.then(_not_assigned)
#: The reader of the members of an event that submits a descriptor.
SUBMITTED: Final = members_of({"descriptor": DESCRIPTOR, "reserve": _RESERVATION_ID}, ("descriptor",))
_SUBMISSION: Final = members_of(
    {"time": DELAY, "descriptor": DESCRIPTOR, "owner": TEXT, "reserve": _RESERVATION_ID}, ("descriptor",)
).then(lambda one: Submission("", one.pop("time", 0.0), one.pop("descriptor"), **one))
_SUBMISSIONS: Final = members_of({MEMBER: list_of(_SUBMISSION)})

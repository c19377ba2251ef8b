"""Files of experiments: descriptors with their submission times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import Fault, WorkloadError
from batsched_py.experiments.faults import EnoughFaultsError, Place, RefusedValueError
from batsched_py.experiments.parsing.members import Members, list_of
from batsched_py.experiments.parsing.quantities import read_delay, read_name, read_text
from batsched_py.text.display import shown

#: The member that contains them; a document without it is one descriptor.
MEMBER = "experiments"


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


def submit_text(file: str, content: bytes) -> tuple[Submission, ...]:
    """Return the submission, at 0, of a descriptor in XML."""
    return (Submission(file, 0.0, content),)


def parse_submissions(file: str, document: Mapping[str, Any]) -> tuple[Submission, ...]:
    """Return the submissions of a document, sorted by time; those of one instant in the file's order.

    WorkloadError names the file, the field and the rule. Descriptors are not read yet.
    """
    if MEMBER not in document:
        return (Submission(file, 0.0, orjson.dumps(document)),)
    faults = list[Fault]()
    found: tuple[Submission, ...] = ()
    nothing: tuple[Submission, ...] = ()
    try:
        members = Members(Place(faults), document, (MEMBER,))
        found = members.required(MEMBER, list_of(_read_submission), nothing)
    except EnoughFaultsError:
        pass  # the faults are in the list
    if faults:
        raise WorkloadError(file, *faults[0], faults[1:])
    located = (replace(one, place=f"{file}: {one.place}") for one in found)
    return tuple(sorted(located, key=lambda one: one.time))


def descriptor_content(place: Place, value: Any) -> bytes:
    """Return the bytes of a descriptor given as an object, or as a text in either format."""
    if isinstance(value, dict):
        try:
            return orjson.dumps(value)
        except (orjson.JSONEncodeError, TypeError):  # a whole number beyond 64 bits
            place.refuse("cannot be written as JSON")
    if not isinstance(value, str):
        place.refuse(f"must be an object, or a text, not {shown(value)}")
    return value.encode(errors="replace")


def read_reservation_id(place: Place, value: Any) -> str:
    """Return the id of a user's own reservation, which must not have the form of assigned ids."""
    name = read_name(place, value)
    return place.refuse("must not begin with /: such ids are assigned") if name.startswith("/") else name


def _read_submission(place: Place, value: Any) -> Submission:
    members = Members(place, value, ("time", "descriptor", "owner", "reserve"))
    content = members.required("descriptor", descriptor_content, b"")
    if not content:
        raise RefusedValueError
    return Submission(
        (place / "descriptor").path,
        members.optional("time", read_delay, 0.0),
        content,
        members.optional("owner", read_text, ""),
        members.optional("reserve", read_reservation_id, ""),
    )

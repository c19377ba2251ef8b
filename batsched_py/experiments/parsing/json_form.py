"""The JSON format of experiments (M3, M4, M17), and its schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from batsched_py.experiments.model import KINDS, Experiment, Resource
from batsched_py.experiments.parsing.quantities import (
    DURATION,
    NAME,
    NAMES,
    TEXT,
    start_reader,
)
from batsched_py.experiments.parsing.resources import RESOURCE
from batsched_py.reading.objects import document_schema, list_of, mapping_of, members_of
from batsched_py.reading.values import TRUTH, Reader, special

#: Location of the aggregator for `true` in the document: that of the first compute.
FIRST_LOCATION: Final = ""
#: Words for the location of the aggregator (M21).
_AGGREGATORS: Final = {"true": FIRST_LOCATION, "false": None, True: FIRST_LOCATION, False: None}
_TAG: Final = special({"": True, None: True, "true": True, "false": False}, TRUTH)
#: Member -> its reader, without `start`, whose reader depends on the date of the simulation, and `resources`.
_MEMBERS: Final[Mapping[str, Reader[Any]]] = {
    "name": NAME,
    "description": TEXT,
    "duration": DURATION,
    "reservation": NAME,
    # An empty tag means true (M30), and no sets.
    "best_effort_allocation": Reader(
        lambda value: True if value == {} else _TAG(value), {"anyOf": [_TAG.schema, {"const": {}}]}
    ),
    "resource_set": special({"": {}, None: {}}, mapping_of(NAMES, NAME)),
    "aggregator": special(_AGGREGATORS, NAME),
}
#: Members of the document.
DOCUMENT_MEMBERS: Final = (*_MEMBERS, "start", "resources")
_FIELDS: Final = {"resource_set": "resource_sets"}


class Parsed(Struct, frozen=True):
    """An experiment as read from its document, which may violate rules between members.

    Attributes:
        experiment: the experiment.
        paths: paths of its resources in the document, in order.
    """

    experiment: Experiment
    paths: tuple[str, ...]


def parse_document(document: Any, origin: datetime | None) -> Parsed:
    """Return the experiment of an object. FieldError."""
    members = _document(origin)(document)
    resources = members.pop("resources")
    paths = [f"resources[{index}].{KINDS[type(one)]}" for index, one in enumerate(resources)]
    return _parsed(members, resources, paths)


def parse_members(
    document: Mapping[str, Any], resources: Sequence[tuple[str, Resource]], origin: datetime | None
) -> Parsed:
    """Return the experiment of an object without resources, and of resources with their paths. FieldError."""
    members = members_of({**_MEMBERS, "start": start_reader(origin)}, ("name", "duration"))(document)
    return _parsed(members, [one for _, one in resources], [path for path, _ in resources])


def descriptor_schema() -> dict[str, Any]:
    """Return the schema of documents (draft 2020-12).

    It cannot express rules between members: that names are unique and known, and that dependencies have no cycle.
    """
    return document_schema("A managed experiment", _document(None))


def _document(origin: datetime | None) -> Reader[dict[str, Any]]:
    readers = {**_MEMBERS, "start": start_reader(origin), "resources": list_of(RESOURCE)}
    return members_of(readers, ("name", "duration", "resources"))


def _parsed(members: Mapping[str, Any], resources: Sequence[Resource], paths: Sequence[str]) -> Parsed:
    fields = {_FIELDS.get(name, name): value for name, value in members.items()}
    return Parsed(Experiment(resources=tuple(resources), **fields), tuple(paths))

"""The JSON format of experiments (M3, M4, M17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from msgspec import Struct

from batsched_py.experiments.faults import Place
from batsched_py.experiments.model import Experiment, Resource
from batsched_py.experiments.parsing.members import Members, list_of, mapping_of
from batsched_py.experiments.parsing.quantities import (
    read_duration,
    read_name,
    read_start,
    read_text,
    read_truth,
)
from batsched_py.experiments.parsing.resources import read_resource

#: Members of the document.
DOCUMENT_MEMBERS: Final = (
    *("name", "description", "duration", "start", "reservation", "best_effort_allocation", "resource_set"),
    *("aggregator", "resources"),
)
#: Location of the aggregator for `true` in the document: that of the first compute.
FIRST_LOCATION: Final = ""


class Parsed(Struct, frozen=True):
    """An experiment as read from its document, which may violate rules between members.

    Attributes:
        experiment: the experiment.
        paths: paths of its resources in the document, in order.
    """

    experiment: Experiment
    paths: tuple[str, ...]


def parse_document(place: Place, document: Any, origin: datetime | None) -> Parsed:
    """Return the experiment of an object.

    Faults are noted. Resources that are not objects with one member are left out.
    """
    members = Members(place, document, DOCUMENT_MEMBERS)
    nothing: tuple[tuple[str, Resource], ...] = ()
    resources = members.required("resources", list_of(_read_with_path), nothing)
    return _parsed(members, resources, origin)


def parse_members(
    place: Place, document: Mapping[str, Any], resources: Sequence[tuple[str, Resource]], origin: datetime | None
) -> Parsed:
    """Return the experiment of an object without resources, and of resources with their paths."""
    return _parsed(Members(place, document, DOCUMENT_MEMBERS), resources, origin)


def _parsed(members: Members, resources: Sequence[tuple[str, Resource]], origin: datetime | None) -> Parsed:
    experiment = Experiment(
        name=members.required("name", read_name, ""),
        duration=members.required("duration", read_duration, 1.0),
        description=members.optional("description", read_text, ""),
        resources=tuple(resource for _, resource in resources),
        start=members.optional("start", partial(read_start, origin=origin), None),
        reservation=members.optional("reservation", read_name, None),
        best_effort_allocation=members.optional("best_effort_allocation", _read_tag, default=False),
        resource_sets=members.optional("resource_set", _read_sets, {}),
        aggregator=members.optional("aggregator", _read_aggregator, None),
    )
    return Parsed(experiment, tuple(path for path, _ in resources))


def _read_with_path(place: Place, value: Any) -> tuple[str, Resource]:
    resource = read_resource(place, value)
    return next((place / kind).path for kind in value), resource


def _read_tag(place: Place, value: Any) -> bool:
    """Read true or false; an empty tag means true (M30)."""
    return True if value in ("", None, {}) else read_truth(place, value)


def _read_sets(place: Place, value: Any) -> Mapping[str, tuple[str, ...]]:
    """Read sets of computes by name; an empty tag means none."""
    return {} if value in ("", None) else mapping_of(list_of(read_name), read_name)(place, value)


def _read_aggregator(place: Place, value: Any) -> str | None:
    """Read the location of the aggregator: FIRST_LOCATION for `true`, None for none (M21)."""
    if isinstance(value, str) and value not in ("true", "false"):
        return read_name(place, value)
    return FIRST_LOCATION if read_truth(place, value) else None

"""Resources of experiments, as objects with members (M3, M17)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from batsched_py.experiments.model import (
    CUSTOM,
    AddressOf,
    Compute,
    InstanceType,
    Metric,
    Network,
    Reference,
    Resource,
    Router,
    SiteLink,
    Storage,
)
from batsched_py.experiments.parsing.quantities import (
    ADDRESS,
    CONTEXT,
    COUNT,
    NAME,
    NAMES,
    NUMBER,
    PAIR,
    REFERENCE,
    TEXT,
    TRUTH_OR_WORD,
)
from batsched_py.reading.faults import Place
from batsched_py.reading.objects import OBJECT, list_of, mapping_of, members_of, object_of, tagged
from batsched_py.reading.values import Reader

#: Members with the capacity of an instance of the type `custom`.
CAPACITY: Final[Mapping[str, Reader[float]]] = dict.fromkeys(("cpu", "vcpu", "memory"), NUMBER)
_COMMON: Final = {"name": NAME, "description": TEXT, "after": NAMES}


def _attached(kind: str) -> Reader[tuple[str, Reference]]:
    return REFERENCE.then(lambda reference: (kind, reference))


def _merged(contexts: tuple[Mapping[str, str | AddressOf], ...]) -> Mapping[str, str | AddressOf]:
    """Return the contexts of a list of objects; keys must not be repeated (M38)."""
    place, found = Place(), dict[str, str | AddressOf]()
    for index, pairs in enumerate(contexts):
        for key in pairs:
            if key in found:
                (place[index] / key).note("is given twice")
        found |= pairs
    place.refuse()
    return found


def _compute(members: dict[str, Any]) -> Compute:
    attached = members.pop("resources", ())
    capacity = {name: members.pop(name) for name in CAPACITY if name in members}
    kind: str | InstanceType = members.pop("instanceType", "small")
    place = Place()
    for name in CAPACITY:
        if (name in capacity) is not (kind == CUSTOM):
            (place / name).note("is missing" if kind == CUSTOM else f'needs "instanceType": "{CUSTOM}"')
    place.refuse()
    return Compute(
        instance_type=InstanceType(**capacity) if kind == CUSTOM else kind,
        count=members.pop("min", 1),
        storages=tuple(reference for kind, reference in attached if kind == "storage"),
        networks=tuple(reference for kind, reference in attached if kind == "network"),
        **members,
    )


_COMPUTE: Final[Mapping[str, Reader[Any]]] = {
    **_COMMON,
    "locations": NAMES,
    "constraint": TEXT,
    "instanceType": NAME,
    **CAPACITY,
    "min": COUNT,
    "host": NAME,
    "cluster": NAME,
    "resources": list_of(tagged({kind: _attached(kind) for kind in ("storage", "network")})),
    "contexts": list_of(mapping_of(CONTEXT, NAME), "objects").then(_merged),
    "metrics": list_of(object_of(Metric, {"name": NAME, "command": TEXT, "rate": NUMBER}, ("name", "command", "rate"))),
    "reserved": NAMES,
    #: Members of entries are read later, with those of all others in the experiment.
    "timeline": list_of(OBJECT).then(lambda entries: entries, description="entries, as of `timeline schema`"),
}
_LOCATED: Final = {**_COMMON, "location": NAME}
#: Kind of resource, the name of its member -> the resource, the readers of its members, and the required ones.
_KINDS: Final[Mapping[str, tuple[Callable[..., Resource], Mapping[str, Reader[Any]], tuple[str, ...]]]] = {
    "storage": (Storage, {**_LOCATED, "size": NUMBER, "persistent": TRUTH_OR_WORD}, ("name", "location", "size")),
    "network": (Network, {**_LOCATED, "address": ADDRESS, "size": COUNT}, ("name", "location")),
    "site_link": (
        SiteLink,
        {**_COMMON, "endpoints": PAIR, "bandwidth": NUMBER},
        ("name", "endpoints", "bandwidth"),
    ),
    "router": (Router, {**_LOCATED, "networks": list_of(REFERENCE)}, ("name", "location", "networks")),
}
#: Kind of resource -> the readers of its members.
MEMBERS: Final[Mapping[str, Mapping[str, Reader[Any]]]] = {
    "compute": _COMPUTE,
    **{kind: members for kind, (_, members, _) in _KINDS.items()},
}
#: Kind of resource -> its reader.
READERS: Final[Mapping[str, Reader[Resource]]] = {
    "compute": members_of(_COMPUTE, ("name",)).then(_compute),
    **{kind: object_of(*row) for kind, row in _KINDS.items()},
}
#: The reader of an object with one member, named after the kind of a resource.
RESOURCE: Final = tagged(READERS)

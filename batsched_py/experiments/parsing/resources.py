"""Resources of experiments, as objects with members (M3, M17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from batsched_py.experiments.faults import Place, RefusedValueError
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
from batsched_py.experiments.parsing.members import Members, Reader, list_of, pair_of
from batsched_py.experiments.parsing.quantities import (
    read_address,
    read_context,
    read_count,
    read_name,
    read_number,
    read_reference,
    read_text,
    read_truth,
)
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown

#: Members with the capacity of an instance of the type `custom`.
CAPACITY: Final = ("cpu", "vcpu", "memory")
#: Kind of resource -> members.
MEMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "compute": (
        *("name", "description", "locations", "constraint", "instanceType", *CAPACITY, "min", "host", "cluster"),
        *("resources", "contexts", "after", "metrics", "reserved", "timeline"),
    ),
    "storage": ("name", "description", "location", "size", "persistent", "after"),
    "network": ("name", "description", "location", "address", "size", "after"),
    "site_link": ("name", "description", "endpoints", "bandwidth", "after"),
    "router": ("name", "description", "location", "networks", "after"),
}
METRIC_MEMBERS: Final = ("name", "command", "rate")


class _Attached(Struct, frozen=True):
    """A storage or network in the list `resources` of a compute."""

    kind: Literal["storage", "network"]
    reference: Reference


def read_resource(place: Place, value: Any) -> Resource:
    """Return a resource from an object with one member, named after its kind."""
    if not isinstance(value, dict) or len(value) != 1:
        place.refuse(f"must be an object with one of {', '.join(READERS)}, not {shown(value)}")
    [(kind, members)] = value.items()
    if kind not in READERS:
        (place / kind).refuse(unknown(kind, READERS))
    return READERS[kind](place / kind, members)


def _read_compute(place: Place, value: Any) -> Compute:
    members = Members(place, value, MEMBERS["compute"])
    nothing: tuple[_Attached, ...] = ()
    attached = members.optional("resources", list_of(_read_attached), nothing)
    return Compute(
        name=members.required("name", read_name, ""),
        description=members.optional("description", read_text, ""),
        instance_type=_read_instance_type(place, members),
        locations=members.optional("locations", list_of(read_name), ()),
        constraint=members.optional("constraint", read_text, None),
        count=members.optional("min", read_count, 1),
        host=members.optional("host", read_name, None),
        cluster=members.optional("cluster", read_name, None),
        storages=tuple(one.reference for one in attached if one.kind == "storage"),
        networks=tuple(one.reference for one in attached if one.kind == "network"),
        contexts=members.optional("contexts", _read_contexts, {}),
        after=members.optional("after", list_of(read_name), ()),
        metrics=members.optional("metrics", list_of(_read_metric), ()),
        reserved=members.optional("reserved", list_of(read_name), ()),
        timeline=members.optional("timeline", list_of(_read_entry), None),
    )


def _read_storage(place: Place, value: Any) -> Storage:
    members = Members(place, value, MEMBERS["storage"])
    return Storage(
        name=members.required("name", read_name, ""),
        location=members.required("location", read_name, ""),
        size=members.required("size", read_number, 1.0),
        description=members.optional("description", read_text, ""),
        persistent=members.optional("persistent", read_truth, default=False),
        after=members.optional("after", list_of(read_name), ()),
    )


def _read_network(place: Place, value: Any) -> Network:
    members = Members(place, value, MEMBERS["network"])
    return Network(
        name=members.required("name", read_name, ""),
        location=members.required("location", read_name, ""),
        description=members.optional("description", read_text, ""),
        address=members.optional("address", read_address, None),
        size=members.optional("size", read_count, None),
        after=members.optional("after", list_of(read_name), ()),
    )


def _read_site_link(place: Place, value: Any) -> SiteLink:
    members = Members(place, value, MEMBERS["site_link"])
    return SiteLink(
        name=members.required("name", read_name, ""),
        endpoints=members.required("endpoints", pair_of(read_name), ("", "")),
        bandwidth=members.required("bandwidth", read_number, 1.0),
        description=members.optional("description", read_text, ""),
        after=members.optional("after", list_of(read_name), ()),
    )


def _read_router(place: Place, value: Any) -> Router:
    members = Members(place, value, MEMBERS["router"])
    return Router(
        name=members.required("name", read_name, ""),
        location=members.required("location", read_name, ""),
        networks=members.required("networks", list_of(read_reference), ()),
        description=members.optional("description", read_text, ""),
        after=members.optional("after", list_of(read_name), ()),
    )


#: Kind of resource, the name of its member -> reader of the member's value.
READERS: Final[Mapping[str, Reader[Resource]]] = {
    "compute": _read_compute,
    "storage": _read_storage,
    "network": _read_network,
    "site_link": _read_site_link,
    "router": _read_router,
}


def _read_instance_type(place: Place, members: Members) -> str | InstanceType:
    """Return the name of a type, or the capacity given with the type `custom`."""
    name = members.optional("instanceType", read_name, "small")
    if name == CUSTOM:
        return InstanceType(*(members.required(member, read_number, 1.0) for member in CAPACITY))
    for member in CAPACITY:
        if members.optional(member, read_number, None) is not None:
            (place / member).note(f'needs "instanceType": "{CUSTOM}"')
    return name


def _read_attached(place: Place, value: Any) -> _Attached:
    """Return a reference of a compute from an object with one member, `storage` or `network`."""
    if not isinstance(value, dict) or len(value) != 1:
        place.refuse(f"must be an object with one of storage, network, not {shown(value)}")
    [(kind, name)] = value.items()
    if kind not in ("storage", "network"):
        (place / kind).refuse(unknown(kind, ("storage", "network")))
    return _Attached(kind, read_reference(place / kind, name))


def _read_contexts(place: Place, value: Any) -> Mapping[str, str | AddressOf]:
    """Return the contexts of a list of objects; keys must not be repeated (M38)."""
    if not isinstance(value, list):
        place.refuse(f"must be a list of objects, not {shown(value)}")
    found = dict[str, str | AddressOf]()
    for index, pairs in enumerate(value):
        if not isinstance(pairs, dict):
            place[index].note(f"must be an object of keys and texts, not {shown(pairs)}")
            continue
        for key, text in pairs.items():
            inside = place[index] / key
            if key in found:
                inside.note("is given twice")
                continue
            try:
                found[read_name(inside, key)] = read_context(inside, text)
            except RefusedValueError:
                continue
    return found


def _read_metric(place: Place, value: Any) -> Metric:
    members = Members(place, value, METRIC_MEMBERS)
    return Metric(
        members.required("name", read_name, ""),
        members.required("command", read_text, ""),
        members.required("rate", read_number, 1.0),
    )


def _read_entry(place: Place, value: Any) -> Mapping[str, Any]:
    """Return an entry of a timeline; its members are read later, with those of all others in the experiment."""
    return value if isinstance(value, dict) else place.refuse(f"must be an object, not {shown(value)}")

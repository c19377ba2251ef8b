"""The format of testbeds: locations with their delays and catalogues, and types of instances (M33)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from batsched_py.errors import ConfigurationError, Fault
from batsched_py.experiments.faults import EnoughFaultsError, Place, RefusedValueError
from batsched_py.experiments.model import InstanceType
from batsched_py.experiments.parsing.members import Members, list_of, mapping_of
from batsched_py.experiments.parsing.quantities import read_delay, read_name, read_number
from batsched_py.experiments.parsing.resources import CAPACITY, READERS
from batsched_py.experiments.testbed import DEFAULT, INSTANCE_TYPES, Location, Testbed

LOCATION_MEMBERS: Final = ("creation_delay", "address_delay", "storages", "networks")


def parse_testbed(file: str, document: Mapping[str, Any]) -> Testbed:
    """Return the testbed of a document; ConfigurationError names the file, and the first invalid member."""
    faults = list[Fault]()
    testbed = Testbed()
    try:
        members = Members(Place(faults), document, Testbed.__struct_fields__)
        testbed = Testbed(
            locations=members.optional("locations", mapping_of(_read_location, read_name), None),
            instance_types=members.optional("instance_types", mapping_of(_read_type, read_name), INSTANCE_TYPES),
        )
    except (RefusedValueError, EnoughFaultsError):
        pass  # the faults are in the list
    if faults:
        raise ConfigurationError(file, *faults[0], faults[1:])
    return testbed


def _read_location(place: Place, value: Any) -> Location:
    members = Members(place, value, LOCATION_MEMBERS)
    return Location(
        creation_delay=members.optional("creation_delay", _read_delays, {}),
        address_delay=members.optional("address_delay", read_delay, 0.0),
        storages=members.optional("storages", _read_names, None),
        networks=members.optional("networks", _read_names, None),
    )


def _read_delays(place: Place, value: Any) -> Mapping[str, float]:
    """Return delays by kind of resource; a number is the delay of all kinds."""
    if not isinstance(value, dict):
        return {DEFAULT: read_delay(place, value)}
    members = Members(place, value, (*READERS, DEFAULT))
    return {kind: members.optional(kind, read_delay, 0.0) for kind in value if kind in READERS or kind == DEFAULT}


def _read_names(place: Place, value: Any) -> frozenset[str] | None:
    return frozenset(name.removeprefix("@") for name in list_of(read_name)(place, value))


def _read_type(place: Place, value: Any) -> InstanceType:
    members = Members(place, value, CAPACITY)
    return InstanceType(*(members.required(member, read_number, 1.0) for member in CAPACITY))

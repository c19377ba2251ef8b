"""The testbed of experiments: locations with their catalogues and delays, and types of instances (M33).

Without a configuration it has BonFIRE's types of instances, and any location with an unknown catalogue.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.experiments.model import KINDS, InstanceType, Resource

#: The key of the default creation delay.
DEFAULT: Final = "default"
#: Default types of instances.
INSTANCE_TYPES: Final[Mapping[str, InstanceType]] = {
    "lite": InstanceType(cpu=0.5, vcpu=1, memory=256),
    "small": InstanceType(cpu=1, vcpu=1, memory=1024),
    "medium": InstanceType(cpu=2, vcpu=2, memory=2048),
    "large": InstanceType(cpu=2, vcpu=4, memory=4096),
}


class Location(Struct, frozen=True):
    """A location of a testbed.

    Attributes:
        creation_delay: seconds from the request for a resource until it exists, by kind of resource; `default` for all
            others.
        address_delay: seconds from a compute's creation until its address is known.
        storages: names of existing storages; None if unknown.
        networks: names of existing networks; None if unknown.
    """

    creation_delay: Mapping[str, float] = msgspec.field(default_factory=dict)
    address_delay: float = 0.0
    storages: frozenset[str] | None = None
    networks: frozenset[str] | None = None

    def delay(self, kind: type[Resource]) -> float:
        """Return the creation delay of a resource in seconds."""
        return self.creation_delay.get(KINDS[kind], self.creation_delay.get(DEFAULT, 0.0))


class Testbed(Struct, frozen=True):
    """The locations, and the types of instances.

    Attributes:
        locations: locations by name; None if any name is a location.
        instance_types: types by name.
    """

    locations: Mapping[str, Location] | None = None
    instance_types: Mapping[str, InstanceType] = msgspec.field(default_factory=lambda: INSTANCE_TYPES)

    def with_storages(self, storages: Iterable[tuple[str, str | None]]) -> Testbed:
        """Return the testbed with further storages (names and locations) in known catalogues."""
        locations = dict(self.locations or {})
        for name, location in storages:
            known = locations.get(location or "")
            if location is not None and known is not None and known.storages is not None:
                locations[location] = replace(known, storages=known.storages | {name})
        return replace(self, locations=locations) if locations else self

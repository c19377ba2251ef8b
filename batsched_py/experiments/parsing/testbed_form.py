"""The format of testbeds: locations with their delays and catalogues, and types of instances (M33)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from batsched_py.errors import ConfigurationError
from batsched_py.experiments.model import InstanceType
from batsched_py.experiments.parsing.quantities import DELAY, NAME, NAMES
from batsched_py.experiments.parsing.resources import CAPACITY, READERS
from batsched_py.experiments.testbed import DEFAULT, Location, Testbed
from batsched_py.reading.objects import mapping_of, members_of, object_of, read_whole
from batsched_py.reading.values import Reader, by_type

_NAMES: Final = NAMES.then(lambda names: frozenset(name.removeprefix("@") for name in names))
#: Delays by kind of resource; a number is the delay of all kinds.
_DELAYS: Final[Reader[Mapping[str, float]]] = by_type(
    "a number of seconds, or an object of them",
    {
        float: DELAY.then(lambda delay: {DEFAULT: delay}),
        dict: members_of(dict.fromkeys((*READERS, DEFAULT), DELAY)),
    },
)
LOCATION: Final[Mapping[str, Reader[Any]]] = {
    "creation_delay": _DELAYS,
    "address_delay": DELAY,
    "storages": _NAMES,
    "networks": _NAMES,
}
_TESTBED: Final = object_of(
    Testbed,
    {
        "locations": mapping_of(object_of(Location, LOCATION), NAME),
        "instance_types": mapping_of(object_of(InstanceType, CAPACITY, CAPACITY), NAME),
    },
)


def parse_testbed(file: str, document: Mapping[str, Any]) -> Testbed:
    """Return the testbed of a document; ConfigurationError names the file, and each invalid member."""
    return read_whole(_TESTBED, document, ConfigurationError, file)

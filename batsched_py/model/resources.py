"""Resources of hosts and leases by type, and their texts: "100", "100+100" for two instances, "CPU:100 Memory:1024"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from batsched_py.text.display import shown

#: The quantity of one type: a number, or one for each instance, such as two CPUs of 100 each.
Quantity = float | tuple[float, ...]
#: Quantities by type.
Resources = Mapping[str, Quantity]

#: Types that every host has, by Haizea's names: in percent of one CPU, and in MB.
CPU: Final = "CPU"
MEMORY: Final = "Memory"
#: Type -> its name in Batsim's files, in a host's properties and in the lease of a job: other names are unchanged.
HOST_PROPERTIES: Final = {CPU: "cpu", MEMORY: "mem"}
JSON_NAMES: Final = {CPU: "cpu", MEMORY: "memory"}
#: The property of a host with the types that have no property.
OTHERS: Final = "capacity"
#: Types of which each host has plenty in Haizea, unless the amount is specified.
PLENTY: Final = {"Disk": 1_000_000, "Net-in": 1_000_000, "Net-out": 1_000_000}

#: Names that have another meaning in the same place as types.
_TAKEN: Final = frozenset({"count", *HOST_PROPERTIES.values(), *JSON_NAMES.values()})
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NUMBER: Final = re.compile(r"\d{1,15}(\.\d{1,9})?", re.ASCII)


def check_type(name: str) -> None:
    """Raise ValueError with the rule that the name of a type violates."""
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"must be a type of letters, digits and - . _, that begins with a letter, not {shown(name)}")
    if name in _TAKEN:
        raise ValueError(f"must not be a type named {name}; there are {CPU} and {MEMORY}")


def read_quantity(text: str) -> Quantity:
    """Parse "100", or "100+100" (or "100,100") for instances; ValueError names the rule."""
    pieces = text.replace(",", "+").split("+")
    if any(_NUMBER.fullmatch(piece) is None or float(piece) <= 0 for piece in pieces):
        raise ValueError(f"must be a number above 0, or several with + between them, not {shown(text)}")
    amounts = tuple(float(piece) if "." in piece else int(piece) for piece in pieces)
    return amounts if len(amounts) > 1 else amounts[0]


def format_quantity(quantity: Quantity) -> str:
    """Return the text that `read_quantity` parses."""
    amounts = quantity if isinstance(quantity, tuple) else (quantity,)
    return "+".join(str(int(amount)) if float(amount).is_integer() else repr(amount) for amount in amounts)


def read_resources(text: str) -> dict[str, Quantity]:
    """Parse "CPU:100 Memory:1024" (or commas between the pairs); ValueError names the rule."""
    found: dict[str, Quantity] = {}
    for pair in text.replace(",", " ").split():
        name, colon, amount = pair.partition(":")
        if not colon:
            raise ValueError(f"must be pairs like {CPU}:100, not {shown(pair)}")
        check_type(name)
        if name in found:
            raise ValueError(f"has {name} twice")
        try:
            found[name] = read_quantity(amount)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
    return found


def format_resources(resources: Resources) -> str:
    """Return the text that `read_resources` parses."""
    return " ".join(f"{name}:{format_quantity(quantity)}" for name, quantity in resources.items())


def host_properties(resources: Resources) -> dict[str, str]:
    """Return the properties for a host's resources in a platform file."""
    properties = {name: format_quantity(resources[kind]) for kind, name in HOST_PROPERTIES.items() if kind in resources}
    others = {kind: quantity for kind, quantity in resources.items() if kind not in HOST_PROPERTIES}
    return {**properties, OTHERS: format_resources(others)} if others else properties

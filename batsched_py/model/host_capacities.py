"""Capacities of hosts, read from the properties of hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from batsched_py.model.demand import MOST_GPUS, WHOLE, HostCapacity
from batsched_py.model.resources import CPU, HOST_PROPERTIES, MEMORY, OTHERS, Quantity, read_quantity, read_resources
from batsched_py.text.display import shown

#: Properties of a host: its number of GPUs, and their model.
_GPUS: Final = "gpus"
_MODEL: Final = "gpu_model"
#: The property of hosts, or of their zones, with the licences of the whole machine.
LICENCES: Final = "licences"


def read_capacity(properties: Mapping[str, Any], cores: int = 1) -> HostCapacity:
    """Return the capacity of a host with these properties; ValueError names the property and the rule.

    The properties are `cpu` (percent of one core; default: all cores), `mem` (MiB), `gpus`, `gpu_model`, and
    `capacity` for others, as "fpga:2 nvme:800". Amounts are rounded down. What no property states is not there.
    """
    described = {name: str(value) for name, value in properties.items()}
    cpu, memory = (_amount(described, HOST_PROPERTIES[kind]) for kind in (CPU, MEMORY))
    gpus = described.get(_GPUS, "0")
    if not (gpus.isascii() and gpus.isdecimal() and len(gpus) <= len(str(MOST_GPUS)) and int(gpus) <= MOST_GPUS):
        raise ValueError(f"{_GPUS}: must be a whole number from 0 to {MOST_GPUS}, not {shown(gpus)}")
    try:
        others = read_resources(described.get(OTHERS, ""))
    except ValueError as error:
        raise ValueError(f"{OTHERS}: {error}") from None
    amounts = ((name, int(_total(quantity))) for name, quantity in sorted(others.items()))
    return HostCapacity(
        cores=cores * WHOLE if cpu is None else int(cpu * WHOLE / 100),
        memory=int(memory or 0),
        gpus=int(gpus),
        model=described.get(_MODEL, ""),
        others=tuple((name, amount) for name, amount in amounts if amount),
    )


def host_capacity(properties: Mapping[str, Any], zone_properties: Mapping[str, Any], cores: int) -> HostCapacity:
    """Return the capacity of a host, whose own properties have precedence over those of its zones. ValueError."""
    return read_capacity({**zone_properties, **properties} if zone_properties else properties, cores)


def machine_licences(described: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> dict[str, int]:
    """Return the numbers of licences by name, from the property `licences` of hosts or zones, as "matlab:4 ansys:2".

    `described` has the properties of each host, and those of its zones. ValueError if hosts have different numbers.
    """
    found: dict[str, int] = {}
    seen = set[str]()
    for properties, zone_properties in described:
        text = str(properties.get(LICENCES, zone_properties.get(LICENCES, "")))
        if text in seen:
            continue
        seen.add(text)
        try:
            numbers = {name: int(_total(quantity)) for name, quantity in read_resources(text).items()}
        except ValueError as error:
            raise ValueError(f"{LICENCES}: {error}") from None
        for name, number in numbers.items():
            if found.setdefault(name, number) != number:
                raise ValueError(f"{LICENCES}: must have the same number of {name} on all hosts, not {number}")
    return found


def _amount(properties: Mapping[str, str], name: str) -> float | None:
    """Return the amount of a property, None if it is absent; ValueError."""
    if name not in properties:
        return None
    try:
        return _total(read_quantity(properties[name]))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _total(quantity: Quantity) -> float:
    return sum(quantity) if isinstance(quantity, tuple) else quantity

"""Attributes of hosts for queries: those of their platform, and those that a run computes (L36)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from batsched_py.model.platform import DEFAULT_MASTER, Platform
from batsched_py.queries.values import Number, Value, parse_number

#: Dynamic attributes: they do not decide whether a host can ever satisfy a query (L25).
DYNAMIC: Final = frozenset({"load", "free_cpu", "free_mem", "free_space", "next_free", "jobs", "up", "pstate"})
#: Kinds of resources: hosts run jobs, vaults store their data.
HOST, VAULT = "host", "vault"
#: Default CPU of a host, in percent of one CPU, and default memory, in MB.
_CPU: Final = 100
_MEMORY: Final = 1024
_NO_IDENTIFIER: Final = re.compile(r"[^A-Za-z0-9_]")


def host_attributes(
    number: int, name: str, properties: Mapping[str, object], zone: Mapping[str, object], kind: str = HOST
) -> dict[str, Value]:
    """Return the static attributes of a host: `zone_x` is a property x of its zone.

    Characters of a property's name that are invalid in attributes become underscores; properties do not override `id`,
    `name` and `kind`.
    """
    found = {f"zone_{_identifier(key)}": str(value) for key, value in zone.items()}
    found |= {_identifier(key): str(value) for key, value in properties.items()}
    return {**found, "id": number, "name": name, "kind": kind}


def idle_attributes(static: Mapping[str, Value]) -> dict[str, Value]:
    """Return the dynamic attributes of an idle resource."""
    if static["kind"] == VAULT:
        space = number_of(static, "size", 0)
        return {"space": space, "free_space": space, "up": True}
    return {
        "load": 0.0,
        "free_cpu": number_of(static, "cpu", _CPU),
        "free_mem": number_of(static, "mem", _MEMORY),
        "next_free": 0.0,
        "jobs": 0,
        "up": True,
    }


def platform_records(platform: Platform, master: str = DEFAULT_MASTER) -> Iterator[tuple[str, dict[str, Value]]]:
    """Iterate over names and attributes of a platform's hosts, all idle, in the order of Batsim's numbers."""
    hosts = [(host, HOST) for host in platform.compute_hosts(master)]
    for number, (host, kind) in enumerate([*hosts, *((host, VAULT) for host in platform.storage_hosts(master))]):
        static = host_attributes(number, host.name, host.properties, host.zone_properties, kind)
        pstate: dict[str, Value] = {"pstate": host.pstate} if kind == HOST else {}
        yield host.name, {**static, **idle_attributes(static), **pstate}


def _identifier(name: str) -> str:
    return _NO_IDENTIFIER.sub("_", name)


def number_of(attributes: Mapping[str, Value], name: str, usual: Number) -> Number:
    """Return an attribute as a number; `usual` if it is not numeric."""
    found = parse_number(str(attributes.get(name, "")))
    return usual if found is None else found

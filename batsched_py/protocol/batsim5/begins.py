"""SimulationBeginsEvent of Batsim 5. Features are requested in the greeting; the event does not contain them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from batsched_py.protocol.batsim5.profiles import read_profile, write_profile
from batsched_py.protocol.begins import check_apart, check_count, read_numbered
from batsched_py.protocol.events import DescribedHost, SimulationBegins
from batsched_py.protocol.fields import Data, array, rest, text
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

_MEMBERS: Final = frozenset(
    {
        "host_number",
        "computation_host_number",
        "computation_hosts",
        "storage_host_number",
        "storage_hosts",
        "workloads",
        "profiles",
    }
)
_HOST_MEMBERS: Final = frozenset({"id", "name", "state", "properties", "zone_properties"})


def read_begins(timestamp: float, data: Data) -> SimulationBegins:
    """Read the hosts, the workloads and, if they were requested, the profiles."""
    hosts, storages = _read_hosts(data, "computation_hosts"), _read_hosts(data, "storage_hosts")
    check_apart(hosts, storages, "storage_hosts")
    check_count(data, "computation_host_number", len(hosts))
    check_count(data, "storage_host_number", len(storages))
    check_count(data, "host_number", len(hosts) + len(storages))
    return SimulationBegins(
        timestamp,
        hosts,
        storages,
        workloads=_read_pairs(data, "workloads", "name", "filename"),
        profiles=_read_profiles(data),
        extra=rest(data, _MEMBERS),
    )


def write_begins(event: SimulationBegins) -> dict[str, Any]:
    """Write the form that `read_begins` reads."""
    extra = dict(event.extra)
    head: dict[str, Any] = {
        name: extra.pop(name) for name in ("batprotocol_version", "batsim_version", "batsim_commit") if name in extra
    }
    return {
        **head,
        "host_number": len(event.resources) + len(event.storages),
        "computation_host_number": len(event.resources),
        "computation_hosts": [_write_host(host) for host in event.resources],
        "storage_host_number": len(event.storages),
        "storage_hosts": [_write_host(host) for host in event.storages],
        **extra,
        "workloads": [{"name": name, "filename": file} for name, file in event.workloads.items()],
        "profiles": [
            write_profile(workload, name, members)
            for workload, profiles in event.profiles.items()
            for name, members in profiles.items()
        ],
    }


def count_hosts(data: Data) -> int:
    """Count the listed hosts, before they are validated."""
    lists = (data.get("computation_hosts"), data.get("storage_hosts"))
    return sum(len(hosts) for hosts in lists if type(hosts) is list)


def _read_hosts(data: Data, key: str) -> tuple[DescribedHost, ...]:
    return read_numbered(data, key, count_hosts(data), _read_host) if key in data else ()


def _read_host(number: int, item: Data) -> DescribedHost:
    return DescribedHost(
        number,
        text(item, "name"),
        text(item, "state").lower(),
        _read_pairs(item, "properties", "key", "value"),
        _read_pairs(item, "zone_properties", "key", "value"),
        rest(item, _HOST_MEMBERS),
    )


def _write_host(host: DescribedHost) -> dict[str, Any]:
    return {
        "id": host.id,
        "name": host.name,
        "state": host.state.upper(),
        "properties": _write_pairs(host.properties),
        "zone_properties": _write_pairs(host.zone_properties or {}),
        **host.extra,
    }


def _read_pairs(data: Data, key: str, name: str, value: str) -> dict[str, str]:
    """Read a list of objects that each have a name and a text; [] if it is absent."""
    pairs = {}
    for position, item in enumerate(array(data, key) if key in data else ()):
        if type(item) is not dict or type(item.get(name)) is not str or type(item.get(value)) is not str:
            raise FieldError(f"{key}[{position}]", f"must be an object with {name} and {value}, not {shown(item)}")
        pairs[item[name]] = item[value]
    return pairs


def _write_pairs(pairs: Mapping[str, Any]) -> list[dict[str, str]]:
    return [{"key": key, "value": str(value)} for key, value in pairs.items()]


def _read_profiles(data: Data) -> Mapping[str, Mapping[str, Data]]:
    profiles: dict[str, dict[str, Data]] = {}
    for position, item in enumerate(array(data, "profiles") if "profiles" in data else ()):
        workload, name, members = read_profile(item, f"profiles[{position}]")
        profiles.setdefault(workload, {})[name] = members
    return profiles

"""SIMULATION_BEGINS and its configuration, in both spellings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import orjson

from batsched_py.bits import MAX_HOST
from batsched_py.protocol.events import Config, DescribedHost, SimulationBegins
from batsched_py.protocol.fields import Data, array, boolean, integer, mapping, optional_mapping, rest, text
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

# The first message is the only one whose reading depends on itself: its members show which version speaks, and its
# hosts bound the numbers in all later messages. Numbers of hosts may have gaps, as Batsim allows, but a set of hosts
# costs a bit for each number below its highest, so that gaps are limited in proportion to the number of hosts
# (`_SPREAD`).
#
# The configuration is read by tables, from attribute to key, in both spellings. Its members are kept as they came,
# since algorithms may read what this program does not know.

#: Upper bounds of host numbers: the first, or this multiple of the number of hosts. Gaps are legal, but a set takes a
#: bit for each number up to its highest.
_ALWAYS, _SPREAD = 1024, 16
#: Attribute of Config -> key of Batsim 3 and 4, in Batsim 4's order.
_FLAT_KEYS: Final = {
    "redis": "redis-enabled",
    "redis_hostname": "redis-hostname",
    "redis_port": "redis-port",
    "redis_prefix": "redis-prefix",
    "profiles_forwarded": "profiles-forwarded-on-submission",
    "dynamic_jobs": "dynamic-jobs-enabled",
    "dynamic_jobs_acknowledged": "dynamic-jobs-acknowledged",
    "profile_reuse": "profile-reuse-enabled",
    "scheduler_config": "sched-config",
    "forward_unknown_events": "forward-unknown-events",
}
#: Attribute of Config -> key of Batsim 1's object `redis`.
_REDIS_KEYS: Final = {
    "redis": "enabled",
    "redis_hostname": "hostname",
    "redis_port": "port",
    "redis_prefix": "prefix",
}
#: Members of a configuration that are read, in any spelling.
CONFIG_MEMBERS: Final = frozenset({*_FLAT_KEYS.values(), "redis", "job_submission"})
_DEFAULTS: Final = Config()
#: Type of an attribute -> reader of its member.
_READERS: Final[Mapping[type, Callable[[Data, str], Any]]] = {bool: boolean, int: integer, str: text}
_RESOURCE_MEMBERS: Final = frozenset({"id", "name", "state", "properties", "zone_properties"})
_V14_MEMBERS: Final = frozenset({"nb_resources", "allow_time_sharing", "config", "resources_data"})
_V4_MEMBERS: Final = frozenset(
    {
        "nb_resources",
        "nb_compute_resources",
        "nb_storage_resources",
        "allow_compute_sharing",
        "allow_storage_sharing",
        "config",
        "compute_resources",
        "storage_resources",
        "workloads",
        "profiles",
    }
)


def read_v4(timestamp: float, data: Data) -> SimulationBegins:
    """Read the flat form of Batsim 3 and 4."""
    resources = _read_resources(data, "compute_resources")
    storages = _read_resources(data, "storage_resources") if "storage_resources" in data else ()
    check_apart(resources, storages, "storage_resources")
    check_count(data, "nb_compute_resources", len(resources))
    check_count(data, "nb_storage_resources", len(storages))
    check_count(data, "nb_resources", len(resources) + len(storages))
    return SimulationBegins(
        timestamp,
        resources,
        storages,
        boolean(data, "allow_compute_sharing", False),
        boolean(data, "allow_storage_sharing", True),
        read_flat_config(mapping(data, "config")),
        _read_workloads(optional_mapping(data, "workloads") or {}),
        _read_profiles(optional_mapping(data, "profiles") or {}),
        rest(data, _V4_MEMBERS),
    )


def write_v4(event: SimulationBegins) -> dict[str, Any]:
    """Write the form that `read_v4` reads, members in Batsim's order."""
    return {
        "nb_resources": len(event.resources) + len(event.storages),
        "nb_compute_resources": len(event.resources),
        "nb_storage_resources": len(event.storages),
        "allow_compute_sharing": event.compute_sharing,
        "allow_storage_sharing": event.storage_sharing,
        "config": event.config.members or write_flat_config(event.config),
        "compute_resources": [_write_resource(resource) for resource in event.resources],
        "storage_resources": [_write_resource(resource) for resource in event.storages],
        "workloads": dict(event.workloads),
        "profiles": {workload: dict(profiles) for workload, profiles in event.profiles.items()},
        **event.extra,
    }


def read_v14(timestamp: float, data: Data) -> SimulationBegins:
    """Read the seed document's form: one list of resources, nested configuration, no workloads, no profiles."""
    resources = _read_resources(data, "resources_data")
    check_count(data, "nb_resources", len(resources))
    return SimulationBegins(
        timestamp,
        resources,
        compute_sharing=boolean(data, "allow_time_sharing", False),
        config=read_nested_config(mapping(data, "config")),
        extra=rest(data, _V14_MEMBERS),
    )


def write_v14(event: SimulationBegins) -> dict[str, Any]:
    """Write the form that `read_v14` reads."""
    return {
        "nb_resources": len(event.resources),
        "allow_time_sharing": event.compute_sharing,
        "config": event.config.members or write_nested_config(event.config),
        "resources_data": [_write_resource(resource) for resource in event.resources],
        **event.extra,
    }


def read_flat_config(data: Data) -> Config:
    """Read kebab-case keys (Batsim 3 and 4); absent ones have Batsim's defaults, unknown ones stay in `members`."""
    return _read_config(data, {name: (data, key) for name, key in _FLAT_KEYS.items()})


def write_flat_config(config: Config) -> dict[str, Any]:
    """Write all keys, in Batsim 4's order."""
    return {key: getattr(config, name) for name, key in _FLAT_KEYS.items()}


def read_nested_config(data: Data) -> Config:
    """Read the `redis` and `job_submission` objects of v1.4; acknowledgement is on unless switched off."""
    redis = optional_mapping(data, "redis") or {}
    submission = optional_mapping(data, "job_submission") or {}
    dynamic = optional_mapping(submission, "from_scheduler") or {}
    members = {
        **{name: (redis, key) for name, key in _REDIS_KEYS.items()},
        "profiles_forwarded": (submission, "forward_profiles"),
        "dynamic_jobs": (dynamic, "enabled"),
        "dynamic_jobs_acknowledged": ({"acknowledge": True, **dynamic}, "acknowledge"),
        "scheduler_config": ({"sched-config": _options_text(data)}, "sched-config"),
    }
    return _read_config(data, members)


def write_nested_config(config: Config) -> dict[str, Any]:
    """Write the two objects of v1.4; the algorithm's options are a key of their own."""
    own = {"sched-config": config.scheduler_config} if config.scheduler_config else {}
    return {
        "redis": {key: getattr(config, name) for name, key in _REDIS_KEYS.items()},
        "job_submission": {
            "forward_profiles": config.profiles_forwarded,
            "from_scheduler": {"enabled": config.dynamic_jobs, "acknowledge": config.dynamic_jobs_acknowledged},
        },
        **own,
    }


def count_resources(data: Data) -> int:
    """Count the listed hosts and storages, in either dialect, before they are validated."""
    lists = [data.get(key) for key in ("compute_resources", "storage_resources", "resources_data")]
    return sum(len(items) for items in lists if type(items) is list)


def highest_of(count: int) -> int:
    """Return the highest allowed host number for `count` hosts."""
    return min(MAX_HOST, max(_ALWAYS, _SPREAD * count) - 1)


def read_numbered(
    data: Data, key: str, count: int, read: Callable[[int, Data], DescribedHost]
) -> tuple[DescribedHost, ...]:
    """Read a list of resources in any dialect; `read` is called with the number and the members of each.

    Numbers must be unique, and within the bound for `count` resources.
    """
    resources: dict[int, DescribedHost] = {}
    highest = highest_of(count)
    for position, item in enumerate(array(data, key)):
        try:
            number = _read_number(item, highest)
            if number in resources:
                raise FieldError("id", f"must be unique; {number} stands here again")
            resources[number] = read(number, item)
        except FieldError as error:
            raise FieldError(f"{key}[{position}].{error.path}", error.rule) from None
    return tuple(resources.values())


def check_apart(resources: Iterable[DescribedHost], storages: Iterable[DescribedHost], key: str) -> None:
    """Require that no storage in the list `key` has the number of a host."""
    shared = {resource.id for resource in resources} & {storage.id for storage in storages}
    if shared:
        raise FieldError(key, f"must have ids of their own, not those of hosts: {sorted(shared)}")


def check_count(data: Data, key: str, count: int) -> None:
    """Require that a given number of resources equals the number of listed ones."""
    if key in data and integer(data, key) != count:
        raise FieldError(key, f"must be {count}, the number of resources listed, not {data[key]}")


def _read_config(data: Data, members: Mapping[str, tuple[Data, str]]) -> Config:
    """Read attributes of a Config, each from a member of an object; absent members have their defaults."""
    found = {
        name: _READERS[type(getattr(_DEFAULTS, name))](holder, key)
        for name, (holder, key) in members.items()
        if key in holder
    }
    return Config(**found, members=data)


def _options_text(data: Data) -> Any:
    """Return the algorithm's options: a text, or in a configuration file of Batsim 1 the object itself, as JSON."""
    options = data.get("sched-config", "")
    if type(options) is not dict:
        return options
    try:
        return orjson.dumps(options).decode()
    except TypeError:  # orjson reads deeper objects than it writes
        raise FieldError("sched-config", "nests too deeply") from None


def _read_number(item: Any, highest: int) -> int:
    if type(item) is not dict:
        raise FieldError("id", f"must be inside an object, not {shown(item)}")
    number = integer(item, "id")
    if not 0 <= number <= highest:
        raise FieldError("id", f"must be between 0 and {highest}, of so many hosts, not {number}")
    return number


def _read_resources(data: Data, key: str) -> tuple[DescribedHost, ...]:
    return read_numbered(data, key, count_resources(data), _read_resource)


def _read_resource(number: int, item: Data) -> DescribedHost:
    return DescribedHost(
        number,
        text(item, "name"),
        text(item, "state"),
        optional_mapping(item, "properties") or {},
        optional_mapping(item, "zone_properties"),
        rest(item, _RESOURCE_MEMBERS),
    )


def _write_resource(resource: DescribedHost) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": resource.id,
        "name": resource.name,
        "state": resource.state,
        "properties": dict(resource.properties),
    }
    if resource.zone_properties is not None:
        item["zone_properties"] = dict(resource.zone_properties)
    return {**item, **resource.extra}


def _read_workloads(data: Data) -> Mapping[str, str]:
    return {workload: text(data, workload) for workload in data}


def _read_profiles(data: Data) -> Mapping[str, Mapping[str, Data]]:
    for workload in data:
        profiles = mapping(data, workload)
        for name in profiles:
            mapping(profiles, name)
    return data

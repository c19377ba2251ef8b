"""The opening: SIMULATION_BEGINS as Batsim 4.2.1 or 1.4.0 writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from batsched_py.model.platform import PlatformHost
from batsched_py.protocol.events import Config, Resource, SimulationBegins
from batsched_py.simulator.jobs.profiles import ProfileStore, wire_members
from batsched_py.simulator.settings import Settings


def opening(
    hosts: Sequence[PlatformHost],
    storages: Sequence[PlatformHost],
    profile_store: ProfileStore,
    settings: Settings,
    *,
    stored: bool,
) -> SimulationBegins:
    """Compute hosts, then the storage ones; the configuration; workloads and those of their profiles that jobs need.

    v1.4 has compute hosts alone, with the properties that the platform file gives them.
    `stored`: jobs are described in Redis, not in messages.
    """
    config = _config(settings, stored)
    if settings.is_v14:
        resources = tuple(Resource(number, host.name, "idle", host.properties) for number, host in enumerate(hosts))
        return SimulationBegins(0.0, resources, compute_sharing=settings.compute_sharing, config=config)
    return SimulationBegins(
        0.0,
        tuple(_resources(hosts, 0)),
        tuple(_resources(storages, len(hosts))),
        settings.compute_sharing,
        settings.storage_sharing,
        config=config,
        workloads={name: profiles.source for name, profiles in profile_store.by_workload.items()},
        profiles={
            name: {profile.name: wire_members(profile.members) for profile in profiles.by_name.values()}
            for name, profiles in profile_store.by_workload.items()
        },
    )


def _config(settings: Settings, stored: bool) -> Config:
    return Config(
        redis=stored,
        redis_hostname=settings.redis_hostname,
        redis_port=settings.redis_port,
        redis_prefix=settings.redis_prefix,
        profiles_forwarded=settings.forward_profiles,
        dynamic_jobs=settings.dynamic_jobs,
        dynamic_jobs_acknowledged=settings.acknowledges,
        profile_reuse=settings.profile_reuse,
        forward_unknown_events=settings.forward_unknown_events,
        scheduler_config=settings.scheduler_config,
    )


def _resources(hosts: Iterable[PlatformHost], first: int) -> Iterable[Resource]:
    """Numbered from `first`; each has a `role`, which is "" for a compute host."""
    for number, host in enumerate(hosts, first):
        properties = {"role": host.role, **{key: value for key, value in host.properties.items() if key != "role"}}
        yield Resource(number, host.name, "idle", properties, dict(host.zone_properties))

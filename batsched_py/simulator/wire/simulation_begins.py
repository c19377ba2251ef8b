"""SIMULATION_BEGINS as Batsim 4.2.1 or 1.4.0 writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from batsched_py.model.platform import PlatformHost
from batsched_py.protocol.events import Config, Resource, SimulationBegins
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.profiles import ProfileStore
from batsched_py.simulator.wire.rounding import wire_members


def build(
    context: Context, hosts: Sequence[PlatformHost], storages: Sequence[PlatformHost], profile_store: ProfileStore
) -> SimulationBegins:
    """Return the event: compute hosts and storage ones, the configuration, workloads and profiles that jobs need.

    Batsim 1.4 has compute hosts alone, with the properties that the platform file gives them.
    """
    settings, config = context.settings, _config(context)
    if not context.generation.describes_workloads:
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


def _config(context: Context) -> Config:
    settings = context.settings
    return Config(
        redis=context.store is not None,
        redis_hostname=settings.redis_hostname,
        redis_port=settings.redis_port,
        redis_prefix=settings.redis_prefix,
        profiles_forwarded=settings.forward_profiles,
        dynamic_jobs=settings.dynamic_jobs,
        dynamic_jobs_acknowledged=context.acknowledges,
        profile_reuse=settings.profile_reuse,
        forward_unknown_events=settings.forward_unknown_events,
        scheduler_config=settings.scheduler_config,
    )


def _resources(hosts: Iterable[PlatformHost], first: int) -> Iterable[Resource]:
    """Return hosts numbered from `first`; each has a `role`, which is "" for a compute host."""
    for number, host in enumerate(hosts, first):
        properties = {"role": host.role, **{key: value for key, value in host.properties.items() if key != "role"}}
        yield Resource(number, host.name, "idle", properties, dict(host.zone_properties))

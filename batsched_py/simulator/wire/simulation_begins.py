"""The event SIMULATION_BEGINS in the form of Batsim 4.2.1 and 1.4.0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import batsched_py
from batsched_py.model.platform import PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.protocol.batsim5.greeting import PROTOCOL_VERSION
from batsched_py.protocol.events import NO_MEMBERS, Config, DescribedHost, SimulationBegins
from batsched_py.protocol.later_ids import LATER_IDS
from batsched_py.protocol.task_gpus import DEMANDS
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.profiles import ProfileStore
from batsched_py.simulator.wire.rounding import wire_members

#: Versions that Batsim 5 reports.
_VERSIONS: Final = {
    "batprotocol_version": PROTOCOL_VERSION,
    "batsim_version": f"batsched-py {batsched_py.__version__}",
    "batsim_commit": "",
    "batsim_execution_context_json": "{}",
}


def build(
    context: Context,
    hosts: Sequence[PlatformHost],
    storages: Sequence[PlatformHost],
    profile_store: ProfileStore,
    *,
    counts: bool = False,
    later_ids: Sequence[str] = (),
) -> SimulationBegins:
    """Return the event: compute and storage hosts, configuration, workloads, and profiles that jobs need.

    If the resources of hosts are counted (`counts`), it says so, and lists ids of jobs that arrive later (`later_ids`);
    Batsim does neither.

    For Batsim 1.4 it contains only compute hosts, with their properties in the platform file.
    """
    settings, config = context.settings, _config(context)
    later = context.generation.greets
    extra: dict[str, Any] = _extra_members(settings) if later else {}
    if counts:
        extra[DEMANDS] = True
    if later_ids:
        extra[LATER_IDS] = list(later_ids)
    if not context.generation.describes_workloads:
        resources = tuple(
            DescribedHost(number, host.name, "idle", host.properties, extra=_cores(host) if counts else NO_MEMBERS)
            for number, host in enumerate(hosts)
        )
        return SimulationBegins(0.0, resources, compute_sharing=settings.compute_sharing, config=config, extra=extra)
    return SimulationBegins(
        0.0,
        tuple(_resources(hosts, 0, later=later, counts=counts)),
        tuple(_resources(storages, len(hosts), later=later)),
        settings.compute_sharing,
        settings.storage_sharing,
        config=config,
        workloads={name: profiles.source for name, profiles in profile_store.by_workload.items()},
        profiles={
            name: {profile.name: wire_members(profile.members) for profile in profiles.by_name.values()}
            for name, profiles in profile_store.by_workload.items()
        },
        extra=extra,
    )


def _extra_members(settings: Settings) -> dict[str, Any]:
    """Return further members for Batsim 5: versions, relevant arguments, and files of external events."""
    files = dict.fromkeys(event.source.rpartition(":")[0] for event in settings.external_events)
    lists = [{"name": f"ee{number}", "filename": file} for number, file in enumerate(files)]
    arguments = ["batsched-py", "simulate", *(["--energy-host"] if settings.energy else [])]
    return {**_VERSIONS, "batsim_arguments": arguments, "external_event_lists": lists}


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


def _cores(host: PlatformHost) -> dict[str, Any]:
    """Return the member that Batsim 5 sends, and earlier versions do not."""
    return {"core_count": host.cores}


def _resources(
    hosts: Iterable[PlatformHost], first: int, *, later: bool, counts: bool = False
) -> Iterable[DescribedHost]:
    """Return hosts numbered from `first`; each has a `role`, which is "" for a compute host.

    In Batsim 5 (`later`) the role is absent rather than empty, and speeds, cores and pstates are included. Cores are
    also included in former versions if they are counted.
    """
    for number, host in enumerate(hosts, first):
        own = {key: value for key, value in host.properties.items() if key != "role"}
        if not later:
            yield DescribedHost(
                number,
                host.name,
                "idle",
                {"role": host.role, **own},
                dict(host.zone_properties),
                extra=_cores(host) if counts else NO_MEMBERS,
            )
            continue
        properties = {"role": host.role, **own} if host.role else own
        extra_members = {"pstate": host.pstate, "pstate_count": len(host.speeds), "core_count": host.cores}
        extra = {**extra_members, "computation_speed": list(host.speeds)}
        yield DescribedHost(number, host.name, "idle", properties, dict(host.zone_properties), extra)

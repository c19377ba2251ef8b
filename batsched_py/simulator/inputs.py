"""The inputs of a simulation: platform, workloads and settings, checked before anything is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from batsched_py.errors import OptionError, PlatformError, WorkloadError
from batsched_py.model.platform import Platform, PlatformHost
from batsched_py.model.replay import Smpi, UsageTrace
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.protocol.dialect import V4
from batsched_py.simulator.contention.messages import MessageDemands
from batsched_py.simulator.contention.simgrid_config import (
    SimgridConfig,
    ignored_items,
    read_simgrid_config,
    refuse_smpi_items,
)
from batsched_py.simulator.generation import Generation, generation_of, workload_names
from batsched_py.simulator.jobs.profiles import ProfileStore
from batsched_py.simulator.machines.external_events import check_events, unread_parts
from batsched_py.simulator.machines.machines import Machines
from batsched_py.simulator.machines.power_model import PowerModel
from batsched_py.simulator.machines.power_properties import read_power_model
from batsched_py.simulator.referee.capacities import check_capacities
from batsched_py.simulator.referee.platform_rules import check_roles, check_speeds, check_ways, stranded_hosts
from batsched_py.simulator.referee.strictness import refused_files, refused_names
from batsched_py.text.wording import counted

REPLAYED_AS_V4: Final = "profiles: traces are replayed by the rules of Batsim 4.2.1, whatever the protocol"
NO_FEEDBACK: Final = "submitted_after of jobs is not obeyed: they are submitted at their times (--feedback changes it)"
NO_FOLLOWERS: Final = "settings: feedback has no effect, because no job has the member submitted_after"
NO_FAILURES: Final = "settings: on_failure has no effect, because no host or link fails"


class Inputs(Struct, frozen=True):
    """The inputs of one simulation, and what their checks have computed.

    Attributes:
        generation: the generation of Batsim.
        platform: with the roles and the loopback of the settings.
        config: of SimGrid.
        computing: the compute hosts, in the order of their numbers.
        storages: the storage hosts, whose numbers follow.
        machines: these hosts, all idle.
        profiles: the profiles of the jobs.
        power: the power models of all hosts; None if energy is not counted.
        messages: the demands of Batsim's own messages; None if they take no time.
        stranded: number of a host -> the error if it has no route to the master host.
        notes: approximations, to which the simulation adds.
        counts: True if a job requests parts of hosts, so that their resources are counted.
    """

    generation: Generation
    platform: Platform
    config: SimgridConfig
    computing: tuple[PlatformHost, ...]
    storages: tuple[PlatformHost, ...]
    machines: Machines
    profiles: ProfileStore
    power: list[PowerModel] | None
    messages: MessageDemands | None
    stranded: Mapping[int, PlatformError]
    notes: set[str]
    counts: bool

    @property
    def hosts(self) -> tuple[PlatformHost, ...]:
        """All hosts, in the order of their numbers."""
        return self.computing + self.storages


def check_inputs(
    platform: Platform,
    workloads: Sequence[Workload],
    settings: Settings,
    *,
    live: bool = False,
    stored: bool = False,
) -> Inputs:
    """Check whether inputs can be simulated; PlatformError, WorkloadError or OptionError.

    With `live` external events arrive during the simulation; with `stored` job descriptions are in a store.
    """
    check_roles(platform, settings.roles, settings.master_host)
    platform = platform.with_roles(settings.roles) if settings.roles else platform
    generation = generation_of(settings)
    _check_settings(settings, generation, live=live, stored=stored)
    if settings.protocol != V4.name and any(workload.workflow is not None for workload in workloads):
        raise OptionError(f"workflows do not go with protocol {settings.protocol}: they are those of Batsim 4.2.1")
    config = read_simgrid_config(settings.simgrid_config, platform)
    platform = platform.with_loopback(config.loopback)
    computing = _compute_hosts(platform, settings, generation)
    check_ways(platform, computing, settings.master_host)
    storages = platform.storage_hosts(settings.master_host)
    notes = _input_notes(platform, workloads, settings)
    fails = settings.external_events or live or (platform.changes and settings.network == "sharing")
    if settings.on_failure != "ignore" and not fails:
        notes.add(NO_FAILURES)
    profiles = ProfileStore(workloads, workload_names(workloads, settings), generation, notes)
    notes.update(refused_names(generation, workloads, profiles))
    replayed = {type(one) for workload in workloads for one in workload.profiles.values()} & {Smpi, UsageTrace}
    if Smpi in replayed:
        refuse_smpi_items(settings.simgrid_config, platform)
    if replayed and settings.protocol != V4.name:
        notes.add(REPLAYED_AS_V4)
    if not (settings.allow_oversized or settings.compute_sharing):  # a shared host may run several executors of one job
        _check_sizes(workloads, len(computing))
    counts = any(workload.has_demands for workload in workloads)
    if counts:
        check_capacities(platform.source, computing)
    machines = Machines(len(computing), len(storages))
    _check_events(settings, generation, machines, notes)
    hosts, messages, power = computing + storages, None, None
    stranded = stranded_hosts(platform, hosts, settings.master_host)
    if settings.message_latency:
        messages = MessageDemands(platform, hosts, settings.master_host, config.tcp_window, stranded)
    if settings.energy or (generation.greets and _all_describe_power(hosts)):
        power = [read_power_model(platform.source, host) for host in hosts]
    check_speeds(platform, computing, power if settings.energy else None)
    return Inputs(
        generation, platform, config, computing, storages, machines, profiles, power, messages, stranded, notes, counts
    )


def _check_settings(settings: Settings, generation: Generation, *, live: bool, stored: bool) -> None:
    """Raise OptionError for settings incompatible with each other, a live simulation, or jobs in Redis."""
    if settings.machines is not None and settings.machines < 1:
        raise OptionError(f"the number of machines must be from 1, not {settings.machines}")
    if settings.on_failure == "requeue" and not generation.waits_for_calls:
        raise OptionError("jobs are requeued in protocol v4 only: in Batsim 1.4 their names are numbers")
    if live and (settings.message_latency or not generation.waits_for_calls):
        raise OptionError("a live simulation speaks protocol v4, and its messages take no time")
    if generation.greets and (live or stored):
        raise OptionError("a live simulation, or jobs in Redis, do not go with protocol v5")


def _input_notes(platform: Platform, workloads: Sequence[Workload], settings: Settings) -> set[str]:
    """Return the approximations that follow from the inputs."""
    approximations = set(refused_files(platform, workloads, settings.master_host))
    if ignored := ignored_items(settings.simgrid_config, platform):
        approximations.add(ignored)
    if settings.feedback != any(workload.has_followers for workload in workloads):
        approximations.add(NO_FOLLOWERS if settings.feedback else NO_FEEDBACK)
    approximations.update(platform.notes, *(workload.notes for workload in workloads))
    return approximations


def _check_events(settings: Settings, generation: Generation, machines: Machines, approximations: set[str]) -> None:
    """Check the external events, and note the parts of them that have no effect. WorkloadError."""
    check_events(settings.external_events, machines.all)
    if generation.fails_machines:
        approximations.update(unread_parts(settings.external_events, forwarded=settings.forward_unknown_events))


def _all_describe_power(hosts: Sequence[PlatformHost]) -> bool:
    """Return whether all hosts describe their power states: Batsim 5 changes them even without energy accounting."""
    computing = [host for host in hosts if host.role != "storage"]
    return all(not {"wattage_per_state", "watt_per_state"}.isdisjoint(host.properties) for host in computing)


def _compute_hosts(platform: Platform, settings: Settings, generation: Generation) -> tuple[PlatformHost, ...]:
    hosts = platform.compute_hosts(settings.master_host)
    hosts = tuple(sorted(hosts, key=lambda host: generation.host_key(host.name)))[: settings.machines]
    if not hosts:
        raise PlatformError(platform.source, "", f"must have a compute host besides the master {settings.master_host}")
    return hosts


def _check_sizes(workloads: Sequence[Workload], host_count: int) -> None:
    for workload in workloads:
        for number, (_, size) in enumerate(workload.requests()):
            if size > host_count and workload.jobs[number].demand is None:
                rule = f"asks for {counted(size, 'host')}, the platform has {host_count}"
                raise WorkloadError(workload.source, f"job {workload.jobs[number].id}.res", rule)

"""Rules of Batsim and SimGrid for platforms: violations stop them before the first job, or at the first message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from batsched_py.errors import PlatformError
from batsched_py.model.graph_zone import GraphZone
from batsched_py.model.platform import ROLES, Platform, PlatformHost
from batsched_py.model.zone import StarZone
from batsched_py.simulator.machines.power_model import PowerModel
from batsched_py.text.display import shown

_MASTER: Final = "master"


def check_roles(platform: Platform, roles: Mapping[str, str], master_host: str) -> None:
    """Raise PlatformError for unknown roles, a host with a second role, and two masters.

    `roles` are those of the command line (-r), to which Batsim adds that of the master host (-m). Batsim appends them
    to the role of the host in the platform, and does not know a role "master,master".
    """
    masters: list[str] = []
    for host in platform.hosts:
        own = host.properties.get("role")
        given = roles.get(host.name, _MASTER if host.name == master_host else None)
        if own is not None and given is not None:
            option = "-r" if host.name in roles else "-m (or its default)"
            rule = f"is {shown(own)} already, and {option} makes it {shown(given)}: Batsim knows no host with two roles"
            raise PlatformError(platform.source, f"host {host.name}.role", rule)
        if own and own not in ROLES:
            rule = f"must be one of {', '.join(ROLES)}, not {shown(own)}"
            raise PlatformError(platform.source, f"host {host.name}.role", rule)
        if (given or own) == _MASTER:
            masters.append(host.name)
    if len(masters) > 1:
        rule = f"is master, and so is {masters[0]}: there must be one (-m, or the role master)"
        raise PlatformError(platform.source, f"host {masters[1]}", rule)


def check_ways(platform: Platform, computing: Sequence[PlatformHost], master_host: str) -> None:
    """Raise PlatformError for zones in which SimGrid finds no route for Batsim's own messages.

    Batsim sends them from the master host to itself, and from the first host of each job to the master host.
    """
    master = platform.master(master_host)
    if master is None:  # reported elsewhere: Batsim stops
        return
    home = platform.zones[platform.zone_of[master.name]]
    for host in (master, *computing):
        zone = platform.zones[platform.zone_of[host.name]]
        if not isinstance(zone, StarZone):
            continue
        if zone.is_empty and (host is master or zone is home):
            rule = "has the routing None, in which SimGrid finds no way for Batsim's messages to its master host"
            raise PlatformError(platform.source, f"zone {zone.name}", f"{rule} {master.name}: use Full or Vivaldi")
        if zone.coordinates is not None and host.name not in zone.coordinates:
            rule = "is missing: a host of a zone of routing Vivaldi needs three, without which SimGrid stops"
            raise PlatformError(platform.source, f"host {host.name}.coordinates", rule)


def stranded_hosts(platform: Platform, hosts: Sequence[PlatformHost], master_host: str) -> dict[int, PlatformError]:
    """Return the numbers of the hosts from which SimGrid finds no route to the master host, each with its error.

    Batsim stops, crashes or hangs when it sends its message about a job of which such a host is the first; hosts
    without jobs do no harm. PlatformError if the master host cannot reach itself.
    """
    master = platform.master(master_host)
    if master is None:  # reported elsewhere: Batsim stops
        return {}
    platform.route(master.name, master.name)
    graphs = [zone for zone in platform.zones.values() if isinstance(zone, GraphZone)]
    #: Zones whose hosts may differ in this; those of others have the same way out.
    broken = {zone.name for zone in graphs if not zone.has_ways_between_all()}
    found: dict[str, PlatformError | None] = {}
    stranded: dict[int, PlatformError] = {}
    for number, host in enumerate(hosts):
        zone = platform.zones[platform.zone_of[host.name]]
        alike = zone.name not in broken and not (isinstance(zone, GraphZone) and host.name not in zone.order)
        end = zone.name if alike else host.name
        if end not in found:
            try:
                platform.route(host.name, master.name)
                found[end] = None
            except PlatformError as error:
                rule = f"{error.rule}: Batsim sends a message from {host.name} to {master.name} when its job ends"
                found[end] = PlatformError(error.file, error.field, rule)
        if (why := found[end]) is not None:
            stranded[number] = why
    return stranded


def check_speeds(platform: Platform, computing: Sequence[PlatformHost], models: Sequence[PowerModel] | None) -> None:
    """Raise PlatformError for hosts that cannot compute.

    `models` are their power models, with energy accounting: then they must compute in each pstate except sleep and
    transition pstates; otherwise in their initial one.
    """
    for number, host in enumerate(computing):
        pstates: Sequence[int] = (host.pstate,)
        if models is not None:
            pstates = [pstate for pstate in range(len(host.speeds)) if models[number].computes(pstate)]
        for pstate in pstates:
            if host.speeds[pstate] <= 0:
                rule = f"must be greater than 0 flop/s in pstate {pstate}, in which the host computes"
                raise PlatformError(platform.source, f"host {host.name}.speed", rule)

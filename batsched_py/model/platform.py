"""A platform: the hosts of a machine and the network between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from batsched_py.addition import add_up
from batsched_py.errors import PlatformError
from batsched_py.model.changes import TimedChanges
from batsched_py.model.graph_zone import GraphZone
from batsched_py.model.zone import Link, Segment, TableZone, Zone
from batsched_py.text.representation import Brief

__all__ = ["DEFAULT_MASTER", "Link", "Platform", "PlatformHost", "Route"]

#: The default name of the host that runs the scheduler and no jobs (Batsim's option `-m`).
DEFAULT_MASTER = "master_host"
#: Batsim's names of roles of a host.
ROLES = ("master", "storage", "compute_node")


class PlatformHost(Struct, frozen=True):
    """A machine.

    Attributes:
        name: unique in the platform.
        speeds: flop/s of one core, one number for each pstate.
        pstate: initial pstate, an index of `speeds`.
        cores: number of cores.
        properties: the `prop` elements of the host, as text.
        zone_properties: properties of the zones around it; the innermost zone has precedence.
    """

    name: str
    speeds: tuple[float, ...]
    pstate: int = 0
    cores: int = 1
    properties: Mapping[str, str] = field(default_factory=dict)
    zone_properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def role(self) -> str:
        """Its `role` property in Batsim's terms: "" for a compute host (or "compute_node"), "storage", "master"."""
        role = self.properties.get("role", "")
        return "" if role == "compute_node" else role


class Route(Struct, frozen=True):
    """The links from one host to another, in the order in which they are crossed, and the total latency in seconds."""

    links: tuple[Link, ...]
    latency: float


class Platform(Brief, frozen=True):
    """The hosts in lexicographic order of names, as Batsim numbers them, and the zones that route between them.

    Attributes:
        source: its file, or its generator; for messages.
        hosts: all hosts, including the master and storage hosts.
        zones: zones by name.
        zone_of: host or router -> name of its zone.
        config: (name, value) of each item of SimGrid's configuration that it sets.
        notes: a line for each part of the file without effect.
        bypasses: zone -> (from, to) -> the route that is taken instead of all others: between hosts of the zone, or
            between zones inside it that contain the two ends.
        changes: changes over time of hosts and links.
    """

    source: str
    hosts: tuple[PlatformHost, ...]
    zones: Mapping[str, Zone]
    zone_of: Mapping[str, str]
    config: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    bypasses: Mapping[str, Mapping[tuple[str, str], Segment]] = field(default_factory=dict)
    changes: tuple[TimedChanges, ...] = ()

    def master(self, name: str = DEFAULT_MASTER) -> PlatformHost | None:
        """Return the scheduler's host: the one with that name, else the first with role "master", else None."""
        named = [host for host in self.hosts if host.name == name]
        return next(iter(named + [host for host in self.hosts if host.role == "master"]), None)

    def compute_hosts(self, master: str = DEFAULT_MASTER) -> tuple[PlatformHost, ...]:
        """Return the hosts that run jobs; the index of each is its number in Batsim."""
        return tuple(host for host in self.hosts if host.role == "" and host.name != master)

    def storage_hosts(self, master: str = DEFAULT_MASTER) -> tuple[PlatformHost, ...]:
        """Return the hosts of role "storage"; Batsim numbers them after the compute hosts."""
        return tuple(host for host in self.hosts if host.role == "storage" and host.name != master)

    def with_roles(self, roles: Mapping[str, str]) -> Platform:
        """Return the platform with these roles of hosts (name -> role); PlatformError."""
        names = {host.name for host in self.hosts}
        for name, role in roles.items():
            if name not in names:
                raise PlatformError(self.source, f"host {name}", f"is not in the platform; it was to be {role}")
            if role not in ROLES:
                raise PlatformError(self.source, f"host {name}", f"must be one of {', '.join(ROLES)}, not {role!r}")
        hosts = tuple(
            replace(host, properties={**host.properties, "role": roles[host.name]}) if host.name in roles else host
            for host in self.hosts
        )
        return replace(self, hosts=hosts)

    def with_loopback(self, loopback: Link) -> Platform:
        """Return the platform with this link as the loopback of hosts, where SimGrid adds one."""
        segment = Segment((loopback,))
        zones = {
            name: replace(zone, loopback=segment)
            if isinstance(zone, (TableZone, GraphZone)) and zone.loopback is not None
            else zone
            for name, zone in self.zones.items()
        }
        return replace(self, zones=zones)

    def route(self, source: str, destination: str, latencies: Mapping[str, float] = MappingProxyType({})) -> Route:
        """Return the route between two hosts, by name; it has no links if the platform has no network there.

        Links named in `latencies` have these latencies instead of their own.

        Routes are not cached: keep those used often. A route's links are in SimGrid's order; the reverse route may
        differ. PlatformError if a name is not that of a host, or if two zones are not connected.
        """
        for name in (source, destination):
            if name not in self.zone_of:
                raise PlatformError(self.source, f"host {name}", "is not in the platform")
        segments = tuple(self._walk(source, destination))
        links = tuple(link for segment in segments for link in segment.links)
        if latencies:
            links = tuple(replace(link, latency=latencies.get(link.name, link.latency)) for link in links)
        own = add_up(segment.latency for segment in segments)
        return Route(links, add_up((link.latency for link in links), own))

    def _walk(self, source: str, destination: str) -> Iterator[Segment]:
        zone, here, there = self._meeting(source, destination)
        bypass = self._bypass(zone, source, destination) if zone.name in self.bypasses else None
        segments = zone.segments(here, there) if bypass is None else (bypass,)
        if segments is None or (not segments and (here, there) != (source, destination)):
            raise PlatformError(self.source, f"zone {zone.name}", f"has no route from {here} to {there}")
        position = source
        for segment in segments:
            entry, leave = segment.entry or position, segment.exit or destination
            if entry != position:
                if segment is not segments[0] and isinstance(zone, GraphZone) and not zone.by_floyd:
                    rule = f"a route passes from gateway {position} to {entry} of one zone: SimGrid crashes at it"
                    raise PlatformError(self.source, f"zone {zone.name}", f"{rule} with the routing Dijkstra")
                yield from self._walk(position, entry)
            yield segment
            position = leave
        if segments and position != destination:
            yield from self._walk(position, destination)

    def _bypass(self, zone: Zone, source: str, destination: str) -> Segment | None:
        """Return the bypass between two ends that meet in a zone, as SimGrid finds it; None if there is none.

        Zones around the ends are examined from the innermost pair outwards.
        """
        bypasses = self.bypasses[zone.name]
        if self.zone_of[source] == self.zone_of[destination]:
            return bypasses.get((source, destination))
        inside = [self._ancestry(end)[-2::-1] for end in (source, destination)]
        up, down = (names[: names.index(zone.name)] for names in inside)
        for outer in range(max(len(up), len(down))):
            pairs = [pair for inner in range(outer) for pair in ((inner, outer), (outer, inner))]
            for left, right in (*pairs, (outer, outer)):
                if left < len(up) and right < len(down) and (up[left], down[right]) in bypasses:
                    return bypasses[up[left], down[right]]
        return None

    def _meeting(self, source: str, destination: str) -> tuple[Zone, str, str]:
        """Return the innermost zone around both ends, and its points that are, or contain, each of them."""
        if self.zone_of[source] == self.zone_of[destination]:
            return self.zones[self.zone_of[source]], source, destination
        up, down = self._ancestry(source), self._ancestry(destination)
        depth = next(i for i, (left, right) in enumerate(zip(up, down, strict=False)) if left != right)
        return self.zones[up[depth - 1]], up[depth], down[depth]

    def _ancestry(self, point: str) -> list[str]:
        """Return the names from the outermost zone to the point itself."""
        names = [point]
        zone = self.zone_of[point]
        while zone:
            names.append(zone)
            zone = self.zones[zone].parent
        return names[::-1]

"""Reader of SimGrid platform files, versions 4 and 4.1, as Batsim reads them.

Supported elements are hosts, clusters, cabinets, peers, routers, links and routes, nested in zones; `simgrid_dtd`
covers all others. Unsupported routing kinds and topologies are errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from batsched_py.errors import PlatformError
from batsched_py.model.graph_zone import GraphZone
from batsched_py.model.platform import Link, Platform, PlatformHost
from batsched_py.model.topologies.cluster import TopologyZone
from batsched_py.model.topologies.fat_tree import FatTree
from batsched_py.model.zone import OWN_LOOPBACK, Segment, Spoke, StarZone, TableZone, Zone
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.text.display import shown
from batsched_py.traces.quantity import BANDWIDTH, SPEED, TIME, parse_quantity
from batsched_py.traces.simgrid_dtd import BYPASSES, ZONES
from batsched_py.traces.xml_cluster import PrivateLinks, read_backbone, read_peer_spoke, read_radical
from batsched_py.traces.xml_element import Element, read_root
from batsched_py.traces.xml_network import ROUTES, LinkTable, Table
from batsched_py.traces.xml_profiles import read_profiles
from batsched_py.traces.xml_rules import check_elements, check_zone
from batsched_py.traces.xml_topology import FLAT, TOPOLOGIES, read_cables, read_topology

# After a check of its form (`check_elements`) a file is read in one pass, in the order of its elements: SimGrid
# resolves names as it reads, and a name that is used before its definition is an error there as well. Between two
# elements `hosts`, `zones` and `zone_of` contain all previous definitions, `_parents` also the open zones.
#
# Elements that SimGrid obeys and this reader does not support are errors; parts without an effect on simulated jobs are
# noted: silently ignored network elements would give plausible, but wrong times. Zones become one of three forms (star,
# table, graph) that answer for a route when one is needed; the routes of all pairs would take memory in proportion to
# the square of the hosts.
#
# Files may be hostile or generated: limits apply to the hosts before a radical is expanded, to the depth of zones, and
# to inherited properties, since n nested zones with n properties each inherit in proportion to n * n. Texts of speeds
# are parsed once, as a large platform repeats one of them for each host.

_NODES = ("host", "router", "cluster", "cabinet", "peer", *ZONES)
_GRAPHS = ("Floyd", "Dijkstra", "DijkstraCache")
_STARS = ("Cluster", "Vivaldi", "None")
#: SimGrid's routings in lower case (it ignores case) -> their usual spelling.
_ROUTINGS = {routing.lower(): routing for routing in ("Full", *_GRAPHS, *_STARS)}

Properties = Mapping[str, str]

#: Maximum total number of properties of zones, including inherited ones, per host of the host limit.
_PROPERTIES = 10


def read_platform(path: Path, *, limits: Limits = LIMITS) -> Platform:
    """Read a platform file; PlatformError names the file, the element and the broken rule."""
    root = read_root(path, limits)
    if root.tag != "platform":
        raise PlatformError(root.file, root.tag, "must be a platform element: this is not a SimGrid platform")
    _check_version(root)
    check_elements(root)
    outermost = list(root.children(*ZONES, "cluster"))
    if len(outermost) != 1:
        raise root.error("", f"must hold exactly one zone or cluster, not {len(outermost)}")
    reader = _PlatformReader(limits)
    reader.read_node(outermost[0], "", {}, {})
    if not reader.hosts:
        raise root.error("", "must have at least one host")
    hosts = tuple(reader.hosts[name] for name in sorted(reader.hosts))
    changes = read_profiles(root, reader.hosts, reader.network, limits)
    config = _config(root)
    notes = root.notes.lines()
    return Platform(root.file, hosts, reader.zones, reader.zone_of, config, notes, reader.bypasses, changes)


def _check_version(root: Element) -> None:
    """Raise PlatformError for versions of the format other than 4 and 4.1."""
    text = root.text("version")
    try:
        version = round(100 * float(text))
    except (ValueError, OverflowError):
        version = 0
    if not 400 <= version <= 410:
        raise root.error("version", f"must be from 4 to 4.1, not {shown(text)}")


def _config(root: Element) -> tuple[tuple[str, str], ...]:
    """Return the items of the configuration; of repeated names the first one, as in SimGrid."""
    items: dict[str, str] = {}
    for element in root.children("config"):
        for item, value in element.properties().items():
            if items.setdefault(item, value) != value:
                what = "a second element config with an item is not obeyed: the first counts, as in SimGrid"
                root.notes.add(what, f"item {item}")
    return tuple(items.items())


class _PlatformReader:
    """A reader of one file, with the parts read so far."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        #: Depth of the current zone, and total number of the zones' own and inherited properties.
        self._depth, self._inherited = 0, 0
        #: name -> host, in all zones.
        self.hosts: dict[str, PlatformHost] = {}
        #: name -> zone, after its content has been read.
        self.zones: dict[str, Zone] = {}
        #: host or router -> its zone; never a zone.
        self.zone_of: dict[str, str] = {}
        self.network = LinkTable()
        #: zone -> (from, to) -> the route that is taken instead of all others.
        self.bypasses: dict[str, Table] = {}
        #: Number of hosts in fat trees.
        self._fat_hosts = 0
        #: zone -> its parent ("" for the outermost zone), from its start tag on.
        self._parents: dict[str, str] = {}
        #: text of speeds -> numbers: large platforms repeat them.
        self._speeds: dict[str, tuple[float, ...]] = {}

    def read_node(self, element: Element, zone: str, around: Properties, spokes: dict[str, Spoke]) -> None:
        """Read a child element of a zone; `around` are that zone's properties, `spokes` its private links."""
        if element.tag in ZONES:
            self._read_zone(element, zone, around)
        elif element.tag == "cluster":
            self._read_cluster(element, zone, around)
        elif element.tag == "cabinet":
            links = PrivateLinks.read(element)
            for host in self._add_group(element, zone, element.properties(), around).values():
                spokes[host] = links.spoke(f"link_{host}", self.network, element)
        elif element.tag == "link":
            self.network.read_link(element)
        elif element.tag == "router":
            self._add_point(element, element.name(), zone)
        else:
            self._add_host(element, element.name(), zone, element.properties(), around)
            if element.tag == "peer":
                spokes[element.name()] = read_peer_spoke(element, self.network)

    def _read_zone(self, zone: Element, parent: str, around: Properties) -> None:
        name = self._open_zone(zone, parent)
        routing = _routing(zone)
        properties = _nested(zone.properties(), around)
        self._check_nesting(zone, len(properties))
        spokes: dict[str, Spoke] = {}
        self._depth += 1
        for element in zone.children(*_NODES, "link"):
            self.read_node(element, name, properties, spokes)
        self._depth -= 1
        check_zone(zone, routing, is_graph=routing in _GRAPHS)
        self._read_bypasses(zone)
        if routing in _STARS:
            self.zones[name] = self._star(zone, name, parent, routing, spokes)
            return
        points = [element.name() for element in zone.children(*_NODES) if element.tag != "cabinet"]
        table = self.network.read_routes(zone, set(points), self._gateway_rule)
        # SimGrid gives hosts a loopback only in zones without nested zones.
        loopback = OWN_LOOPBACK if next(zone.children("cluster", *ZONES), None) is None else None
        if routing == "Full":
            self.zones[name] = TableZone(name, parent, table, loopback)
        else:
            order = points if routing == "Floyd" else [point for ends in table for point in ends]
            ranks = {point: rank for rank, point in enumerate(dict.fromkeys(order))}
            self.zones[name] = GraphZone(name, parent, _edges(table), ranks, routing == "Floyd", loopback)

    def _check_nesting(self, zone: Element, properties: int) -> None:
        """Raise PlatformError for zones that are nested too deeply, or inherit too many properties."""
        limits = self._limits
        self._inherited += properties
        if self._depth >= limits.depth:
            raise zone.error("", f"is inside of {self._depth} zones, which {limits.rule('depth')}")
        if self._inherited > _PROPERTIES * limits.hosts:
            raise zone.error("prop", f"zones inherit too many properties for a platform that {limits.rule('hosts')}")

    def _read_bypasses(self, zone: Element) -> None:
        """Read the bypasses of a zone; PlatformError for ends that are not defined before."""
        for bypass in zone.children(*BYPASSES):
            for attribute in ("src", "dst", "gw_src", "gw_dst"):
                end = bypass.xml.get(attribute)
                if end is not None and end not in self.zone_of and end not in self._parents:
                    raise bypass.error(attribute, f"names {shown(end)}, which is not in the platform before")
        name = zone.name()
        bypasses = self.network.read_bypasses(zone, partial(self._meet_in, name), self._gateway_rule)
        if bypasses:
            self.bypasses[name] = bypasses

    def _meet_in(self, zone: str, source: str, destination: str) -> bool:
        """Return whether routes between two ends are found in a zone: its hosts, or zones in two of its parts."""
        if source in self.zone_of or destination in self.zone_of:
            return self.zone_of.get(source) == self.zone_of.get(destination) == zone
        branches = [self._branch(zone, end) for end in (source, destination)]
        return None not in branches and branches[0] != branches[1]

    def _branch(self, zone: str, inner: str) -> str | None:
        """Return the zone directly inside a zone that is, or contains, another one; None if it is outside."""
        while inner and self._parents[inner] != zone:
            inner = self._parents[inner]
        return inner or None

    def _star(self, zone: Element, name: str, parent: str, routing: str, spokes: dict[str, Spoke]) -> StarZone:
        for route in zone.children(*ROUTES):
            raise route.error("", f"cannot be declared in a zone of routing {routing}")
        for element in zone.children("host_link"):
            host = element.name()
            if self.zone_of.get(host) != name:
                raise element.error("id", f"names {host!r}, which is not a host of zone {name!r}")
            ways = (self.network.link(element, attribute) for attribute in ("up", "down"))
            spokes[host] = Spoke(*((link,) for link in ways))
        backbone = tuple(self._backbone(element) for element in zone.children("backbone"))
        if routing != "Vivaldi":
            return StarZone(name, parent, spokes, backbone, None, routing == "None")
        placed = [element for element in zone.children("host", "peer", "router") if element.xml.get("coordinates")]
        return StarZone(name, parent, spokes, backbone, {element.name(): element.coordinates() for element in placed})

    def _read_cluster(self, cluster: Element, parent: str, around: Properties) -> None:
        topology = cluster.choice("topology", TOPOLOGIES, FLAT)
        if topology != FLAT:
            self._read_topology(cluster, parent, around, topology)
            return
        if cluster.xml.get("topo_parameters"):
            what = "attribute topo_parameters of element cluster is not obeyed: a cluster of topology FLAT has none"
            cluster.notes.add(what, cluster.name_of())
        name = self._open_zone(cluster, parent)
        properties, links = cluster.properties(), PrivateLinks.read(cluster)
        hosts = self._add_group(cluster, name, properties, _nested(properties, around))
        spokes = {host: links.spoke(f"{name}_link_{number}", self.network, cluster) for number, host in hosts.items()}
        router = cluster.xml.get("router_id") or f"{cluster.text('prefix')}{name}_router{cluster.text('suffix')}"
        self._add_point(cluster, router, name)
        self.zones[name] = StarZone(name, parent, spokes, read_backbone(cluster, self.network))

    def _read_topology(self, cluster: Element, parent: str, around: Properties, kind: str) -> None:
        """Read a cluster whose hosts have the positions of their ranks in the radical."""
        name, topology = self._open_zone(cluster, parent), read_topology(cluster, kind, self._fat_hosts, self._limits)
        properties, cables = cluster.properties(), read_cables(cluster, topology, self.network)
        hosts = self._add_group(cluster, name, properties, _nested(properties, around), topology.hosts)
        if len(hosts) < topology.hosts:
            raise cluster.error("radical", f"makes {len(hosts)} hosts, and the topology has {topology.hosts}")
        if isinstance(topology, FatTree):
            self._fat_hosts += topology.hosts
        positions = {host: position for position, host in enumerate(hosts.values())}
        self.zones[name] = TopologyZone(name, parent, positions, topology, cables)

    def _backbone(self, element: Element) -> Link:
        bandwidth, latency = element.positive("bandwidth", BANDWIDTH), element.quantity("latency", TIME)
        return self.network.add(Link(element.name(), bandwidth, latency), element)

    def _add_group(
        self, group: Element, zone: str, properties: Properties, around: Properties, most: int | None = None
    ) -> dict[int, str]:
        """Add the hosts of a cluster or cabinet, at most `most`; return their names by number."""
        prefix, suffix = group.text("prefix"), group.text("suffix")
        names: dict[int, str] = {}
        for attribute, text in (("prefix", prefix), ("suffix", suffix)):
            self._check_name(group, attribute, text)
        numbers = read_radical(group, len(self.hosts), self._limits)
        if most is not None and len(numbers) > most:
            what = "attribute radical of element cluster: hosts beyond the topology are not made, as in SimGrid"
            group.notes.add(what, f"{group.name_of()}, {len(numbers) - most} of {len(numbers)}")
        for number in numbers[:most]:
            names[number] = f"{prefix}{number}{suffix}"
            self._add_host(group, names[number], zone, properties, around)
        return names

    def _add_host(self, element: Element, name: str, zone: str, properties: Properties, around: Properties) -> None:
        self._add_point(element, name, zone)
        speeds = self._read_speeds(element)
        if len(speeds) > 1 and element.tag in ("cabinet", "peer"):
            raise element.error("speed", f"must be one speed: a {element.tag} has no pstates")
        pstate, cores = element.number("pstate", 0, 0), element.number("core", 1, 1)
        if pstate >= len(speeds):
            raise element.error("pstate", f"must be below {len(speeds)}, the number of speeds, not {pstate}")
        self.hosts[name] = PlatformHost(name, speeds, pstate, cores, properties, around)
        if len(self.hosts) > self._limits.hosts:
            raise element.error("", f"is one host too many: a platform {self._limits.rule('hosts')}")

    def _read_speeds(self, element: Element) -> tuple[float, ...]:
        text = element.text("speed")
        if text not in self._speeds:
            pieces = text.split(",")
            if len(pieces) > 1:  # SimGrid strips blanks only from the items of a list
                pieces = [piece.strip() for piece in pieces]
            try:
                speeds = tuple(parse_quantity(piece, SPEED) for piece in pieces)
            except ValueError as error:
                raise element.error("speed", str(error)) from error
            if min(speeds) < 0:
                raise element.error("speed", f"must not be negative, as in {shown(text)}")
            self._speeds[text] = speeds
        return self._speeds[text]

    def _add_point(self, element: Element, name: str, zone: str) -> None:
        self._claim(element, name)
        self.zone_of[name] = zone

    def _open_zone(self, element: Element, parent: str) -> str:
        self._claim(element, element.name())
        self._parents[element.name()] = parent
        return element.name()

    def _check_name(self, element: Element, attribute: str, text: str) -> None:
        """Raise PlatformError if a name, or the common part of the names of many hosts, is too long."""
        if len(text) > self._limits.name_size:
            raise element.error(attribute, self._limits.rule("name_size"))

    def _claim(self, element: Element, name: str) -> None:
        self._check_name(element, "id", name)
        if name in self.zone_of or name in self._parents:
            raise element.error("id", f"the name {name!r} is used twice")

    def _gateway_rule(self, point: str, gateway: str) -> str | None:
        """Return the rule that a gateway violates: it must be a host or router somewhere inside the zone `point`."""
        if point not in self._parents:
            return f"leads into {point!r}, which is not a zone"
        zone = self.zone_of.get(gateway, "")
        while zone and zone != point:
            zone = self._parents[zone]
        return None if zone else f"names {gateway!r}, which is not a host or router inside {point!r}"


def _nested(properties: Properties, around: Properties) -> dict[str, str]:
    """Return a zone's properties, then those inherited from the zones around it."""
    return {**properties, **{key: value for key, value in around.items() if key not in properties}}


def _routing(zone: Element) -> str:
    """Return the routing of a zone, independent of case."""
    text = zone.text("routing")
    routing = _ROUTINGS.get(text.lower())
    if routing is None:
        raise zone.error("routing", f"must be one of {', '.join(_ROUTINGS.values())}, not {shown(text)}")
    return routing


def _edges(table: Table) -> dict[str, list[tuple[str, Segment]]]:
    edges: dict[str, list[tuple[str, Segment]]] = {}
    for (source, destination), segment in table.items():
        edges.setdefault(source, []).append((destination, segment))
    return edges

"""Transfers of parallel tasks: the load of the crossed links in bytes, and the latency."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field

from batsched_py.addition import add_up
from batsched_py.model.changes import Changing
from batsched_py.model.platform import Link, Platform, PlatformHost, Route
from batsched_py.model.topologies.cluster import TopologyZone
from batsched_py.model.topologies.crossings import Cable
from batsched_py.model.zone import Spoke, StarZone
from batsched_py.simulator.contention.exchanges import AllToAll, Amounts, Equal, Exchange, Transfer
from batsched_py.simulator.contention.simgrid_config import TCP_WINDOW
from batsched_py.text.display import displayed

#: Number of cached routes and their links at which the cache is cleared: all pairs of 500 hosts of a star, in some tens
#: of megabytes. A route in a torus may have thousands of links.
MAX_CACHED: Final = 1_000_000


class TransferModel:
    """Routes between compute hosts, by their numbers."""

    def __init__(self, platform: Platform, hosts: tuple[PlatformHost, ...], tcp_window: float = TCP_WINDOW) -> None:
        """Take the platform's routes, and the TCP window in bytes, which limits the rates of transfers."""
        self._platform, self._tcp_window = platform, tcp_window
        self._hosts = hosts
        #: (from, to) -> route; a cache, of a size as for MAX_CACHED. Its routes share their links: name -> link.
        self._routes: dict[tuple[int, int], Route] = {}
        self._links: dict[str, Link] = {}
        self._cached = 0
        #: The first two hosts that exchanged bytes without a link between them, for messages.
        self.unlinked: tuple[str, str] | None = None
        #: Name of a cluster -> its links.
        self._cables: dict[str, _CableLinks] = {}
        #: Name of a link -> its latency, for those that have changed.
        self._latencies: dict[str, float] = {}
        self.latencies_change = any(one.quantity is Changing.LATENCY for one in platform.changes)
        #: Host -> its arm; a cache.
        self._arms: dict[int, _Arm] = {}

    def needs(self, *parts: Iterable[Transfer]) -> tuple[tuple[tuple[Link, float], ...], float, float]:
        """Return (the bytes that each link carries, largest latency, least seconds by the TCP window) of a task.

        As in SimGrid's parallel tasks all transfers advance together: a link carries the sum of the bytes that cross
        it, a FATPIPE link (each flow may use all of it) the largest of them.
        """
        load = _NetworkLoad(self._tcp_window)
        for part in parts:
            load.mix()
            if isinstance(part, AllToAll) and self._add_crossings(load, part):
                continue
            if not (isinstance(part, Exchange) and self._add_sums(load, part)):
                self._add_pairs(load, part)
        return load.only or tuple(load.carried.values()), load.latency, load.window

    def change_latency(self, links: Iterable[str], latency: float) -> None:
        """Give links another latency, in seconds, for the demands that are computed from now on."""
        self._latencies.update(dict.fromkeys(links, latency))
        self._routes.clear()
        self._links.clear()
        self._cached = 0

    def _add_pairs(self, load: _NetworkLoad, transfers: Iterable[Transfer]) -> None:
        """Add transfers one by one."""
        carried = load.carried
        for source, target, size in transfers:
            if size <= 0:
                continue
            route = self._route(source, target)
            load.wait(route.latency, size)
            for link in route.links:
                name = link.name
                _, before = carried.get(name, _NOTHING)
                carried[name] = link, before + size if link.shared else max(before, size)

    def _add_sums(self, load: _NetworkLoad, exchange: Exchange) -> bool:
        """Add the sums for each host if the links depend on these alone; return whether they do.

        They do between different hosts of one star with equal latencies: the results then equal those of `_add_pairs`,
        bit by bit.
        """
        hosts, arms = exchange.hosts, [self._arm(host) for host in exchange.hosts]
        kind = arms[0].kind
        if kind is None or any(arm.kind != kind for arm in arms):
            return False
        if len(set(hosts)) < len(hosts) or not exchange.is_to_others:
            return False
        amounts = exchange.all()
        if amounts.largest() > 0:
            load.wait(self._route(hosts[0], hosts[1]).latency, amounts.largest())
            for position, arm in enumerate(arms):
                for link in arm.out:
                    load.carry(link, exchange.sent(position))
                for link in arm.into:
                    load.carry(link, exchange.received(position))
                for link in arm.both:
                    load.carry(link, exchange.passed(position))
            for link in arms[0].backbone:
                load.carry(link, amounts)
        return True

    def _add_crossings(self, load: _NetworkLoad, exchange: AllToAll) -> bool:
        """Add the crossings of an exchange in one cluster with a topology; return False for others.

        Limiters are not cables; with them, the pairs are iterated.
        """
        platform, hosts = self._platform, exchange.hosts
        zone = platform.zones[platform.zone_of[self._hosts[hosts[0]].name]]
        if not isinstance(zone, TopologyZone) or zone.cables.limiter_bandwidth or len(set(hosts)) < len(hosts):
            return False
        positions = [zone.positions.get(self._hosts[host].name, -1) for host in hosts]
        if min(positions) < 0 or not exchange.amount:
            return False
        crossings = zone.topology.crossings(positions)
        load.wait(add_up([zone.cables.latency] * crossings.longest), exchange.amount)
        cables = self._cables.setdefault(zone.name, _CableLinks(zone))
        if len(cables) > MAX_CACHED:
            cables.clear()
        if load.carried or not zone.cables.splits:
            for cable, times in crossings.pairs.items():
                load.carry(cables[cable], Equal(exchange.amount, times))
            return True
        # Each cable is another link, and many of them carry equally many transfers.
        totals, total, before = dict[int, float](), 0.0, 0
        for times in sorted(set(crossings.pairs.values())):
            totals[times] = total = Equal(exchange.amount, times - before).added_to(total)
            before = times
        load.only = tuple([(cables[cable], totals[times]) for cable, times in crossings.pairs.items()])
        return True

    def _arm(self, host: int) -> _Arm:
        arm = self._arms.get(host)
        if arm is None:
            name = self._hosts[host].name
            zone = self._platform.zones[self._platform.zone_of[name]]
            plain = zone.name not in self._platform.bypasses and not self.latencies_change
            arm = _arm_in(zone, name) if isinstance(zone, StarZone) and plain else _NO_ARM
            self._arms[host] = arm
        return arm

    def _route(self, source: int, target: int) -> Route:
        route = self._routes.get((source, target))
        if route is None:
            route = self._platform.route(self._hosts[source].name, self._hosts[target].name, self._latencies)
            self._keep((source, target), route)
            if not route.links and self.unlinked is None:
                self.unlinked = displayed(self._hosts[source].name), displayed(self._hosts[target].name)
        return route

    def _keep(self, ends: tuple[int, int], route: Route) -> None:
        """Keep a route in the cache, which is cleared before it grows too large."""
        size = len(route.links) + 1
        if self._cached + size > MAX_CACHED:
            self._routes.clear()
            self._links.clear()
            self._cached = 0
        links = self._links
        self._routes[ends] = Route(tuple([links.setdefault(link.name, link) for link in route.links]), route.latency)
        self._cached += size


class _CableLinks(dict[Cable, Link]):
    """The links of a cluster, by their cables; a cache."""

    def __init__(self, zone: TopologyZone) -> None:
        super().__init__()
        self._zone = zone

    def __missing__(self, cable: Cable) -> Link:
        link = self[cable] = self._zone.topology.link(cable, self._zone.cables)
        return link


class _Arm(Struct, frozen=True):
    """One host of a star.

    Attributes:
        kind: the name of the star, and the latencies of the host's links; None if it is in no star.
        out, into: links crossed only by sent bytes, and only by received bytes.
        both: links crossed in both directions.
        backbone: the star's backbone.
    """

    kind: tuple[str, tuple[float, ...], tuple[float, ...]] | None = None
    out: tuple[Link, ...] = ()
    into: tuple[Link, ...] = ()
    both: tuple[Link, ...] = ()
    backbone: tuple[Link, ...] = ()


_NO_ARM: Final = _Arm()


def _arm_in(star: StarZone, host: str) -> _Arm:
    """Return the arm of a host; one without a star if coordinates add latencies."""
    if star.coordinates:
        return _NO_ARM
    spoke = star.spokes.get(host, Spoke())
    up, down = spoke.up, spoke.down
    return _Arm(
        (star.name, tuple([link.latency for link in up]), tuple([link.latency for link in down])),
        tuple([link for link in up if link not in down]),
        tuple([link for link in down if link not in up]),
        tuple([link for link in up if link in down]),
        star.backbone,
    )


class _NetworkLoad(Struct):
    """The running sums of the transfers of one task.

    Attributes:
        tcp_window: in bytes.
        carried: name -> link, and the bytes that it carries; names, because hashing a whole link is slow.
        only: those of a single exchange, each on another link, before others are added.
        latency: the maximum latency.
        window: minimum duration in seconds by the TCP window.
    """

    tcp_window: float
    carried: dict[str, tuple[Link, float]] = field(default_factory=dict)
    only: tuple[tuple[Link, float], ...] = ()
    latency: float = 0.0
    window: float = 0.0

    def wait(self, latency: float, size: float) -> None:
        """Take account of the latency of a transfer of this number of bytes."""
        self.latency = max(self.latency, latency)
        self.window = max(self.window, size * 2 * latency / self.tcp_window)

    def mix(self) -> None:
        """Let other transfers be added."""
        if self.only:
            self.carried, self.only = {each[0].name: each for each in self.only}, ()

    def carry(self, link: Link, amounts: Amounts) -> None:
        """Add the bytes of transfers to a link."""
        _, before = self.carried.get(link.name, _NOTHING)
        after = amounts.added_to(before) if link.shared else max(before, amounts.largest())
        if after:
            self.carried[link.name] = link, after


_NOTHING: Final[tuple[None, float]] = None, 0.0

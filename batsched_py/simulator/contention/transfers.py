"""Transfers of parallel tasks: the bytes that they put on the links they cross, and the latency of that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from batsched_py.model.platform import Link, Platform, PlatformHost, Route
from batsched_py.simulator.contention.simgrid_config import TCP_WINDOW

#: Routes kept before all are forgotten: enough for all pairs of 500 hosts, at some tens of megabytes.
MAX_ROUTES: Final = 250_000

#: (from, to, bytes), the ends as host numbers.
Transfer = tuple[int, int, float]


class TransferModel:
    """Routes between compute hosts, by their numbers."""

    def __init__(self, platform: Platform, hosts: tuple[PlatformHost, ...], tcp_window: float = TCP_WINDOW) -> None:
        """`tcp_window` in bytes: a transfer is never faster than this over twice the latency of its route."""
        self._platform, self._tcp_window = platform, tcp_window
        self._hosts = hosts
        #: (from, to) -> route; a cache.
        self._routes: dict[tuple[int, int], Route] = {}

    def needs(self, transfers: Iterable[Transfer]) -> tuple[tuple[tuple[Link, float], ...], float, float]:
        """Return (the bytes that each link carries, largest latency, least seconds by the TCP window) of a task.

        As in SimGrid's parallel tasks all transfers advance together: a link carries the sum of the bytes that cross
        it, a FATPIPE link (each flow may use all of it) the largest of them.
        """
        #: Link name -> the link, and the bytes it must carry (names, because hashing a whole link is slow).
        links: dict[str, Link] = {}
        carried: dict[str, float] = {}
        latency = window = 0.0
        for source, target, size in transfers:
            if size <= 0:
                continue
            route = self._route(source, target)
            latency = max(latency, route.latency)
            window = max(window, size * 2 * route.latency / self._tcp_window)
            for link in route.links:
                name = link.name
                links[name] = link
                before = carried.get(name, 0.0)
                carried[name] = before + size if link.shared else max(before, size)
        return tuple([(link, carried[name]) for name, link in links.items()]), latency, window

    def _route(self, source: int, target: int) -> Route:
        route = self._routes.get((source, target))
        if route is None:
            if len(self._routes) >= MAX_ROUTES:
                self._routes.clear()
            route = self._platform.route(self._hosts[source].name, self._hosts[target].name)
            self._routes[source, target] = route
        return route

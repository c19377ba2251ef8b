"""Zones of a platform: the computation of routes between their points, by SimGrid's kinds of routing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Protocol

from msgspec import Struct

from batsched_py.text.representation import Brief


class Link(Struct, frozen=True):
    """A network link.

    Attributes:
        name: unique in the platform; the two directions of a SPLITDUPLEX link are two links, `NAME_UP` and `NAME_DOWN`.
        bandwidth: bytes per second.
        latency: seconds.
        shared: True if flows divide the bandwidth; False (FATPIPE) if each of them may use all of it.
    """

    name: str
    bandwidth: float
    latency: float
    shared: bool = True


#: The loopback that SimGrid adds to a host of a "Full", "Floyd" or "Dijkstra" zone without a declared one.
LOOPBACK: Final = Link("__loopback__", 10e9, 0.0, shared=False)


class Segment(Struct, frozen=True):
    """A segment of a route: `links` in the order in which they are crossed, from the host or router `entry` to `exit`.

    An empty `entry` or `exit` is the end of the route itself. `latency` is in seconds, in addition to that of the
    links.
    """

    links: tuple[Link, ...] = ()
    entry: str = ""
    exit: str = ""
    latency: float = 0.0


OWN_LOOPBACK: Final = Segment((LOOPBACK,))


class Zone(Protocol):
    """A part of a platform: hosts, routers and zones inside it are its points."""

    @property
    def name(self) -> str:
        """Unique in the platform."""

    @property
    def parent(self) -> str:
        """Name of the zone around it; "" for the outermost."""

    def segments(self, source: str, destination: str) -> tuple[Segment, ...] | None:
        """Return the route between two of its points: () for a route without cost, None if there is none."""


class TableZone(Brief, frozen=True):
    """Routing "Full": all routes are declared; undeclared ones have no cost, as runs of Batsim show."""

    name: str
    parent: str
    #: (source point, destination point) -> the declared route.
    table: Mapping[tuple[str, str], Segment]
    #: Default route from a host to itself; None in a zone with nested zones, where it has no cost.
    loopback: Segment | None = OWN_LOOPBACK

    def segments(self, source: str, destination: str) -> tuple[Segment, ...] | None:
        """Return the declared route, or the default."""
        segment = self.table.get((source, destination))
        if segment is None:
            return () if source != destination or self.loopback is None else (self.loopback,)
        return (segment,)


class Spoke(Struct, frozen=True):
    """The private links of one point of a star: out of it, into it, and from it to itself."""

    up: tuple[Link, ...] = ()
    down: tuple[Link, ...] = ()
    loopback: tuple[Link, ...] = ()


class StarZone(Brief, frozen=True):
    """Routing "Cluster", "Vivaldi" and "None": up the source's spoke, over the backbone, down the destination's.

    A point without a spoke has no private links (a router, or a host of a platform without network). With coordinates
    (Vivaldi) the distance adds latency: the Euclidean distance of x and y plus both heights, in milliseconds.
    """

    name: str
    parent: str
    spokes: Mapping[str, Spoke]
    backbone: tuple[Link, ...] = ()
    #: point -> x, y, height; None if the zone is not a Vivaldi one.
    coordinates: Mapping[str, tuple[float, float, float]] | None = None
    #: Routing "None": SimGrid stops at any route through the zone.
    is_empty: bool = False

    def segments(self, source: str, destination: str) -> tuple[Segment, ...] | None:
        """Return one segment; None in an empty zone.

        A point without loopback reaches itself over the backbone, as in SimGrid.
        """
        if self.is_empty:
            return None
        out, into = self.spokes.get(source, _NO_SPOKE), self.spokes.get(destination, _NO_SPOKE)
        if source == destination and out.loopback:
            return (Segment(out.loopback),)
        links = out.up + self.backbone + into.down
        if source == destination:
            links = tuple(dict.fromkeys(links))  # a link that is both up and down is crossed once
        return (Segment(links, latency=self._distance(source, destination)),)

    def _distance(self, source: str, destination: str) -> float:
        if not self.coordinates or source not in self.coordinates or destination not in self.coordinates:
            return 0.0
        (x1, y1, high1), (x2, y2, high2) = self.coordinates[source], self.coordinates[destination]
        return (math.hypot(x1 - x2, y1 - y2) + abs(high1) + abs(high2)) / 1000.0


_NO_SPOKE = Spoke()

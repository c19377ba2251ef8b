"""Zones whose routes are shortest paths in a graph of declared routes: SimGrid's Floyd, Dijkstra and DijkstraCache."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence

from batsched_py.model.zone import OWN_LOOPBACK, Segment
from batsched_py.text.representation import Brief

# Both routings take a path with the fewest links. Links on other paths have other loads, so that the choice among
# several such paths changes times, and is made as in SimGrid 3.32.
#
# Dijkstra: points wait by their cost, then in the order in which the routes of the file name them; a path replaces
# another only if it is strictly shorter. The edges of a point are examined in the order of their declaration.
#
# Floyd: SimGrid allows one point after the other, in the order of their declaration, as an intermediate point of all
# pairs, and replaces a path only by a strictly shorter one. Its path is therefore, of those with the fewest links, the
# one whose last-declared intermediate point is declared first; and so on for both halves. That is the path with the
# smallest set of intermediate points if a set is read as a binary number with a bit for each point: the halves have
# disjoint sets, and each half is the smallest by itself. One search by (links, set) finds it without the n^3 steps and
# the n^2 memory of SimGrid's tables; a test compares with the three loops on drawn graphs.


class GraphZone(Brief, frozen=True):
    """Routing "Floyd" and "Dijkstra": declared routes are edges, and a route is a path with the fewest links.

    Attributes:
        name, parent: as of each zone.
        edges: point -> (neighbour, the declared route to it), in the file's order.
        order: point -> its rank among the points, by which one of several shortest paths is taken. A point that is
            missing has no route, not even to itself.
        by_floyd: True for Floyd, False for Dijkstra.
        loopback: default route from a host to itself, as in `TableZone`.
    """

    name: str
    parent: str
    edges: Mapping[str, Sequence[tuple[str, Segment]]]
    order: Mapping[str, int]
    by_floyd: bool = False
    loopback: Segment | None = OWN_LOOPBACK

    def segments(self, source: str, destination: str) -> tuple[Segment, ...] | None:
        """Return the shortest path (Dijkstra 1959), without caching; None if the points are not connected."""
        if source not in self.order or destination not in self.order:
            return None
        if source == destination:
            return self._to_itself(source)
        return self._by_sets(source, destination, math.inf) if self.by_floyd else self._by_ranks(source, destination)

    def has_ways_between_all(self) -> bool:
        """Return whether each point has a path to each other one."""
        if len(self.order) < 2:
            return True
        back: dict[str, list[str]] = {}
        ahead: dict[str, list[str]] = {}
        for point, edges in self.edges.items():
            for neighbour, _ in edges:
                ahead.setdefault(point, []).append(neighbour)
                back.setdefault(neighbour, []).append(point)
        first = next(iter(self.order))
        return all(_reached(first, ways) >= self.order.keys() for ways in (ahead, back))

    def _to_itself(self, point: str) -> tuple[Segment, ...]:
        own = next((segment for neighbour, segment in self.edges.get(point, ()) if neighbour == point), None)
        if self.by_floyd:
            around = self._by_sets(point, point, 1 if own is None else len(own.links))
            if around is not None:
                return around
        route = self.loopback if own is None else own
        return () if route is None else (route,)

    def _by_ranks(self, source: str, destination: str) -> tuple[Segment, ...] | None:
        """Return Dijkstra's path; None if there is none."""
        costs, came = {source: 0}, dict[str, tuple[str, Segment]]()
        frontier = [(0, self.order[source], source)]
        while frontier:
            cost, _, point = heapq.heappop(frontier)
            if point == destination:
                return _path(source, destination, came)
            if cost > costs[point]:
                continue
            for neighbour, segment in self.edges.get(point, ()):
                further = cost + len(segment.links)
                if further < costs.get(neighbour, math.inf):
                    costs[neighbour], came[neighbour] = further, (point, segment)
                    heapq.heappush(frontier, (further, self.order[neighbour], neighbour))
        return None

    def _by_sets(self, source: str, destination: str, below: float) -> tuple[Segment, ...] | None:
        """Return Floyd's path, if it has fewer than `below` links; from a point to itself, one through others."""
        best: dict[str, tuple[int, int]] = {}
        came: dict[str, tuple[str, Segment]] = {}
        frontier, barred = [(0, 0, source)], "" if source == destination else source
        while frontier:
            cost, between, point = heapq.heappop(frontier)
            if point == destination and came:
                return _path(source, destination, came)
            if point in best and (cost, between) > best[point]:
                continue
            beyond = 0 if point == source else between | 1 << self.order[point]
            for neighbour, segment in self.edges.get(point, ()):
                key = cost + len(segment.links), beyond
                if neighbour in (point, barred) or key[0] >= below or (neighbour in best and key >= best[neighbour]):
                    continue
                best[neighbour], came[neighbour] = key, (point, segment)
                heapq.heappush(frontier, (*key, neighbour))
        return None


def _path(source: str, destination: str, came: Mapping[str, tuple[str, Segment]]) -> tuple[Segment, ...]:
    """Return the segments from one point to another, from the point before each."""
    point, found = destination, list[Segment]()
    while not found or point != source:
        point, segment = came[point]
        found.append(segment)
    return tuple(reversed(found))


def _reached(start: str, ways: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the points that are reached from one."""
    reached, waiting = {start}, [start]
    while waiting:
        for neighbour in ways.get(waiting.pop(), ()):
            if neighbour not in reached:
                reached.add(neighbour)
                waiting.append(neighbour)
    return reached

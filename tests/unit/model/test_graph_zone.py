"""Shortest paths in graphs of routes: of several, the one that SimGrid takes."""

from __future__ import annotations

import math
import random

import pytest

from batsched_py.model.graph_zone import GraphZone
from batsched_py.model.zone import LOOPBACK, OWN_LOOPBACK, Link, Segment

#: (source, destination) -> the declared route.
Routes = dict[tuple[str, str], Segment]


def draw_routes(rng: random.Random, points: list[str], *, least: int) -> Routes:
    """Return routes of `least` to three links in both directions or in one; some from a point to itself."""
    routes: Routes = {}
    for number in range(rng.randint(len(points) - 1, 3 * len(points))):
        ends = rng.choice(points), rng.choice(points)
        count = rng.randint(least, 3)
        segment = Segment(tuple(Link(f"{number}.{place}", 1.0, 0.0) for place in range(count)), *ends)
        routes.setdefault(ends, segment)
        if rng.random() < 0.7:
            routes.setdefault(ends[::-1], segment)
    return routes


def zone(routes: Routes, order: list[str], *, by_floyd: bool) -> GraphZone:
    """Return a zone with these routes."""
    edges: dict[str, list[tuple[str, Segment]]] = {}
    for (source, destination), segment in routes.items():
        edges.setdefault(source, []).append((destination, segment))
    return GraphZone("z", "", edges, {point: rank for rank, point in enumerate(order)}, by_floyd)


def three_loops(routes: Routes, order: list[str]) -> dict[tuple[str, str], list[Segment] | None]:
    """Return all paths as SimGrid finds them, with one more intermediate point at a time."""
    cost = {(a, b): math.inf for a in order for b in order}
    last = dict[tuple[str, str], str]()
    own: Routes = {(a, a): OWN_LOOPBACK for a in order}
    for (a, b), segment in {**own, **routes}.items():
        cost[a, b], last[a, b] = len(segment.links), a
    for c in order:
        for a in order:
            for b in order:
                if cost[a, c] + cost[c, b] < cost[a, b]:
                    cost[a, b], last[a, b] = cost[a, c] + cost[c, b], last[c, b]
    edges, found = {**own, **routes}, dict[tuple[str, str], list[Segment] | None]()
    for a in order:
        for b in order:
            path, point = list[Segment](), b
            while math.isfinite(cost[a, b]) and (not path or point != a):
                path.insert(0, edges[last[a, point], point])
                point = last[a, point]
            found[a, b] = path or None
    return found


@pytest.mark.parametrize("seed", range(60))
def test_floyd_takes_the_path_of_the_three_loops(seed: int) -> None:
    """For all pairs, also with routes of no link, from a point to itself, and without a way."""
    rng = random.Random(seed)
    points = [f"p{number}" for number in range(rng.randint(2, 9))]
    routes = draw_routes(rng, points, least=seed % 2)
    rng.shuffle(points)
    paths, found = zone(routes, points, by_floyd=True), three_loops(routes, points)
    for (a, b), path in found.items():
        segments = paths.segments(a, b)
        assert (None if segments is None else list(segments)) == path, (a, b, points, routes)


def slow_dijkstra(routes: Routes, order: list[str], source: str) -> dict[str, int]:
    """Return the fewest links to each point that is reached, found by relaxing all routes again and again."""
    cost = {source: 0}
    for _ in order:
        for (a, b), segment in routes.items():
            if a in cost:
                cost[b] = min(cost.get(b, 1_000), cost[a] + len(segment.links))
    return cost


@pytest.mark.parametrize("seed", range(30))
def test_dijkstra_takes_a_shortest_path(seed: int) -> None:
    """Or finds none."""
    rng = random.Random(seed)
    points = [f"p{number}" for number in range(rng.randint(2, 9))]
    routes = draw_routes(rng, points, least=1)
    named = list(dict.fromkeys(point for ends in routes for point in ends))
    paths = zone(routes, named, by_floyd=False)
    for a in named:
        cost = slow_dijkstra(routes, named, a)
        for b in named:
            segments = paths.segments(a, b)
            if a != b:
                links = None if segments is None else sum(len(segment.links) for segment in segments)
                assert links == cost.get(b)


def corner(names: str, *, by_floyd: bool) -> str:
    """Return the point between a and d in the ring a, b, d, c whose points, or routes, are declared in this order."""
    steps = {"b": Segment((Link("ab", 1.0, 0.0),)), "c": Segment((Link("ac", 1.0, 0.0),))}
    routes = {("a", "b"): steps["b"], ("a", "c"): steps["c"]}
    routes |= {("b", "d"): Segment((Link("bd", 1.0, 0.0),)), ("c", "d"): Segment((Link("cd", 1.0, 0.0),))}
    (first, _) = zone(routes, list(names), by_floyd=by_floyd).segments("a", "d") or ()
    return first.links[0].name[1]


@pytest.mark.parametrize("by_floyd", [True, False])
def test_of_two_paths_the_first_point_counts(by_floyd: bool) -> None:
    """With Floyd as the points are declared, with Dijkstra as routes name them."""
    assert corner("abcd", by_floyd=by_floyd) == "b"
    assert corner("acbd", by_floyd=by_floyd) == "c"


def test_a_point_in_no_route_has_none_to_itself_with_dijkstra() -> None:
    """SimGrid crashes; with Floyd it has the loopback."""
    assert zone({}, [], by_floyd=False).segments("a", "a") is None
    (own,) = zone({}, ["a"], by_floyd=True).segments("a", "a") or ()
    assert own.links == (LOOPBACK,)


def test_ways_between_all_are_ways_there_and_back() -> None:
    """One direction is not enough, nor a point without a route."""
    there = Segment((Link("l", 1.0, 0.0),), "a", "b")
    one_way, both = {("a", "b"): there}, {("a", "b"): there, ("b", "a"): there}
    assert not zone(one_way, ["a", "b"], by_floyd=True).has_ways_between_all()
    assert zone(both, ["a", "b"], by_floyd=True).has_ways_between_all()
    assert not zone(both, ["a", "b", "c"], by_floyd=True).has_ways_between_all()

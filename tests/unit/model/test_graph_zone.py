"""Shortest paths in graphs of routes: of several, the one that SimGrid takes."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from batsched_py.model.graph_zone import GraphZone
from batsched_py.model.zone import LOOPBACK, OWN_LOOPBACK, Link, Segment
from tests.route_rules import dijkstra, floyd
from tests.thoroughness import thorough

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


def costs(routes: Routes) -> dict[tuple[str, str], int]:
    """Return the numbers of links."""
    return {ends: len(segment.links) for ends, segment in routes.items()}


def along(path: list[str] | None, routes: Routes) -> tuple[Segment, ...] | None:
    """Return the segments between the points of a path."""
    return None if path is None else tuple(routes.get(step, OWN_LOOPBACK) for step in pairwise(path))


@pytest.mark.parametrize("seed", range(thorough(30)))
def test_floyd_takes_the_path_of_the_three_loops(seed: int) -> None:
    """For all pairs, also with routes of no link, from a point to itself, and without a way."""
    rng = random.Random(seed)
    points = [f"p{number}" for number in range(rng.randint(2, 9))]
    routes = draw_routes(rng, points, least=seed % 2)
    rng.shuffle(points)
    paths = zone(routes, points, by_floyd=True)
    for (a, b), path in floyd(costs(routes), points).items():
        assert paths.segments(a, b) == along(path, routes), (a, b, points, routes)


@pytest.mark.parametrize("seed", range(thorough(30)))
def test_dijkstra_takes_the_path_of_a_scan_of_all_points(seed: int) -> None:
    """Or finds none."""
    rng = random.Random(seed)
    points = [f"p{number}" for number in range(rng.randint(2, 9))]
    routes = draw_routes(rng, points, least=seed % 2)
    named = list(dict.fromkeys(point for ends in routes for point in ends))
    paths = zone(routes, named, by_floyd=False)
    for a in named:
        found = dijkstra(costs(routes), a)
        for b in named:
            if a != b:
                assert paths.segments(a, b) == along(found.get(b), routes), (a, b, routes)


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

"""Routes of drawn platforms of all kinds, link by link, against a naive computation by SimGrid's rules."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from batsched_py.traces.simgrid_xml import read_platform
from tests.drawn_platforms import KINDS, Drawing
from tests.route_rules import route
from tests.thoroughness import thorough

#: Most hosts of a platform between which routes are compared.
MOST = 14


def compare(kind: str, seed: int, folder: Path) -> None:
    """Compare the routes between hosts in both directions and to themselves.

    Links need not have the names that they have here, but where one is met again it is the same.
    """
    drawing = Drawing(seed)
    world = drawing.world(kind)
    (folder / "platform.xml").write_text(world.text)
    platform = read_platform(folder / "platform.xml")
    hosts = drawing.rng.sample(sorted(world.hosts), min(MOST, len(world.hosts)))
    names, wires = dict[str, str](), dict[str, str]()
    for a in hosts:
        for b in hosts:
            found, expected = platform.route(a, b), route(world.area, a, b)
            crossed = [wire for wire in expected if math.isfinite(wire.bandwidth)]
            parameters = [(link.bandwidth, link.latency, link.shared) for link in found.links]
            assert parameters == [wire[1:] for wire in crossed], (a, b)
            for link, wire in zip(found.links, crossed, strict=True):
                assert names.setdefault(wire.name, link.name) == link.name, (a, b)
                assert wires.setdefault(link.name, wire.name) == wire.name, (a, b)
            assert found.latency == pytest.approx(sum(wire.latency for wire in expected), rel=1e-9)


@pytest.mark.parametrize("seed", range(thorough(8)))
@pytest.mark.parametrize("kind", KINDS)
def test_routes_in_a_zone_are_those_of_the_rules(kind: str, seed: int, tmp_path: Path) -> None:
    """With links of all policies, limiters and loopbacks; bypassed, asymmetric, and to themselves."""
    compare(kind, seed, tmp_path)


@pytest.mark.parametrize("seed", range(thorough(25)))
def test_routes_across_zones_are_those_of_the_rules(seed: int, tmp_path: Path) -> None:
    """Up to three levels, with ties among paths over zones, other gateways on the way on, and bypasses."""
    compare("nested", seed, tmp_path)

"""The usual parameters of fat trees, dragonflies and tori of a number of hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final, Literal

from batsched_py.bits import MAX_HOST

#: Shapes of networks.
Shape = Literal["fat-tree", "dragonfly", "torus"]
#: Shape -> SimGrid's name.
TOPOLOGIES: Final[Mapping[Shape, str]] = {"fat-tree": "FAT_TREE", "dragonfly": "DRAGONFLY", "torus": "TORUS"}

#: The largest numbers of ports down of a switch, of hosts at a router, and of chassis in a group.
_PORTS: Final = 32
_NODES: Final = 16
_CHASSIS: Final = 16


def shape_parameters(shape: Shape, hosts: int) -> str:
    """Return SimGrid's `topo_parameters` of a shape with this number of hosts; ValueError if it has none.

    A fat tree has two levels if that is enough for switches of 32 ports down, else three, each with as many ports up as
    down: it is non-blocking. A dragonfly has as many groups as blades, or nearly, and up to 16 hosts at a router. A
    torus has three dimensions, which differ as little as possible.
    """
    if not 4 <= hosts <= MAX_HOST:
        raise ValueError(f"must be from 4 to {MAX_HOST} for a {shape}, not {hosts}")
    found = {"fat-tree": _fat_tree, "dragonfly": _dragonfly, "torus": _torus}[shape](hosts)
    if found is None:
        near = _nearest(shape, hosts)
        raise ValueError(f"must be a product of whole numbers that a {shape} has, not {hosts}; {near} is near")
    return found


def _nearest(shape: Shape, hosts: int) -> int:
    """Return a number of hosts near this one with which the shape exists."""
    parameters = {"fat-tree": _fat_tree, "dragonfly": _dragonfly, "torus": _torus}[shape]
    around = (near for distance in count(1) for near in (hosts + distance, hosts - distance))
    return next(near for near in around if near >= 4 and parameters(near) is not None)


def _fat_tree(hosts: int) -> str | None:
    for levels in (2, 3):
        ports = _balanced(hosts, levels, _PORTS)
        if ports is not None:
            up = (1, *ports[:-1])
            numbers = (ports, up, (1,) * levels)
            return f"{levels};{';'.join(','.join(map(str, each)) for each in numbers)}"
    return None


def _dragonfly(hosts: int) -> str | None:
    best: tuple[float, tuple[int, int, int, int]] | None = None
    for nodes in _divisors(hosts, _NODES):
        for chassis in _divisors(hosts // nodes, _CHASSIS):
            rest = hosts // nodes // chassis
            groups = max((one for one in _divisors(rest, int(rest**0.5))), default=1)
            blades = rest // groups
            if groups > 1 and blades > 1:
                cost = abs(blades - groups) + abs(nodes - 4) / 4 + abs(chassis - 4) / 4
                best = min(best or (cost, (groups, chassis, blades, nodes)), (cost, (groups, chassis, blades, nodes)))
    if best is None or best[0] > hosts / 4:
        return None
    groups, chassis, blades, nodes = best[1]
    return f"{groups},1;{chassis},1;{blades},1;{nodes}"


def _torus(hosts: int) -> str | None:
    sizes = _balanced(hosts, 3, hosts)
    return None if sizes is None or sizes[0] < 2 else ",".join(map(str, reversed(sizes)))


def _balanced(number: int, count: int, most: int) -> tuple[int, ...] | None:
    """Return factors of at least 2 and at most `most`, ascending, that differ as little as possible; None if none."""
    if count == 1:
        return (number,) if 2 <= number <= most else None
    found: tuple[int, ...] | None = None
    for factor in _divisors(number, min(most, round(number ** (1 / count) + 1))):
        rest = _balanced(number // factor, count - 1, most) if factor > 1 else None
        if rest is not None and (found is None or max(*rest, factor) - min(*rest, factor) < found[-1] - found[0]):
            found = tuple(sorted((factor, *rest)))
    return found


def _divisors(number: int, most: int) -> Iterator[int]:
    return (divisor for divisor in range(1, min(number, most) + 1) if number % divisor == 0)

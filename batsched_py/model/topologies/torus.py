"""Tori: grids of any number of dimensions whose ends are connected."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import mul

from batsched_py.model.topologies.cables import Cables
from batsched_py.model.topologies.crossings import Cable, Crossings
from batsched_py.model.zone import Link
from batsched_py.text.representation import Brief

# Position p has the coordinates p mod d0, p // d0 mod d1, ... Each host owns one cable for each dimension, to its
# neighbour in the direction +. In a dimension of two hosts there are thus two cables between them.

# A `Cable` is the number of one of (its host, its dimension, True if crossed in the direction +).


class Torus(Brief, frozen=True):
    """A torus with these numbers of hosts in its dimensions."""

    sizes: tuple[int, ...]

    @property
    def hosts(self) -> int:
        """Number of positions."""
        return math.prod(self.sizes)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Sizes of lines in the first dimension, planes in the first two, and so on."""
        return tuple(accumulate(self.sizes[:-1], mul))

    def curve(self) -> Sequence[int]:
        """Return the positions along a curve that goes to and fro in each dimension, in the shortest ones first.

        Each position is a neighbour of the one before it.
        """
        strides = [1, *accumulate(self.sizes[:-1], mul)]
        walk = [0]
        for size, stride in sorted(zip(self.sizes, strides, strict=True)):
            there_and_back = (walk, walk[::-1])
            walk = [position + place * stride for place in range(size) for position in there_and_back[place % 2]]
        return walk

    def places(self, position: int) -> tuple[int, ...]:  # noqa: ARG002
        """Return no numbers: each host is its own switch."""
        return ()

    def way(self, source: int, destination: int, cables: Cables) -> Iterator[Link]:
        """Yield the links: dimension after dimension, one way round in each."""
        here, stride = source, 1
        for dimension, size in enumerate(self.sizes):
            place = here // stride % size
            line = here - place * stride
            for step in _steps(place, destination // stride % size, size):
                owner, forward = divmod(step, 2)
                yield from cables.limiter(str(line + (owner if forward else (owner + 1) % size) * stride))
                yield self.link(self._cable(line + owner * stride, dimension, forward), cables)
            here = line + destination // stride % size * stride
            stride *= size
        yield from cables.limiter(str(destination))

    def link(self, cable: Cable, cables: Cables) -> Link:
        """Return the link of a cable in one direction."""
        owner, way = divmod(cable, 2 * len(self.sizes))
        dimension, forward = divmod(way, 2)
        return cables.cable(f"{owner}_{dimension}", up=bool(forward))

    def _cable(self, owner: int, dimension: int, forward: int) -> Cable:
        return (owner * len(self.sizes) + dimension) * 2 + forward

    def crossings(self, positions: Sequence[int]) -> Crossings:
        """Count the crossings of an exchange.

        After some dimensions, the pairs with the same coordinates of the target in these and of the source in the
        others are at the same host, and go the same ways in the next dimension.
        """
        pairs: dict[Cable, int] = {}
        #: Host that some pairs have reached -> most links so far.
        flows = dict.fromkeys(positions, 0)
        stride = 1
        for dimension, size in enumerate(self.sizes):
            sources = Counter([position // stride for position in positions])
            targets = _targets(positions, stride, size)
            reached: dict[int, int] = {}
            #: First host of a ring -> step in it -> number of pairs.
            rings: dict[int, list[int]] = {}
            for here, links in flows.items():
                count, place = sources[here // stride], here // stride % size
                line = here - place * stride
                ring = rings.get(line)
                if ring is None:
                    ring = rings[line] = [0] * (2 * size)
                for target, times in targets[here % stride].items():
                    steps, crossing = _steps(place, target, size), count * times
                    for step in steps:
                        ring[step] += crossing
                    there = line + target * stride
                    most = links + len(steps)
                    if most >= reached.get(there, 0):
                        reached[there] = most
            pairs.update(self._cables(rings, dimension, stride))
            flows, stride = reached, stride * size
        return Crossings(pairs, max(flows.values()))

    def _cables(self, rings: Mapping[int, list[int]], dimension: int, stride: int) -> Iterator[tuple[Cable, int]]:
        """Yield (cable, number of pairs) of rings, which are first host -> step -> number of pairs."""
        for line, ring in rings.items():
            for step, crossing in enumerate(ring):
                if crossing:
                    yield self._cable(line + (step >> 1) * stride, dimension, step & 1), crossing


def _targets(positions: Sequence[int], stride: int, size: int) -> Mapping[int, Mapping[int, int]]:
    """Return coordinates in the dimensions before that of this stride -> coordinate in this one -> number of hosts."""
    targets = defaultdict[int, dict[int, int]](dict)
    for position in positions:
        places = targets[position % stride]
        place = position // stride % size
        places[place] = places.get(place, 0) + 1
    return targets


@lru_cache(maxsize=16_384)
def _steps(place: int, target: int, size: int) -> tuple[int, ...]:
    """Return the way in a ring: for each cable twice the place that owns it, plus 1 in the direction +."""
    if _is_forward(place, target, size):
        return tuple([2 * (each % size) + 1 for each in range(place, place + (target - place) % size)])
    return tuple([2 * (each % size) for each in range(place - 1, place - 1 - (place - target) % size, -1)])


def _is_forward(place: int, target: int, size: int) -> bool:
    """Return SimGrid's choice of the direction; at half of the size it depends on the place."""
    half = size // 2
    return place < target <= place + half or (place > half and (place + half) % size >= target)

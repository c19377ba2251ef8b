"""Tori: grids of any number of dimensions whose ends are connected."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import mul

from batsched_py.model.topologies.cables import Cables
from batsched_py.model.topologies.crossings import Cable, Crossings
from batsched_py.model.zone import Link
from batsched_py.text.representation import Brief

# Position p has the coordinates p mod d0, p // d0 mod d1, ... Each host owns one cable for each dimension, to its
# neighbour in the direction +. In a dimension of two hosts there are thus two cables between them.

# A `Cable` is (its host, its dimension, True if crossed in the direction +).


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
            forward, owners = _steps(place, destination // stride % size, size)
            for owner in owners:
                yield from cables.limiter(str(line + (owner if forward else (owner + 1) % size) * stride))
                yield self.link((line + owner * stride, dimension, forward), cables)
            here = line + destination // stride % size * stride
            stride *= size
        yield from cables.limiter(str(destination))

    def link(self, cable: Cable, cables: Cables) -> Link:
        """Return the link of a cable in one direction."""
        owner, dimension, forward = cable
        return cables.cable(f"{owner}_{dimension}", up=bool(forward))

    def crossings(self, positions: Sequence[int]) -> Crossings:
        """Count the crossings of an exchange.

        After some dimensions, the pairs with the same coordinates of the target in these and of the source in the
        others are at the same host, and go the same ways in the next dimension.
        """
        pairs = defaultdict[Cable, int](int)
        #: Host that some pairs have reached -> most links so far.
        flows = dict.fromkeys(positions, 0)
        stride = 1
        for dimension, size in enumerate(self.sizes):
            sources = Counter(position // stride for position in positions)
            #: Coordinates in the dimensions before -> coordinate in this one -> number of targets.
            targets = defaultdict[int, Counter[int]](Counter)
            for position in positions:
                targets[position % stride][position // stride % size] += 1
            reached: dict[int, int] = {}
            for here, links in flows.items():
                count, place = sources[here // stride], here // stride % size
                line = here - place * stride
                for target, times in targets[here % stride].items():
                    forward, owners = _steps(place, target, size)
                    for owner in owners:
                        pairs[line + owner * stride, dimension, forward] += count * times
                    there = line + target * stride
                    reached[there] = max(reached.get(there, 0), links + len(owners))
            flows, stride = reached, stride * size
        return Crossings(pairs, max(flows.values()))


@lru_cache(maxsize=1_024)
def _steps(place: int, target: int, size: int) -> tuple[bool, tuple[int, ...]]:
    """Return the way in a ring: True for the direction +, and the places that own its cables in turn."""
    forward = _is_forward(place, target, size)
    if forward:
        return True, tuple([each % size for each in range(place, place + (target - place) % size)])
    return False, tuple([each % size for each in range(place - 1, place - 1 - (place - target) % size, -1)])


def _is_forward(place: int, target: int, size: int) -> bool:
    """Return SimGrid's choice of the direction; at half of the size it depends on the place."""
    half = size // 2
    return place < target <= place + half or (place > half and (place + half) % size >= target)

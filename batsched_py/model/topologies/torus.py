"""Tori: grids of any number of dimensions whose ends are connected."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import mul

from batsched_py.model.topologies.cables import Cables
from batsched_py.model.topologies.crossings import Cable, Crossings
from batsched_py.model.zone import Link
from batsched_py.text.representation import Brief

# Position p has the coordinates p mod d0, p // d0 mod d1, ... Each host owns one cable for each dimension, to its
# neighbour in the direction +. In a dimension of two hosts there are thus two cables between them.

#: Coordinates, of all dimensions or of the first or last ones.
_Place = tuple[int, ...]


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
            for left, name, forward, there in self._steps(here, destination // stride % size, dimension, stride):
                yield from cables.limiter(str(left))
                yield cables.cable(name, up=forward)
                here = there
            stride *= size
        yield from cables.limiter(str(destination))

    def crossings(self, positions: Sequence[int]) -> Crossings:
        """Count the crossings of an exchange.

        After some dimensions, the pairs with the same coordinates of the target in these and of the source in the
        others are at the same host, and go the same way in the next dimension.
        """
        places = [self._coordinates(position) for position in positions]
        pairs = Counter[Cable]()
        #: (the source's coordinates that are left, the target's that are reached) -> most links so far.
        flows: dict[tuple[_Place, _Place], int] = {(place, ()): 0 for place in places}
        stride = 1
        for dimension, size in enumerate(self.sizes):
            sources = Counter(place[dimension:] for place in places)
            targets = defaultdict[_Place, Counter[int]](Counter)
            for place in places:
                targets[place[:dimension]][place[dimension]] += 1
            reached: dict[tuple[_Place, _Place], int] = {}
            for (left, gone), links in flows.items():
                here = self._position((*gone, *left))
                for target, count in targets[gone].items():
                    steps = list(self._steps(here, target, dimension, stride))
                    for _, name, forward, _ in steps:
                        pairs[name, forward, 1] += sources[left] * count
                    flow = left[1:], (*gone, target)
                    reached[flow] = max(reached.get(flow, 0), links + len(steps))
            flows, stride = reached, stride * size
        return Crossings(pairs, max(flows.values()))

    def _steps(self, here: int, target: int, dimension: int, stride: int) -> Iterator[tuple[int, str, bool, int]]:
        """Yield (host, name of the cable, True for the direction +, next host) to a coordinate of one dimension."""
        size = self.sizes[dimension]
        place = here // stride % size
        forward = _is_forward(place, target, size)
        while place != target:
            after = (place + (1 if forward else -1)) % size
            there = here + (after - place) * stride
            yield here, f"{here if forward else there}_{dimension}", forward, there
            here, place = there, after

    def _coordinates(self, position: int) -> _Place:
        found = []
        for size in self.sizes:
            position, place = divmod(position, size)
            found.append(place)
        return tuple(found)

    def _position(self, place: _Place) -> int:
        position = 0
        for size, coordinate in zip(reversed(self.sizes), reversed(place), strict=True):
            position = position * size + coordinate
        return position


def _is_forward(place: int, target: int, size: int) -> bool:
    """Return SimGrid's choice of the direction; at half of the size it depends on the place."""
    half = size // 2
    return place < target <= place + half or (place > half and (place + half) % size >= target)

"""Tori: grids of any number of dimensions whose ends are connected."""

from __future__ import annotations

import math
from collections.abc import Iterator

from batsched_py.model.topologies.cables import Cables
from batsched_py.model.zone import Link
from batsched_py.text.representation import Brief

# Position p has the coordinates p mod d0, p // d0 mod d1, ... Each host owns one cable for each dimension, to its
# neighbour in the direction +. In a dimension of two hosts there are thus two cables between them.


class Torus(Brief, frozen=True):
    """A torus with these numbers of hosts in its dimensions."""

    sizes: tuple[int, ...]

    @property
    def hosts(self) -> int:
        """Number of positions."""
        return math.prod(self.sizes)

    def way(self, source: int, destination: int, cables: Cables) -> Iterator[Link]:
        """Yield the links: dimension after dimension, one way round in each."""
        here, stride = source, 1
        for dimension, size in enumerate(self.sizes):
            place, target = here // stride % size, destination // stride % size
            forward = _is_forward(place, target, size)
            while place != target:
                yield from cables.limiter(str(here))
                place = (place + (1 if forward else -1)) % size
                there = here + (place - here // stride % size) * stride
                yield cables.cable(f"{here if forward else there}_{dimension}", up=forward)
                here = there
            stride *= size
        yield from cables.limiter(str(destination))


def _is_forward(place: int, target: int, size: int) -> bool:
    """Return SimGrid's choice of the direction; at half of the size it depends on the place."""
    half = size // 2
    return place < target <= place + half or (place > half and (place + half) % size >= target)

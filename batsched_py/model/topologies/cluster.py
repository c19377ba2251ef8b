"""A cluster whose hosts have positions in a topology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from batsched_py.model.topologies.cables import Cables
from batsched_py.model.topologies.crossings import Cable, Crossings
from batsched_py.model.zone import Link, Segment
from batsched_py.text.representation import Brief


class Topology(Protocol):
    """The shape of a cluster: its positions, and the ways between them."""

    @property
    def hosts(self) -> int:
        """Number of positions."""

    @property
    def blocks(self) -> tuple[int, ...]:
        """Sizes of nested blocks of consecutive positions that are near each other, ascending; none has all."""

    def curve(self) -> Sequence[int]:
        """Return all positions in an order in which neighbours are near each other."""

    def places(self, position: int) -> tuple[int, ...]:
        """Return the number of the switch of a position, then that of its group, as far as the shape has them."""

    def way(self, source: int, destination: int, cables: Cables) -> Iterator[Link]:
        """Yield the links from one position to another, or to itself without a loopback."""

    def crossings(self, positions: Sequence[int]) -> Crossings:
        """Count the crossings of an exchange between all of these different positions; there are at least two."""

    def link(self, cable: Cable, cables: Cables) -> Link:
        """Return the link of a cable in one direction."""


class TopologyZone(Brief, frozen=True):
    """A cluster of topology TORUS, FAT_TREE or DRAGONFLY. It has no router: other zones reach it through a host."""

    name: str
    parent: str
    #: host -> position, its rank in the radical.
    positions: Mapping[str, int]
    topology: Topology
    cables: Cables

    def segments(self, source: str, destination: str) -> tuple[Segment, ...] | None:
        """Return the route between two hosts, in one segment."""
        start, end = self.positions[source], self.positions[destination]
        links = self.cables.loopback(start) if start == end else ()
        return (Segment(links or tuple(self.topology.way(start, end, self.cables))),)

"""The reservations of one pass of backfill by time: which nodes are reserved, and when this changes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class PlannedStart:
    """A planned start of a job, and what is reserved for it: [begin, end) and the nodes as bits."""

    job: str
    start: float
    begin: float
    end: float
    nodes: int
    licences: tuple[tuple[str, int], ...] = ()

    def overlaps(self, begin: float, end: float) -> bool:
        """Does the reservation overlap an interval?"""
        return self.begin < end and begin < self.end


class PlanTable:
    """Reservations of nodes by time: between two edges the reserved nodes are the same."""

    def __init__(self) -> None:
        #: Begins and ends in order, each once; and the nodes that are reserved from each edge until the next.
        self.edges: list[float] = []
        self.reserved_nodes: list[int] = []
        #: End and begin of each reservation, by the end; and the begins.
        self.ends: list[tuple[float, float]] = []
        self._begins: list[float] = []

    def add(self, one: PlannedStart) -> None:
        """Add a reservation."""
        first, last = self._edge(one.begin), self._edge(one.end)
        for at in range(first, last):
            self.reserved_nodes[at] |= one.nodes
        insort(self.ends, (one.end, one.begin))
        insort(self._begins, one.begin)

    def _edge(self, instant: float) -> int:
        """Return the number of an edge, which is made if it is new."""
        at = bisect_left(self.edges, instant)
        if at == len(self.edges) or self.edges[at] != instant:
            self.edges.insert(at, instant)
            self.reserved_nodes.insert(at, self.reserved_nodes[at - 1] if at else 0)
        return at

    def reserved(self, begin: float, end: float) -> int:
        """Return the nodes that are reserved at an instant from begin to end, both inclusive."""
        edges = self.edges
        first = bisect_right(edges, begin)
        nodes = 0
        for reserved in self.reserved_nodes[first - 1 if first else 0 : bisect_right(edges, end, first)]:
            nodes |= reserved
        return nodes

    def is_free(self, nodes: int, begin: float, end: float) -> bool:
        """Is none of these nodes reserved within [begin, end)?"""
        first = max(bisect_right(self.edges, begin) - 1, 0)
        return not any(self.reserved_nodes[at] & nodes for at in range(first, bisect_left(self.edges, end)))

    def next_end(self, begin: float, end: float) -> float:
        """Return the first end of the reservations at an instant from begin to end, both inclusive; or infinity."""
        for at in range(bisect_right(self.ends, (begin, inf)), len(self.ends)):
            until, since = self.ends[at]
            if since <= end:
                return until
        return inf

    def next_edge(self, after: float) -> float:
        """Return the first edge after an instant; infinite if there is none."""
        at = bisect_right(self.edges, after)
        return self.edges[at] if at < len(self.edges) else inf

    def next_begin(self, after: float) -> float:
        """Return the first begin of a reservation after an instant; infinite if there is none."""
        at = bisect_right(self._begins, after)
        return self._begins[at] if at < len(self._begins) else inf

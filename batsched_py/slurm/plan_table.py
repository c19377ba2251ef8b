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
        self._nodes: list[int] = []
        #: End and begin of each reservation, by the end; and the begins.
        self._ends: list[tuple[float, float]] = []
        self._begins: list[float] = []

    def add(self, one: PlannedStart) -> None:
        """Add a reservation."""
        first, last = self._edge(one.begin), self._edge(one.end)
        for at in range(first, last):
            self._nodes[at] |= one.nodes
        insort(self._ends, (one.end, one.begin))
        insort(self._begins, one.begin)

    def _edge(self, instant: float) -> int:
        """Return the number of an edge, which is made if it is new."""
        at = bisect_left(self.edges, instant)
        if at == len(self.edges) or self.edges[at] != instant:
            self.edges.insert(at, instant)
            self._nodes.insert(at, self._nodes[at - 1] if at else 0)
        return at

    def reserved(self, begin: float, end: float) -> int:
        """Return the nodes that are reserved at an instant from begin to end, both inclusive."""
        edges = self.edges
        first = bisect_right(edges, begin)
        nodes = 0
        for reserved in self._nodes[first - 1 if first else 0 : bisect_right(edges, end, first)]:
            nodes |= reserved
        return nodes

    def next_room(self, since: float, seconds: float, nodes: int, count: int) -> float:
        """Return the first edge from an instant on at which so many of the nodes are not reserved for so long.

        The interval is inclusive, as for `reserved`; infinite if there is no such edge.
        """
        edges, reserved = self.edges, self._nodes
        at = bisect_left(edges, since)
        while at < len(edges):
            free = nodes
            for until in range(at, bisect_right(edges, edges[at] + seconds)):
                free ^= free & reserved[until]
                if free.bit_count() < count:
                    if (nodes ^ (nodes & reserved[until])).bit_count() < count:
                        at = until  # nor is there room for any interval with this edge
                    break
            else:
                return edges[at]
            at += 1
        return inf

    def next_chance(self, since: float, seconds: float, nodes: int, count: int, *, least: float) -> float:
        """Return the first edge from an instant on with room, from which a start is possible before a reservation ends.

        It is not before `least`; infinite if there is no such edge.
        """
        while True:
            since = self.next_room(since, seconds, nodes, count)
            if since >= least or since == inf:
                return since
            until = self.next_end(since, since + seconds)
            if until >= least:
                return since
            since = until

    def is_free(self, nodes: int, begin: float, end: float) -> bool:
        """Is none of these nodes reserved within [begin, end)?"""
        first = max(bisect_right(self.edges, begin) - 1, 0)
        return not any(self._nodes[at] & nodes for at in range(first, bisect_left(self.edges, end)))

    def next_end(self, begin: float, end: float) -> float:
        """Return the first end of the reservations at an instant from begin to end, both inclusive; or infinity."""
        for at in range(bisect_right(self._ends, (begin, inf)), len(self._ends)):
            until, since = self._ends[at]
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

"""Fat trees: hosts below levels of switches, with several ways between most of them (Leiserson 1985)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import mul

from batsched_py.model.topologies.cables import Cables
from batsched_py.model.topologies.crossings import Cable, Crossings
from batsched_py.model.zone import Link
from batsched_py.text.representation import Brief

# A node of level i (0: host) is a tuple of digits, of which digit j < i counts up to parents[j], and the others to
# children[j]. A node and one above it are joined if all digits but digit i agree: it is the child's number in the
# parent, or the parent's number for the child. The destination chooses the way up (d-mod-k: Zahavi et al. 2010), the
# source the cables down. Two quirks of SimGrid 3.32 change times, and are as there:
#
# * A switch searches its ports for the child, cable by cable, from the one that the source selects. In the next switch
#   the search goes on from the next port number instead of that switch's own; only if none fits it begins anew.
# * Positions go on from one fat tree of the platform to the next: `before` is the number of hosts in those before this.

#: Digits of a node.
_Node = tuple[int, ...]


class FatTree(Brief, frozen=True):
    """A fat tree; each tuple has a number for each level, from the hosts up.

    Attributes:
        children: number of children of a switch.
        parents: number of parents of a node.
        parallel: number of cables between a child and a parent.
        before: number of hosts in earlier fat trees of the platform.
    """

    children: tuple[int, ...]
    parents: tuple[int, ...]
    parallel: tuple[int, ...]
    before: int = 0

    @property
    def hosts(self) -> int:
        """Number of positions."""
        return math.prod(self.children)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Sizes of the subtrees of each level below the highest."""
        return tuple(accumulate(self.children[:-1], mul))

    def curve(self) -> Sequence[int]:
        """Return the positions as numbered."""
        return range(self.hosts)

    @property
    def switches(self) -> int:
        """Number of switches on all levels."""
        levels = range(1, len(self.children) + 1)
        return sum(math.prod(self.parents[:level]) * math.prod(self.children[level:]) for level in levels)

    def places(self, position: int) -> tuple[int, ...]:
        """Return the number of the lowest switch above a position, or of the lowest switches if it has several."""
        return (position // self.children[0],)

    def way(self, source: int, destination: int, cables: Cables) -> Iterator[Link]:
        """Yield the links up to the first common switch, and down."""
        node, target, level = self._digits(source), self._digits(destination), 0
        yield from cables.limiter(_name(node, level))
        while level == 0 or node[level:] != target[level:]:
            cable, node = self._up(node, level, destination + self.before)
            level += 1
            yield cables.of(cable)
            yield from cables.limiter(_name(node, level))
        for cable, below in self._down(node, level, target, source + self.before):
            level -= 1
            yield cables.of(cable)
            yield from cables.limiter(_name(below, level))

    def crossings(self, positions: Sequence[int]) -> Crossings:
        """Count the crossings of an exchange.

        All sources below a switch share the way up to a destination, and those whose numbers have the same remainder
        by the numbers of parallel cables the way down.
        """
        pairs, longest, period = Counter[Cable](), 1, math.lcm(*self.parallel)
        places = {position: self._digits(position) for position in positions}
        sources = defaultdict[_Node, Counter[int]](Counter)
        #: Choice of the way up from a host -> number of destinations with it.
        choices = Counter((position + self.before) % (self.parents[0] * self.parallel[0]) for position in positions)
        for position, node in places.items():
            number = position + self.before
            sources[node[1:]][number % period] += 1
            for choice, count in choices.items():
                own = number % (self.parents[0] * self.parallel[0]) == choice
                pairs[self._up(node, 0, choice)[0]] += count - own
        for position, target in places.items():
            longest = max(longest, self._count_to(position + self.before, target, sources, pairs))
        return Crossings(pairs, 2 * longest)

    def _count_to(
        self, destination: int, target: _Node, sources: Mapping[_Node, Counter[int]], pairs: Counter[Cable]
    ) -> int:
        """Count the crossings to a destination above the lowest switches; return the highest level.

        Args:
            destination: its number in all fat trees.
            target: its digits.
            sources: digits that the hosts of a lowest switch share -> remainder -> number of sources.
            pairs: receives the crossings.
        """
        _, node = self._up(target, 0, destination)
        waiting, level, highest = dict(sources), 1, 1
        period = math.lcm(*self.parallel)
        while True:
            arrived = waiting.pop(target[level:], None)
            if arrived is not None:
                if level == 1:
                    arrived = arrived - Counter([destination % period])
                for remainder, count in arrived.items():
                    for cable, _ in self._down((*node[:level], *target[level:]), level, target, remainder):
                        pairs[cable] += count
                highest = level if arrived else highest
            if not waiting:
                return highest
            above = defaultdict[_Node, Counter[int]](Counter)
            for rest, counts in waiting.items():
                cable, node = self._up((*node[:level], *rest), level, destination)
                pairs[cable] += counts.total()
                above[rest[1:]] += counts
            waiting, level = above, level + 1

    def _up(self, node: _Node, level: int, destination: int) -> tuple[Cable, _Node]:
        """Return the cable and the node above that a destination, by its number in all fat trees, chooses."""
        count = self.parents[level]
        choice = destination // math.prod(self.parents[:level]) % (count * self.parallel[level])
        name = f"{_name(node, level)}_{choice % count}_{choice // count}"
        return (name, True, 1), (*node[:level], choice % count, *node[level + 1 :])

    def _down(self, node: _Node, level: int, target: _Node, source: int) -> Iterator[tuple[Cable, _Node]]:
        """Yield the cables and the nodes from a switch to a host; `source` is its number in all fat trees."""
        port = self._first_port(level, source)
        while level > 0:
            level -= 1
            size, last = self.children[level], self.children[level] * self.parallel[level]
            fits = next((each for each in range(port, last) if each % size == target[level]), None)
            if fits is None:
                first = self._first_port(level + 1, source)
                fits = next(each for each in range(first, last) if each % size == target[level])
            above = node[level]
            node = (*node[:level], target[level], *node[level + 1 :])
            yield (f"{_name(node, level)}_{above}_{fits // size}", False, 1), node
            port = fits + 1

    def _first_port(self, level: int, source: int) -> int:
        """Return the port at which a switch of this level begins its search."""
        return source % self.parallel[level - 1] * self.children[level - 1]

    def _digits(self, position: int) -> tuple[int, ...]:
        digits = []
        for size in self.children:
            digits.append(position % size)
            position //= size
        return tuple(digits)


def _name(node: tuple[int, ...], level: int) -> str:
    return f"{level}:{'.'.join(map(str, node))}"

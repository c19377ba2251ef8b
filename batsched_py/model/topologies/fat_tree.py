"""Fat trees: hosts below levels of switches, with several ways between most of them (Leiserson 1985)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from batsched_py.model.topologies.cables import Cables
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
    def switches(self) -> int:
        """Number of switches on all levels."""
        levels = range(1, len(self.children) + 1)
        return sum(math.prod(self.parents[:level]) * math.prod(self.children[level:]) for level in levels)

    def way(self, source: int, destination: int, cables: Cables) -> Iterator[Link]:
        """Yield the links up to the first common switch, and down."""
        node, target, level, chosen = self._digits(source), self._digits(destination), 0, destination + self.before
        yield from cables.limiter(_name(node, 0))
        while level == 0 or node[level:] != target[level:]:
            count = self.parents[level]
            choice = chosen // math.prod(self.parents[:level]) % (count * self.parallel[level])
            yield cables.cable(f"{_name(node, level)}_{choice % count}_{choice // count}", up=True)
            node = (*node[:level], choice % count, *node[level + 1 :])
            level += 1
            yield from cables.limiter(_name(node, level))
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
            yield cables.cable(f"{_name(node, level)}_{above}_{fits // size}", up=False)
            yield from cables.limiter(_name(node, level))
            port = fits + 1

    def _first_port(self, level: int, source: int) -> int:
        """Return the port at which a switch of this level begins its search."""
        return (source + self.before) % self.parallel[level - 1] * self.children[level - 1]

    def _digits(self, position: int) -> tuple[int, ...]:
        digits = []
        for size in self.children:
            digits.append(position % size)
            position //= size
        return tuple(digits)


def _name(node: tuple[int, ...], level: int) -> str:
    return f"{level}:{'.'.join(map(str, node))}"

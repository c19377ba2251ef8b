"""Fat trees: hosts below levels of switches, with several ways between most of them (Leiserson 1985)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
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

# A `Cable` has these as digits, from the last one: level of the child, 1 if crossed upwards, parent's number for the
# child, number among the cables side by side, digits of the child.

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
            yield self.link(cable, cables)
            yield from cables.limiter(_name(node, level))
        for cable, below in self._down(node, level, target, source + self.before):
            level -= 1
            yield self.link(cable, cables)
            yield from cables.limiter(_name(below, level))

    def link(self, cable: Cable, cables: Cables) -> Link:
        """Return the link of a cable in one direction."""
        rest, level = divmod(cable, len(self.children))
        rest, up = divmod(rest, 2)
        rest, parent = divmod(rest, self.parents[level])
        rest, number = divmod(rest, self.parallel[level])
        node = []
        for digits in (*self.parents[:level], *self.children[level:]):
            rest, digit = divmod(rest, digits)
            node.append(digit)
        return cables.cable(f"{_name(tuple(node), level)}_{parent}_{number}", up=bool(up))

    def _cable(self, node: _Node, level: int, up: int, parent: int, number: int) -> Cable:
        """Return the cable of a node of a level to its parent with this number."""
        whole = 0
        for digit, digits in zip(
            reversed(node), reversed((*self.parents[:level], *self.children[level:])), strict=True
        ):
            whole = whole * digits + digit
        return self._numbered(whole, level, up, parent, number)

    def _numbered(self, node: int, level: int, up: int, parent: int, number: int) -> Cable:
        """Return the cable of a node, whose digits are those of one number, the last digit first."""
        cable = (node * self.parallel[level] + number) * self.parents[level] + parent
        return (cable * 2 + up) * len(self.children) + level

    def crossings(self, positions: Sequence[int]) -> Crossings:
        """Count the crossings of an exchange, level by level until one switch is above all.

        All sources in a subtree go the same ways up to destinations outside with the same choices. All sources that
        first meet a destination in the same switch, and whose numbers have the same remainder by the numbers of
        parallel cables, go the same way down.
        """
        pairs, period = dict[Cable, int](), math.lcm(*self.parallel)
        level, size = 0, 1
        #: Subtree of the level, by its position among these -> remainder -> number of sources.
        sources = {position: {(position + self.before) % period: 1} for position in positions}
        while level == 0 or len(sources) > 1:
            self._count_up(positions, level, size, pairs)
            below, below_size = sources, size
            size *= self.children[level]
            level += 1
            sources = {}
            for subtree, counts in below.items():
                above = sources.setdefault(subtree * below_size // size, {})
                for remainder, count in counts.items():
                    above[remainder] = above.get(remainder, 0) + count
            for position in positions:
                near = below[position // below_size]
                for remainder, count in sources[position // size].items():
                    arrived = count - near.get(remainder, 0)
                    if arrived:
                        for cable in _cables_down(self, position, level, remainder):
                            pairs[cable] = pairs.get(cable, 0) + arrived
        return Crossings(pairs, 2 * level)

    def _count_up(self, positions: Sequence[int], level: int, size: int, pairs: dict[Cable, int]) -> None:
        """Count the crossings from all subtrees of a level, which have this size, to the level above."""
        below, parents, parallel = math.prod(self.parents[:level]), self.parents[level], self.parallel[level]
        #: Choice of a destination, a number -> number of destinations; subtree -> choice -> of those in it.
        choices: dict[int, int] = {}
        inside: dict[int, dict[int, int]] = {}
        for position in positions:
            choice = (position + self.before) % (below * parents * parallel)
            choices[choice] = choices.get(choice, 0) + 1
            within = inside.setdefault(position // size, {})
            within[choice] = within.get(choice, 0) + 1
        #: Cables of the first subtree; those of the next have numbers larger by the same step.
        first = {}
        for choice in choices:
            number, parent = divmod(choice // below, parents)
            first[choice] = self._numbered(choice % below, level, 1, parent, number)
        step = self._numbered(below, level, 0, 0, 0) - self._numbered(0, level, 0, 0, 0)
        for subtree, within in inside.items():
            sources = sum(within.values())
            for choice, destinations in choices.items():
                outside = destinations - within.get(choice, 0)
                if outside:
                    cable = first[choice] + subtree * step
                    pairs[cable] = pairs.get(cable, 0) + sources * outside

    def cables_down(self, position: int, level: int, source: int) -> tuple[Cable, ...]:
        """Return the cables to a host from the switch of a level at which it is met first from a source."""
        target = self._digits(position)
        choices = self._choices(position + self.before, level - 1)
        switch = (*choices[:-1], choices[-1] % self.parents[level - 1], *target[level:])
        return tuple([cable for cable, _ in self._down(switch, level, target, source)])

    def _choices(self, destination: int, level: int) -> _Node:
        """Return the digits of the node of a level on the ways up to a destination, and its choice there.

        The destination is a number in all fat trees.
        """
        digits = []
        for count in self.parents[:level]:
            digits.append(destination % count)
            destination //= count
        return (*digits, destination % (self.parents[level] * self.parallel[level]))

    def _up(self, node: _Node, level: int, destination: int) -> tuple[Cable, _Node]:
        """Return the cable and the node above that a destination, by its number in all fat trees, chooses."""
        number, parent = divmod(self._choices(destination, level)[-1], self.parents[level])
        return self._cable(node, level, 1, parent, number), (*node[:level], parent, *node[level + 1 :])

    def _down(self, node: _Node, level: int, target: _Node, source: int) -> Iterator[tuple[Cable, _Node]]:
        """Yield the cables and the nodes from a switch to a host; `source` is its number in all fat trees."""
        port = self._first_port(level, source)
        while level > 0:
            level -= 1
            size, last = self.children[level], self.children[level] * self.parallel[level]
            fits = port + (target[level] - port) % size
            if fits >= last:
                first = self._first_port(level + 1, source)
                fits = first + (target[level] - first) % size
            above = node[level]
            node = (*node[:level], target[level], *node[level + 1 :])
            yield self._cable(node, level, 0, above, fits // size), node
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


@lru_cache(maxsize=65_536)
def _cables_down(tree: FatTree, position: int, level: int, remainder: int) -> tuple[Cable, ...]:
    return tree.cables_down(position, level, remainder)


def _name(node: tuple[int, ...], level: int) -> str:
    return f"{level}:{'.'.join(map(str, node))}"

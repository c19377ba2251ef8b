"""Exchanges: bytes sent between the executors of a parallel task, by pair or as sums for each executor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from batsched_py.addition import add_up

# A task on n hosts has n * (n - 1) transfers, but where each route is a link up, a backbone and a link down, a link
# needs only the sum of a row or a column of the matrix, and the backbone the sum of all. SimGrid adds the bytes of a
# link pair by pair, and the ends of jobs follow from these sums to the last bit. Therefore sums are computed in the
# same order, and equal amounts are added as often as SimGrid adds them, in a few steps: `add_repeatedly` uses that the
# rounded sum rises by the same amount each time until it reaches the next power of two. Plain multiplication gives
# another last bit. Tests compare with one addition after the other, also halfway between two numbers.
#
# With pairs everywhere, and all links of all tasks examined at each change, 2 000 jobs of up to 128 hosts on 80 640
# hosts took 151 s instead of 10 s (ADR 36). Cost: O(n) for each host of a matrix, a few steps for equal amounts.
# In all other cases (routes of other shapes, executors that send to themselves) the pairs are iterated.

#: (from, to, bytes), the ends as host numbers.
Transfer = tuple[int, int, float]


class Listed(Struct, frozen=True):
    """The bytes of some transfers, at least one, in the order of their pairs."""

    amounts: Sequence[float]

    def added_to(self, total: float) -> float:
        """Return `total` plus the amounts, added one by one as in SimGrid."""
        return add_up(self.amounts, total)

    def largest(self) -> float:
        """Return the largest amount."""
        return max(self.amounts)


class Equal(Struct, frozen=True):
    """The bytes of `times` identical transfers; at least one."""

    amount: float
    times: int

    def added_to(self, total: float) -> float:
        """Return `total` plus the amounts, rounded as if they were added one by one."""
        return add_repeatedly(total, self.amount, self.times)

    def largest(self) -> float:
        """Return the amount."""
        return self.amount


Amounts = Listed | Equal


class AllToAll(Struct, frozen=True):
    """An exchange in which each executor sends `amount` bytes to each other one; there are at least two.

    Attributes:
        hosts: host of each executor.
    """

    hosts: Sequence[int]
    amount: float

    def __iter__(self) -> Iterator[Transfer]:
        """Yield the transfers pair by pair."""
        hosts, count = self.hosts, len(self.hosts)
        for source in range(count):
            for target in range(count):
                if source != target:
                    yield hosts[source], hosts[target], self.amount

    @property
    def is_to_others(self) -> bool:
        """True if no executor sends to itself."""
        return True

    def all(self) -> Amounts:
        """Return the bytes of all transfers."""
        return Equal(self.amount, len(self.hosts) * (len(self.hosts) - 1))

    def sent(self, _: int) -> Amounts:
        """Return the bytes sent by the executor at a position."""
        return Equal(self.amount, len(self.hosts) - 1)

    received = sent

    def passed(self, _: int) -> Amounts:
        """Return the bytes sent and received by the executor at a position."""
        return Equal(self.amount, 2 * (len(self.hosts) - 1))


class Matrix(Struct, frozen=True):
    """An exchange in which the i-th of n executors sends `amounts[i * n + j]` bytes to the j-th.

    Attributes:
        hosts: host of each executor.
    """

    hosts: Sequence[int]
    amounts: Sequence[float]

    def __iter__(self) -> Iterator[Transfer]:
        """Yield the transfers pair by pair; some may be empty."""
        hosts, count = self.hosts, len(self.hosts)
        for position, amount in enumerate(self.amounts):
            yield hosts[position // count], hosts[position % count], amount

    @property
    def is_to_others(self) -> bool:
        """True if no executor sends to itself."""
        return not any(self.amounts[:: len(self.hosts) + 1])

    def all(self) -> Amounts:
        """Return the bytes of all transfers."""
        return Listed(self.amounts)

    def sent(self, position: int) -> Amounts:
        """Return the bytes sent by the executor at a position."""
        return Listed(self._row(position))

    def received(self, position: int) -> Amounts:
        """Return the bytes received by the executor at a position."""
        return Listed(self._column(position))

    def passed(self, position: int) -> Amounts:
        """Return the bytes sent and received by the executor at a position, with those to itself only once."""
        column = self._column(position)
        return Listed([*column[:position], *self._row(position), *column[position + 1 :]])

    def _row(self, position: int) -> Sequence[float]:
        count = len(self.hosts)
        return self.amounts[position * count : (position + 1) * count]

    def _column(self, position: int) -> Sequence[float]:
        return self.amounts[position :: len(self.hosts)]


Exchange = AllToAll | Matrix


@lru_cache(maxsize=64)  # the links of all hosts of a task carry the same
def add_repeatedly(total: float, amount: float, times: int) -> float:
    """Return the exact result of repeated floating-point additions of an amount to a total; both are at least 0.

    Each addition is rounded. Between two powers of two all increments are equal, except for the first one if it ends
    halfway between two numbers and is rounded to the even one. Therefore a multiplication replaces these additions.
    """
    while times and total < math.inf:
        total, times = total + amount, times - 1
        rise = total + amount - total
        if not rise:
            break
        if total + rise + amount - (total + rise) == rise:
            room = math.ulp(total) * 2.0**53 - total  # below the next power of two
            steps = int(max(0.0, min(times, room / rise - 1.0)))
            total, times = total + steps * rise, times - steps
    return total

"""A ranking: items in ascending order of a number."""

from __future__ import annotations

from typing import Generic, TypeVar

from batsched_py.planning.future.float_bisect import bisect_left, bisect_right

# Two parallel lists: the numbers in one of their own, so that a search compares floats and touches no items. Between
# two calls both have the same length, `numbers` ascends, and equal numbers are in the order in which they were entered.
# Many promises begin at the same instant, so an item is removed by identity, from the first of its number on.
#
# A change moves the pointers behind its place, O(n), but for ten thousand entries that is one move of 80 kB in C. A
# heap has a cheaper insertion and no answer to `within`, which is the question of each release.

Item = TypeVar("Item")


class Ranking(Generic[Item]):
    """Items by a number. A change costs a binary search and an insertion, which moves the items after it."""

    __slots__ = ("items", "numbers")

    def __init__(self) -> None:
        #: The numbers, ascending.
        self.numbers: list[float] = []
        #: The item of each of them.
        self.items: list[Item] = []

    def add(self, number: float, item: Item) -> None:
        """Add an item, after those with the same number."""
        place = bisect_right(self.numbers, number, 0, len(self.numbers))
        self.numbers.insert(place, number)
        self.items.insert(place, item)

    def remove(self, number: float, item: Item) -> None:
        """Remove this item (by identity), which has that number."""
        items = self.items
        place = bisect_left(self.numbers, number, 0, len(items))
        while items[place] is not item:
            place += 1
        del self.numbers[place], items[place]

    def within(self, low: float, high: float) -> list[Item]:
        """Return the items whose numbers are above `low`, and not above `high`."""
        numbers = self.numbers
        count = len(numbers)
        first = bisect_right(numbers, low, 0, count)
        return self.items[first : bisect_right(numbers, high, first, count)]

"""Selection of the items of a list: by number, state, user and text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Annotated, Final, TypeVar

from litestar.params import QueryParameter
from msgspec import Struct

from batsched_py.site.api.identity import Asking
from batsched_py.site.api.paging import next_part
from batsched_py.site.api.problems import refuse
from batsched_py.site.users import LONGEST_NAME
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown

#: The largest number of items that are checked for one part of a list: an answer must not take long.
_MOST_SEEN: Final = 2000
#: The largest number of characters of a text to find.
_LONGEST: Final = 100
#: The largest number of items in one part of a list.
MOST: Final = 1000
Limit = Annotated[int, QueryParameter(ge=1, le=MOST, description="The maximum number of items.")]
After = Annotated[int, QueryParameter(ge=0, le=2**53, description="Only items with a greater number.")]
Before = Annotated[int, QueryParameter(ge=1, le=2**53, description="Only items with a smaller number.")]
Newest = Annotated[bool, QueryParameter(description="List the items with the greatest numbers first.")]
T = TypeVar("T")
OfUser = Annotated[str, QueryParameter(max_length=LONGEST_NAME, description="Only those of this user.")]
WithText = Annotated[
    str,
    QueryParameter(
        max_length=_LONGEST,
        description="Only those with this text in a name, a reason or the like; letters of either case.",
    ),
]


def state_parameter(states: Iterable[str]) -> QueryParameter:
    """Return the parameter that selects items by one of these states."""
    rule = f"Only those in this state; letters of either case. States are {', '.join(states)}."
    return QueryParameter(max_length=_LONGEST, description=rule)


def known_state(name: str, states: Collection[str]) -> str:
    """Return a name if it is "" or that of one of the states, in letters of either case; else RequestRefusedError."""
    if name and name.casefold() not in (state.casefold() for state in states):
        raise refuse(422, f"state {shown(name)}: {unknown(name, states)}", "in_state")
    return name


class ItemSelection(Struct, frozen=True):
    """Items of a list that a caller wants.

    Attributes:
        after, before: only items with numbers between these.
        limit: the largest number of items.
        newest: whether the items with the greatest numbers come first.
        state: the state of the items; "" for any.
        user: the user who requested them; "" for any.
        text: a text that they must contain; "" for any.
    """

    after: int
    before: int
    limit: int
    newest: bool = False
    state: str = ""
    user: str = ""
    text: str = ""

    def fits(self, state: str, texts: Iterable[str]) -> bool:
        """Return whether an item with a state and texts is wanted."""
        if self.state and state.casefold() != self.state.casefold():
            return False
        sought = self.text.casefold()
        return not sought or any(sought in text.casefold() for text in texts)


class SelectedItems(Struct, frozen=True):
    """Numbers of the items of one part of a list; `last` is the last one that was checked, None if none is left."""

    numbers: list[int]
    last: int | None


def select(numbers: Sequence[int], wanted: ItemSelection, fits: Callable[[int], bool]) -> SelectedItems:
    """Return the first items that fit, `limit` at most; fewer if too many others were checked.

    Args:
        numbers: those of all items, ascending.
        wanted: the range of numbers, the limit and the order.
        fits: returns whether the item with a number is wanted.
    """
    chosen = numbers[bisect_left(numbers, wanted.after + 1) : bisect_left(numbers, wanted.before)]
    found, last = list[int](), 0
    for seen, number in enumerate(reversed(chosen) if wanted.newest else chosen):
        if seen == max(_MOST_SEEN, wanted.limit):
            return SelectedItems(found, last)
        if fits(number):
            if len(found) == wanted.limit:
                return SelectedItems(found, last)
            found.append(number)
            last = number
        elif len(found) < wanted.limit:
            last = number
    return SelectedItems(found, None)


def part_of(
    request: Asking, items: Sequence[T], wanted: ItemSelection, texts: Callable[[T], tuple[str, Iterable[str]]]
) -> tuple[list[T], dict[str, str]]:
    """Return one part of a list whose items are numbered by their places, from 1, and the header with the next one.

    Args:
        request: the request; its parameters are repeated in the link.
        items: all items.
        wanted: the range of numbers, the limit and the order.
        texts: returns the state of an item, and the texts in which a caller may search.
    """
    found = select(range(1, len(items) + 1), wanted, lambda number: wanted.fits(*texts(items[number - 1])))
    return [items[number - 1] for number in found.numbers], link(request, wanted, found)


def link(request: Asking, wanted: ItemSelection, selected: SelectedItems) -> dict[str, str]:
    """Return the header with the address of the next part; none if nothing is left."""
    if selected.last is None:
        return {}
    return next_part(request, {"before" if wanted.newest else "after": selected.last})

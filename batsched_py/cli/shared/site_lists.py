"""Options of the commands that list something of a live site, or a part of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click
from msgspec import Struct

from batsched_py.cli.shared.parameters import flag, option, together
from batsched_py.site.client import SiteClient

_NUMBER: Final = click.IntRange(0, 2**53)


class ListOptions(Struct, frozen=True):
    """The items of a list that are wanted.

    Attributes:
        state, owner, text: as the parameters `in_state`, `user` and `text` of the API; "" for any.
        after, before: only items with numbers between these; None for no bound.
        first: the largest number of items; None for all.
        newest: whether the items with the greatest numbers come first.
    """

    state: str = ""
    owner: str = ""
    text: str = ""
    after: int | None = None
    before: int | None = None
    first: int | None = None
    newest: bool = False

    def read(
        self, client: SiteClient, *path: str | int, items: Callable[[Any], list[Any]] = lambda part: part, **more: Any
    ) -> list[Any]:
        """Return the wanted items of a list; `items` returns those of an answer. Errors as of SiteClient."""
        query = {"in_state": self.state, "user": self.owner, "text": self.text, "after": self.after}
        query |= {"before": self.before, "newest": "true" if self.newest else "", **more}
        given = {name: value for name, value in query.items() if value not in ("", None)}
        if self.first is not None:
            given["limit"] = min(self.first, 1000)
        found = list[Any]()
        for part in client.parts(*path, **given):
            found += items(part)
            if self.first is not None and len(found) >= self.first:
                return found[: self.first]
        return found


#: Which part of any list, under the names of ListOptions.
first_option: Final = option("--first", "N", "Only the first N of these.", type=click.IntRange(1))
after_option: Final = option("--after", "N", "Only those with a number greater than N.", type=_NUMBER)
part_options: Final = together(
    option("--text", "TEXT", "Only those with this text, such as in a name or a reason.", default=""),
    after_option,
    option("--before", "N", "Only those with a number less than N.", type=click.IntRange(1, 2**53)),
    flag("--newest", "List those with the greatest numbers first."),
    first_option,
)
state_option: Final = option("--state", "STATE", "Only those in this state; letters of either case.", default="")
#: All of these.
list_options: Final = together(
    state_option,
    option("--owner", "NAME", "Only those of this user.", default=""),
    part_options,
)

"""Lines about parts of an input that are not obeyed.

An input may contain ten million equal or ten million different parts. Therefore lines are counted by kind, with the
first place of each kind, and further kinds beyond a limit are only counted: memory does not grow with the input. The
same input gives the same lines in the same order.
"""

from __future__ import annotations

from typing import Final

from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: Maximum number of kinds of lines.
MOST_KINDS: Final = 50


class Notes:
    """The lines about one input, one for each kind that is not obeyed, in the order of their first places."""

    def __init__(self, file: str) -> None:
        """Set the name of the file, which begins each line."""
        self.file = file
        #: Kind -> its count and its first place.
        self._kinds: dict[str, tuple[int, str]] = {}
        self._others = 0

    def add(self, what: str, place: str = "", times: int = 1) -> None:
        """Count a part that is not obeyed: "depends_on is not obeyed: jobs start without waiting", at "jobs[3]".

        `what` is equal for all parts of one kind; names in it have passed through `displayed` or `shown`.
        """
        count, first = self._kinds.get(what, (0, place))
        if not count and len(self._kinds) == MOST_KINDS:
            self._others += times
        else:
            self._kinds[what] = count + times, first

    def lines(self) -> tuple[str, ...]:
        """Return a line for each kind: "w.json: gpus is not obeyed (3 times, first in jobs[0])"."""
        file = displayed(self.file)
        lines = [f"{file}: {what}{_where(count, place)}" for what, (count, place) in self._kinds.items()]
        if self._others:
            lines.append(
                f"{file}: {counted(self._others, 'more of other kinds is', 'more of other kinds are')} not listed"
            )
        return tuple(lines)


def _where(count: int, place: str) -> str:
    if not place:
        return f" ({count} times)" if count > 1 else ""
    return f" ({count} times, first in {displayed(place)})" if count > 1 else f" ({displayed(place)})"

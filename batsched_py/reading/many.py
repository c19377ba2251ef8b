"""Members of millions of objects of one kind: each name is checked once."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from batsched_py.reading.members import Members
from batsched_py.reading.notes import Notes

#: Maximum number of names that are checked. Objects of one kind have some dozens; more names are data, and only
#: counted.
_MOST_NAMES: Final = 1_000


class ManyMembers:
    """Reporter of the names of many objects, none of which is refused.

    Attributes:
        silent: names that need no report. An object with no other names need not be checked.
    """

    def __init__(self, members: Members, notes: Notes) -> None:
        """Set the table of members, which applies to each object."""
        self.silent = set(members.obeyed)
        self._members, self._notes = members, notes
        #: Name -> its report.
        self._reports: dict[str, str] = {}

    def check(self, names: AbstractSet[str], place: str) -> None:
        """Report the names of an object that are not silent, in their order."""
        for name in names:
            if name in self.silent:
                continue
            report = self._reports.get(name) or self._judge(name)
            if report:
                self._notes.add(report, place)

    def _judge(self, name: str) -> str:
        if len(self._reports) + len(self.silent) > _MOST_NAMES and name not in self._members.explained:
            return f"{self._members.word}s of {self._members.kind} have more than {_MOST_NAMES} names: others are kept"
        report = self._members.report(name)
        if report:
            self._reports[name] = report
        else:
            self.silent.add(name)
        return report

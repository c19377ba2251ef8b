"""The members that a reader knows of one kind of object, and what becomes of the others.

Each reader declares them once, in a table beside its code; nothing that an input says is passed over by not being asked
for. A name is obeyed (it changes what the reader returns), explained (it is known, and has no effect here: why is told
in one line), or unknown. What is unknown is refused where the original refuses it, told where the original passes it
over, and kept where others read it: what users add to jobs and profiles is forwarded to algorithms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from enum import Enum
from types import MappingProxyType

from msgspec import Struct

from batsched_py.reading.notes import Notes
from batsched_py.text.display import displayed
from batsched_py.text.wording import LONGEST_NAME, did_you_mean, unknown


class Unknown(Enum):
    """The treatment of names that a reader does not know."""

    #: The input is refused, as by the original.
    REFUSED = "refused"
    #: A line tells that it has no effect.
    TOLD = "told"
    #: It is part of the result; a line tells only if it is like a known name, and so a slip of the finger.
    KEPT = "kept"


class Members(Struct, frozen=True):
    """Names that a reader knows of one kind of object.

    Attributes:
        kind: the kind of object, as messages name it: "a job", "a profile of type delay", "element host".
        obeyed: names that change what the reader returns.
        explained: names that are known and have no effect -> why, or what happens instead, after "is not obeyed: ".
        unknown: what becomes of other names.
        word: what a name is: "member", "attribute", "column", "element", "field".
    """

    kind: str
    obeyed: frozenset[str]
    explained: Mapping[str, str] = MappingProxyType({})
    unknown: Unknown = Unknown.REFUSED
    word: str = "member"

    @property
    def known(self) -> Collection[str]:
        """All names that are known, in alphabetical order."""
        return sorted({*self.obeyed, *self.explained})

    def check(self, names: Iterable[str], notes: Notes, place: str = "") -> tuple[str, str] | None:
        """Tell what is not obeyed of the names that an object has; return the name and the rule of one to refuse.

        The caller raises the error of its format, with its file and place. None if none is refused.
        """
        for name in names:
            if self.unknown is Unknown.REFUSED and name not in self.obeyed and name not in self.explained:
                return name, unknown(name, self.known)
            if told := self.told(name):
                notes.add(told, place)
        return None

    def told(self, name: str) -> str:
        """Return what is told of a name that is not refused; "" if that is nothing."""
        if name in self.obeyed:
            return ""
        if name in self.explained:
            return f"{self._named(name)} is not obeyed: {self.explained[name]}"
        if self.unknown is Unknown.TOLD:
            suggestion = did_you_mean(name, self.known)
            told = f"{self._named(name)} is unknown and has no effect"
            return f"{told}; {suggestion}" if suggestion else told
        near = get_close_matches(name[:LONGEST_NAME].casefold(), self.known, n=1, cutoff=0.85)
        return f"{self._named(name)} is unknown; did you mean {near[0]}?" if near else ""

    def _named(self, name: str) -> str:
        return f"{self.word} {displayed(name)} of {self.kind}"

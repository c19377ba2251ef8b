"""The members of one kind of object that a reader knows, and the treatment of others.

Each reader declares them once, in a table next to its code, so that no member is ignored silently. A name is obeyed (it
changes the result of the reader), explained (it is known but has no effect here: a line reports the reason), or
unknown. Unknown names are refused if the original program refuses them, reported if it ignores them, and kept if others
read them: members that users add to jobs and profiles are forwarded to algorithms.
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


class UnknownNames(Enum):
    """The treatment of names that a reader does not know."""

    #: The input is refused, as by the original.
    REFUSED = "refused"
    #: A line reports that it has no effect.
    REPORTED = "reported"
    #: It is part of the result; a line reports it only if it resembles a known name, and is probably a typing error.
    KEPT = "kept"


class Members(Struct, frozen=True):
    """Names that a reader knows of one kind of object.

    Attributes:
        kind: the kind of object, as messages name it: "a job", "a profile of type delay", "element host".
        obeyed: names that change what the reader returns.
        explained: known names without effect -> the reason, or the alternative behaviour, after "is not obeyed: ".
        unknown: treatment of other names.
        word: word for a name: "member", "attribute", "column", "element", "field".
    """

    kind: str
    obeyed: frozenset[str]
    explained: Mapping[str, str] = MappingProxyType({})
    unknown: UnknownNames = UnknownNames.REFUSED
    word: str = "member"

    @property
    def known(self) -> Collection[str]:
        """All names that are known, in alphabetical order."""
        return sorted({*self.obeyed, *self.explained})

    def check(self, names: Iterable[str], notes: Notes, place: str = "") -> tuple[str, str] | None:
        """Report the names of an object that are not obeyed; return the name and the rule of one to refuse.

        The caller raises the error of its format, with its file and place. None if no name is refused.
        """
        for name in names:
            if self.unknown is UnknownNames.REFUSED and name not in self.obeyed and name not in self.explained:
                return name, unknown(name, self.known)
            if report := self.report(name):
                notes.add(report, place)
        return None

    def report(self, name: str) -> str:
        """Return the report on a name that is not refused; "" if none is needed."""
        if name in self.obeyed:
            return ""
        if name in self.explained:
            return f"{self._named(name)} is not obeyed: {self.explained[name]}"
        if self.unknown is UnknownNames.REPORTED:
            suggestion = did_you_mean(name, self.known)
            text = f"{self._named(name)} is unknown and has no effect"
            return f"{text}; {suggestion}" if suggestion else text
        near = get_close_matches(name[:LONGEST_NAME].casefold(), self.known, n=1, cutoff=0.85)
        return f"{self._named(name)} is unknown; did you mean {near[0]}?" if near else ""

    def _named(self, name: str) -> str:
        return f"{self.word} {displayed(name)} of {self.kind}"

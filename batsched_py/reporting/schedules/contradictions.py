"""Contradictions in results: rows with inconsistent numbers, counted by kind, with the first of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final, NamedTuple

from batsched_py.text.display import displayed
from batsched_py.text.wording import counted


class ContradictionKind(Enum):
    """A kind of contradiction, in words."""

    CELL = "a cell that breaks its rule"
    REPEATED = "an id of another row"
    NEGATIVE = "a negative time"
    EARLY_START = "a start before the submission"
    EARLY_END = "an end before the start"
    EXECUTION = "an execution time that is not end - start"
    WAIT = "a waiting time that is not start - submission"
    TURNAROUND = "a turnaround time that is not end - submission"
    STRETCH = "a stretch that is not turnaround / execution"
    STATE = "a final state that other columns contradict"
    SIZE = "another number of hosts than requested"
    TASKS = "another number of tasks than requested"
    NO_HOSTS = "a run without hosts"
    OUTSIDE = "hosts that the machine does not have"
    SHARED = "a host that another job has at that time"
    TOO_MANY = "more hosts busy than there are"
    EXCEEDED = "more of a resource in use than there is"
    MAKESPAN = "an end after the makespan"
    UTILISATION = "a utilisation above 100 %"
    FIGURES = "figures of the whole run that the jobs contradict"


class Contradiction(NamedTuple):
    """A row, or a figure, that contradicts others.

    Attributes:
        kind: the kind of the contradiction.
        line: the line of the file; 0 if unknown, or if it concerns no single line.
        job: the id of the job; "" if it concerns no single job.
        what: the inconsistent numbers.
    """

    kind: ContradictionKind
    line: int
    job: str
    what: str


#: The default number of contradictions of each kind that are kept.
FIRST: Final = 1


class Contradictions:
    """The contradictions in the results of a run: all are counted, the first ones of each kind are kept."""

    def __init__(self, most: int | None = FIRST) -> None:
        """`most` of each kind are kept; None for all."""
        self._most = most
        #: Kind -> the condition, not known from any file, under which it is not a contradiction.
        self.unless: dict[ContradictionKind, str] = {}
        self._counts: dict[ContradictionKind, int] = {}
        self._kept: dict[ContradictionKind, list[Contradiction]] = {}

    def add(self, kind: ContradictionKind, job: str, line: int, form: str, *values: object) -> None:
        """Count a contradiction; `form` with its values describes it, and is formatted only if it is kept."""
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        if self._most is None or count <= self._most:
            self._kept.setdefault(kind, []).append(Contradiction(kind, line, job, form % values if values else form))

    def extend(self, others: Contradictions) -> None:
        """Add the contradictions of another collection."""
        for kind, count in others._counts.items():
            self._counts[kind] = self._counts.get(kind, 0) + count
            kept = self._kept.setdefault(kind, [])
            kept += others._kept[kind][: None if self._most is None else max(self._most - len(kept), 0)]

    def __eq__(self, other: object) -> bool:
        """Compare counts and kept contradictions."""
        return isinstance(other, Contradictions) and (self._counts, self._kept) == (other._counts, other._kept)

    __hash__ = None  # type: ignore[assignment]  # it is mutable

    def __bool__(self) -> bool:
        """Return True if there are any."""
        return bool(self._counts)

    def __iter__(self) -> Iterator[Contradiction]:
        """Iterate over the kept contradictions, kind by kind."""
        for kind in ContradictionKind:
            yield from self._kept.get(kind, ())

    def count(self, kind: ContradictionKind) -> int:
        """Return the number of contradictions of a kind."""
        return self._counts.get(kind, 0)

    @property
    def kinds(self) -> Iterable[ContradictionKind]:
        """The kinds that occur, in the order of ContradictionKind."""
        return [kind for kind in ContradictionKind if kind in self._counts]

    @property
    def total(self) -> int:
        """The number of all contradictions, kept or not."""
        return sum(self._counts.values())

    def lines(self) -> list[str]:
        """Return a line for each kind: "a start before the submission: 3 times, first w0!2 (line 4): ..."."""
        return [
            _line(self._kept[kind][0], self._counts[kind]) + (f"; {self.unless[kind]}" if kind in self.unless else "")
            for kind in self.kinds
        ]


def _line(first: Contradiction, count: int) -> str:
    times = counted(count, "time") + (", first " if count > 1 else ", ")
    where = displayed(first.job) + (f" (line {first.line})" if first.line else "")
    return f"{first.kind.value}: {times}{where}{': ' if where else ''}{first.what}"

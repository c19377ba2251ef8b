"""Comparison of two runs by their facts: those that they share, and those in which they differ.

    comparison = compare_transcripts(left, right)          # two iterables of transcript.Exchange, read once, in step
    comparison.same                            # True if no fact differs
    comparison.differences                     # FactDifference(left fact or None, right fact or None, what), by time
    comparison.jobs                            # ids of the jobs that differ, in order of their first difference
    compare_transcripts(left, right, Tolerance(seconds=0.1), ignore={FactKind.CALLS, FactKind.CONFIGURATION})

A fact (see `facts`) of one run is the same as one of the other if it has the same identity (speaker, kind, subject),
its time differs by at most `Tolerance.seconds`, and its details, as far as both runs have them, are equal; numbers
among them may differ by the share `Tolerance.relative`. Facts of one identity keep their order. Several calls at one
instant count as one, because their events have no names.

If the dialects differ, facts that only one of them has are ignored (profiles of the workload, notices that no more jobs
will come), and workloads, whose names differ, are matched by the order in which they first appear. Memory grows with
the differences, not with the length of the runs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice, zip_longest
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from batsched_py.protocol.dialect import V4
from batsched_py.protocol.events import NO_MORE_EXTERNAL_EVENT, NO_MORE_STATIC_JOB
from batsched_py.text.representation import Brief
from batsched_py.transcripts.decisions import dialect_of_run
from batsched_py.transcripts.facts import JOB_KINDS, TIMES, ExchangeFacts, Fact, FactKind, read_facts
from batsched_py.transcripts.transcript import Exchange

#: Values of `FactDifference.what` other than the names of details.
TIME: Final = "time"
ORDER: Final = "order"
#: Below this, numbers are equal: Batsim writes six decimals.
_SMALLEST: Final = 1e-6
_NUMBERS: Final = frozenset({int, float})
#: Kinds whose subject begins with a workload's name.
_OF_WORKLOADS: Final = JOB_KINDS | {FactKind.PROFILES}
#: Notices that Batsim 1 does not send.
_LATE_NOTICES: Final = frozenset({NO_MORE_STATIC_JOB, NO_MORE_EXTERNAL_EVENT})

_Identity = tuple[bool, FactKind, str]


class Tolerance(Struct, frozen=True):
    """Differences to ignore: `seconds` between times; the share `relative` between other numbers."""

    seconds: float = 1e-3
    relative: float = 1e-6


class FactDifference(Struct, frozen=True):
    """A fact that the runs do not share.

    Attributes:
        left, right: the fact in each run; None if only the other has it.
        what: the differences if both have it: TIME, names of details; (ORDER,) if the facts are equal but at different
            positions among those of their identity.
    """

    left: Fact | None
    right: Fact | None
    what: tuple[str, ...] = ()

    @property
    def fact(self) -> Fact:
        """The existing fact; of two, the left one."""
        return next(fact for fact in (self.left, self.right) if fact is not None)

    @property
    def time(self) -> float:
        """The time of the difference: the earlier of both times."""
        return min(fact.time for fact in (self.left, self.right) if fact is not None)


class TranscriptComparison(Brief, frozen=True):
    """The facts that two runs share, and those in which they differ.

    Attributes:
        exchanges: number of exchanges of each run.
        shared: facts that both have.
        differences: the others, by time.
    """

    exchanges: tuple[int, int]
    shared: int
    differences: tuple[FactDifference, ...]

    @property
    def same(self) -> bool:
        """True if the runs share all facts."""
        return not self.differences

    @property
    def jobs(self) -> tuple[str, ...]:
        """Ids of the jobs that differ, as in the left run, in order of their first difference."""
        ids = (difference.fact.subject for difference in self.differences if difference.fact.kind in JOB_KINDS)
        return tuple(dict.fromkeys(ids))


def compare_transcripts(
    left: Iterable[Exchange],
    right: Iterable[Exchange],
    tolerance: Tolerance = Tolerance(),  # noqa: B008 - frozen
    *,
    ignore: Collection[FactKind] = (),
) -> TranscriptComparison:
    """Compare two runs; facts of the kinds to ignore are left out."""
    sides = (_Side(left), _Side(right))
    foreign = sides[0].dialect.name != sides[1].dialect.name
    ledger = _Ledger(tolerance)
    while waiting := [side for side in sides if side.next is not None]:
        lagging = min(waiting, key=_now)
        place = sides.index(lagging)
        for fact in () if lagging.next is None else lagging.next.facts:
            if fact.kind not in ignore and not (foreign and _untranslatable(fact)):
                ledger.enter(place, fact, lagging.identity(fact, numbered=foreign))
        lagging.advance()
    return TranscriptComparison((sides[0].exchanges, sides[1].exchanges), ledger.shared, ledger.differences())


def alike(left: Any, right: Any, relative: float) -> bool:
    """Return whether two values are equal, except for small differences between numbers in them."""
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        return math.isclose(left, right, rel_tol=relative, abs_tol=_SMALLEST)
    if isinstance(left, Struct):
        return type(left) is type(right) and alike(asdict(left), asdict(right), relative)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(alike(left[key], right[key], relative) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(alike(*pair, relative) for pair in zip(left, right, strict=True))
    return type(left) is type(right) and bool(left == right)


class _Side:
    """One run, read exchange by exchange."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        remaining = iter(exchanges)
        first = tuple(islice(remaining, 1))
        self.dialect = dialect_of_run(first[0].request) if first else V4
        self._facts: Iterator[ExchangeFacts] = read_facts(chain(first, remaining), self.dialect)
        #: The exchange to be entered next.
        self.next = next(self._facts, None)
        self.exchanges = 0
        #: Names of workloads -> their number, in the order in which they first appear.
        self._workloads: dict[str, int] = {}

    def advance(self) -> None:
        """Advance to the next exchange."""
        self.exchanges += 1
        self.next = next(self._facts, None)

    def identity(self, fact: Fact, *, numbered: bool) -> _Identity:
        """Return the identity of a fact; with `numbered`, independent of the name of its workload."""
        if not numbered or fact.kind not in _OF_WORKLOADS:
            return fact.is_event, fact.kind, fact.subject
        workload, _, name = fact.subject.partition("!")
        number = self._workloads.setdefault(workload, len(self._workloads))
        return fact.is_event, fact.kind, f"{number}!{name}"


class _Pending:
    """Unmatched facts of one identity: those that may still be matched, and those that cannot."""

    __slots__ = ("left_behind", "waiting")

    def __init__(self) -> None:
        self.waiting: list[Fact] = []
        self.left_behind: list[Fact] = []


class _Ledger:
    """Matcher of the facts that both runs have."""

    def __init__(self, tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self.shared = 0
        #: For each run, identity -> its unmatched facts.
        self._open: tuple[dict[_Identity, _Pending], dict[_Identity, _Pending]] = ({}, {})
        #: For each run, the time of its last call.
        self._last_call = [-math.inf, -math.inf]

    def enter(self, place: int, fact: Fact, identity: _Identity) -> None:
        """Match a fact with its counterpart, or keep it until that arrives."""
        if fact.kind is FactKind.CALLS:
            again = fact.time - self._last_call[place] <= self._tolerance.seconds
            self._last_call[place] = fact.time
            if again:
                return
        others = self._open[1 - place].get(identity)
        if others is None or not self._strike(others, fact):
            self._open[place].setdefault(identity, _Pending()).waiting.append(fact)
            return
        self.shared += 1
        if others.waiting or others.left_behind:
            return
        del self._open[1 - place][identity]

    def differences(self) -> tuple[FactDifference, ...]:
        """Return the unmatched facts, in pairs of the same identity where possible."""
        left, right = self._open
        found = []
        for identity in dict.fromkeys(chain(left, right)):
            ones, others = (_all(side.get(identity)) for side in self._open)
            if identity[1] is FactKind.CALLS:
                found += [FactDifference(fact, None) for fact in ones] + [FactDifference(None, fact) for fact in others]
                continue
            for one, other in zip_longest(ones, others):
                found.append(FactDifference(one, other, self._what(one, other)))
        return tuple(sorted(found, key=lambda difference: difference.time))

    def _strike(self, others: _Pending, fact: Fact) -> bool:
        """Match the first counterpart; those before it remain unmatched, as facts of one identity keep their order."""
        for position, other in enumerate(others.waiting):
            if abs(other.time - fact.time) <= self._tolerance.seconds and not self._parted(other, fact):
                others.left_behind += others.waiting[:position]
                del others.waiting[: position + 1]
                return True
        return False

    def _what(self, left: Fact | None, right: Fact | None) -> tuple[str, ...]:
        if left is None or right is None:
            return ()
        late = abs(left.time - right.time) > self._tolerance.seconds
        return ((TIME,) if late else ()) + self._parted(left, right) or (ORDER,)

    def _parted(self, left: Fact, right: Fact) -> tuple[str, ...]:
        """Return the names of details that both facts have with different values."""
        if left.details == right.details:
            return ()
        pairs = ((name, value, right.details.get(name)) for name, value in left.details.items())
        return tuple(
            name
            for name, left, right in pairs
            if left is not None and right is not None and not self._same_detail(name, left, right)
        )

    def _same_detail(self, name: str, left: Any, right: Any) -> bool:
        if name in TIMES:
            return bool(abs(left - right) <= self._tolerance.seconds)
        return alike(left, right, self._tolerance.relative)


def _now(side: _Side) -> float:
    return math.inf if side.next is None else side.next.now


def _all(pending: _Pending | None) -> list[Fact]:
    return [] if pending is None else pending.left_behind + pending.waiting


def _untranslatable(fact: Fact) -> bool:
    """Return whether only one of the dialects has facts of this kind."""
    if not fact.is_event:
        return False
    return fact.kind is FactKind.PROFILES or (fact.kind is FactKind.NOTICES and fact.subject in _LATE_NOTICES)

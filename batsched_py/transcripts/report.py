"""Descriptions of comparisons: each difference on a few lines, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.structs import asdict

from batsched_py.hostset import HostSet
from batsched_py.transcripts.compare import ORDER, TIME, FactDifference, TranscriptComparison
from batsched_py.transcripts.decisions import number_text
from batsched_py.transcripts.facts import HOST_KINDS, TIMES, Fact, FactKind

#: Marks of the first run's side of a difference, and of the second's.
LEFT: Final = "-"
RIGHT: Final = "+"
#: Maximum length of values: a profile, or a message to a job, may be very long.
_LONGEST: Final = 200
#: Number of jobs that are listed in the summary; others are only counted.
_NAMED: Final = 20

#: Kind of an event's fact -> its description, before the subject.
EVENT_WORDS: Final[Mapping[FactKind, str]] = {
    FactKind.HOSTS: "host",
    FactKind.CONFIGURATION: "the configuration",
    FactKind.PROFILES: "profile",
    FactKind.SUBMISSIONS: "submission of",
    FactKind.ENDS: "end of",
    FactKind.KILLS: "kill done of",
    FactKind.MESSAGES: "message from",
    FactKind.POWER: "power state reached by host",
    FactKind.MACHINES: "availability of host",
    FactKind.CALLS: "a call",
    FactKind.QUESTIONS: "question from Batsim",
    FactKind.ANSWERS: "answer of Batsim",
    FactKind.NOTICES: "notice of Batsim",
    FactKind.CLOSING: "the end of the simulation",
    FactKind.UNKNOWN: "event",
    FactKind.UNREADABLE: "a request that is not a message",
}
#: The same for decisions.
DECIDED_WORDS: Final[Mapping[FactKind, str]] = {
    FactKind.PROFILES: "registration of profile",
    FactKind.REGISTRATIONS: "registration of",
    FactKind.STARTS: "start of",
    FactKind.KILLS: "kill of",
    FactKind.REJECTIONS: "rejection of",
    FactKind.STATES: "change of state of",
    FactKind.METADATA: "metadata of",
    FactKind.MESSAGES: "message to",
    FactKind.POWER: "power state asked of host",
    FactKind.QUESTIONS: "question to Batsim",
    FactKind.ANSWERS: "answer to Batsim",
    FactKind.NOTICES: "notice to Batsim",
    FactKind.CLOSING: "the end that was asked for",
    FactKind.UNKNOWN: "command",
    FactKind.UNREADABLE: "a reply that is not a message",
}


def descriptions(differences: Sequence[FactDifference]) -> Iterator[tuple[str, ...]]:
    """Yield each difference on a few lines; hosts that differ in the same way share them."""
    for _, group in groupby(differences, _sameness):
        alike = list(group)
        fact = alike[0].fact
        subject = fact.subject if len(alike) == 1 else str(HostSet.from_ids(int(one.fact.subject) for one in alike))
        yield _description(alike[0], subject)


def summary(comparison: TranscriptComparison) -> Iterator[str]:
    """Yield the number of differing facts of each kind with their differences, then the jobs."""
    found: dict[FactKind, Counter[str]] = {}
    for difference in comparison.differences:
        found.setdefault(difference.fact.kind, Counter()).update(_ways(difference))
    totals = Counter(difference.fact.kind for difference in comparison.differences)
    for kind in FactKind:
        if kind in found:
            ways = ", ".join(f"{count} {way}" for way, count in found[kind].most_common())
            yield f"{kind}: {totals[kind]} ({ways})"
    jobs = comparison.jobs
    if jobs:
        more = f" and {len(jobs) - _NAMED} more" if len(jobs) > _NAMED else ""
        yield f"jobs that differ: {len(jobs)} ({', '.join(jobs[:_NAMED])}{more})"


def _sameness(difference: FactDifference) -> object:
    """Return a key that is equal for adjacent differences to show as one: equal ones of several hosts."""
    fact = difference.fact
    if fact.kind not in HOST_KINDS:
        return id(difference)
    sides = [None if side is None else (side.time, side.details) for side in (difference.left, difference.right)]
    return fact.is_event, fact.kind, difference.what, sides


def _description(difference: FactDifference, subject: str) -> tuple[str, ...]:
    fact = difference.fact
    words = (EVENT_WORDS if fact.is_event else DECIDED_WORDS)[fact.kind]
    head = f"t={number_text(difference.time)}: {words} {subject}".rstrip()
    if difference.what == (ORDER,):
        return (f"{head}: the same, but in another place among those of its kind",)
    sides = ((LEFT, difference.left), (RIGHT, difference.right))
    return head, *(f"  {mark} {_side(side, difference.what)}" for mark, side in sides)


def _side(fact: Fact | None, what: tuple[str, ...]) -> str:
    """Describe a difference in one run; all unusual details if the other run does not have the fact."""
    if fact is None:
        return "(not there)"
    named = what or tuple(name for name, value in fact.details.items() if value not in (None, "none", "usual", {}, ""))
    details = [f"{name} {_value(name, fact.details[name])}" for name in named if name != TIME]
    when = [f"at t={number_text(fact.time)}"] if TIME in what or not details else []
    return ", ".join(when + details)


def _value(name: str, value: Any) -> str:
    if isinstance(value, HostSet):
        return str(value)
    if type(value) in (int, float):
        return number_text(value) if name not in TIMES else f"t={number_text(value)}"
    text = value if isinstance(value, str) else orjson.dumps(value, _plain, orjson.OPT_NON_STR_KEYS).decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _plain(value: object) -> object:
    """Convert classes of batsched-py to values that orjson writes."""
    if isinstance(value, HostSet):
        return str(value)
    return asdict(value) if isinstance(value, Struct) else dict(value)  # type: ignore[call-overload]


def _ways(difference: FactDifference) -> tuple[str, ...]:
    if difference.left is None:
        return ("only in the second",)
    if difference.right is None:
        return ("only in the first",)
    return tuple("at another time" if name == TIME else f"in {name}" for name in difference.what)

"""The terms of a lease, read from the member `lease` of a job: start, duration, resources, preemptibility."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct

from batsched_py.model.job import Job
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.resources import Quantity, Resources
from batsched_py.reading.faults import FieldError, inside, refused
from batsched_py.reading.limits import LATEST, LONGEST, TOO_LATE, is_too_late
from batsched_py.reading.objects import list_of, mapping, mapping_of, members_of, take
from batsched_py.reading.values import (
    TEXT,
    TRUTH,
    Reader,
    by_type,
    name_text,
    number,
    optional,
    seconds,
    special,
    text,
    whole_number,
)
from batsched_py.text.display import shown

#: The member of a job with its terms.
MEMBER: Final = "lease"
#: The terms that every algorithm with leases supports; then all terms.
START_TERMS: Final = ("start", "preemptible")
ALL_TERMS: Final = (*START_TERMS, "capacity", "software", "deadline", "duration", "group", "constraint")
#: The largest number of characters of a constraint.
LONGEST_QUERY: Final = 10_000
#: An unlimited duration in seconds: a hundred years, as in Haizea.
UNLIMITED: Final = 36500 * 86400.0
#: Seconds after the submission, or as [DD:]HH:MM:SS.
_LATER = re.compile(r"\+(\d+(?:\.\d+)?)")
_CLOCK = re.compile(r"\+(?:(\d+):)?(\d+):(\d\d):(\d\d(?:\.\d+)?)")
#: Names of resource types in JSON -> Haizea's.
_TYPES: Final = {"cpu": "CPU", "memory": "Memory"}


class DiskImage(NamedTuple):
    """A disk image that the hosts of a lease need: its name, and its size in MB."""

    name: str
    size: float


class NodeSet(NamedTuple):
    """Identical nodes of a lease, or hosts of a site: their number, and the resources that each requests or has."""

    number: int
    resources: Resources


class Terms(Struct, frozen=True):
    """The terms of one lease.

    Attributes:
        kind: best effort, immediate, advance reservation or deadline.
        start: seconds since the start of the simulation; None unless it is an advance reservation or has a deadline.
        preemptible: True if it may be stopped for another lease.
        duration: seconds; None for the job's walltime.
        nodes: the demands of the nodes; empty for a whole host each.
        software: the disk image that its hosts need; None for none.
        deadline: seconds since the start of the simulation by which it must have ended; None for none.
        group: leases of one group, requested at one instant, start together or not at all; None for none.
        constraint: a query that must be true for each of its hosts; None for any host.
    """

    kind: LeaseKind = LeaseKind.BEST_EFFORT
    start: float | None = None
    preemptible: bool = True
    duration: float | None = None
    nodes: tuple[NodeSet, ...] = ()
    software: DiskImage | None = None
    deadline: float | None = None
    group: str | None = None
    constraint: str | None = None


BEST_EFFORT: Final = Terms()


def read_terms(job: Job, known: tuple[str, ...] = START_TERMS) -> Terms:
    """Return the terms of a job; a job without the member `lease` is best effort.

    FieldError if the member is invalid, or has a term that is not among the `known` ones: START_TERMS or ALL_TERMS.
    """
    lease = job.members.get(MEMBER)
    return BEST_EFFORT if lease is None else parse_terms(lease, job.size, job.submit_time, known)


def parse_terms(lease: Any, size: int, submit_time: float, known: tuple[str, ...] = ALL_TERMS) -> Terms:
    """Return the terms in the member `lease` of a job of `size` hosts that is submitted at `submit_time`.

    FieldError as from `read_terms`, with all faults.
    """
    try:
        return _terms(_TERMS[known].read(lease), size, submit_time)
    except FieldError as error:
        raise inside(MEMBER, error) from None


def _terms(members: dict[str, Any], size: int, submit_time: float) -> Terms:
    """Return the terms with these members; FieldError if they contradict each other."""
    kind, start = LeaseKind.BEST_EFFORT, members.pop("start", None)
    if start is not None:
        kind, start = (
            (LeaseKind.IMMEDIATE, None) if start is _NOW else (LeaseKind.ADVANCE, start.after(submit_time, "start"))
        )
    deadline = members.pop("deadline", None)
    if deadline is not None:
        if kind is LeaseKind.IMMEDIATE:
            raise FieldError("deadline", "cannot be combined with an immediate start")
        kind, start, deadline = LeaseKind.DEADLINE, start or submit_time, deadline.after(submit_time, "deadline")
    nodes = members.pop("capacity", ())
    if isinstance(nodes, Mapping):
        nodes = (NodeSet(size, nodes),)
    total = sum(one.number for one in nodes)
    if nodes and total != size:
        raise FieldError("capacity", f"counts {total} nodes, but the job's res is {size}")
    preemptible = members.pop("preemptible", kind is LeaseKind.BEST_EFFORT)
    return Terms(kind, start, preemptible, nodes=nodes, deadline=deadline, **members)


class _Instant(NamedTuple):
    """An instant: seconds since the start of the simulation, or after the submission; and as it is written."""

    seconds: float
    is_later: bool
    written: Any

    def after(self, submit_time: float, term: str) -> float:
        """Return seconds since the start of the simulation; FieldError if it is too late."""
        instant = submit_time + self.seconds if self.is_later else self.seconds
        if is_too_late(instant):
            raise FieldError(term, f"{TOO_LATE} not {shown(self.written)}")
        return instant


_NOW: Final = _Instant(0.0, is_later=False, written="now")


def _instant(value: Any) -> _Instant:
    written = value if isinstance(value, str) else ""
    later, clock = _LATER.fullmatch(written), _CLOCK.fullmatch(written)
    if later is not None:
        return _Instant(float(later[1]), is_later=True, written=value)
    if clock is not None:
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        time = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        return _Instant(time, is_later=True, written=value)
    if type(value) in (int, float) and value >= 0:
        return _Instant(float(value) if value <= LATEST else math.inf, is_later=False, written=value)
    raise refused('a number of seconds from 0, or "+" and seconds after the submission', value)


def _node_set(value: Any) -> NodeSet:
    members = mapping(value)
    capacity = {name: amount for name, amount in members.items() if name != "count"}
    return NodeSet(take(members, "count", _COUNT), _CAPACITY.read(capacity))


def _by_type(found: Mapping[str, Quantity]) -> dict[str, Quantity]:
    capacity = {_TYPES.get(name, name): quantity for name, quantity in found.items()}
    for name, kind in _TYPES.items():
        if name in found and kind in found:
            raise FieldError(name, f"is {kind}, which is given too")
    return capacity


_COUNT: Final = whole_number(least=1)
_AMOUNT: Final = number(above=0, most=LONGEST)
_QUANTITY: Final[Reader[Quantity]] = by_type(
    "a number greater than 0, or a list of them", {float: _AMOUNT, list: list_of(_AMOUNT, least=1)}
)
_CAPACITY: Final = mapping_of(_QUANTITY, TEXT).then(_by_type)
_IMAGE: Final = members_of({"image": name_text(), "size": number("MB", least=0, most=LONGEST)}, ("image", "size"))
_INSTANT: Final = Reader(_instant, {"type": ["number", "string"]})
_READERS: Final[Mapping[str, Reader[Any]]] = {
    "start": special({None: None, "best_effort": None, "now": _NOW}, _INSTANT),
    "preemptible": special({"yes": True, "no": False, "true": True, "false": False}, TRUTH),
    "capacity": special(
        {None: ()},
        by_type(
            "an object or a list of objects",
            {dict: _CAPACITY, list: list_of(Reader(_node_set, {"type": "object"}), least=1)},
        ),
    ),
    "software": optional(_IMAGE.then(lambda members: DiskImage(members["image"], members["size"]))),
    "deadline": optional(_INSTANT),
    "duration": special({None: None, "unlimited": UNLIMITED}, seconds(above=0)),
    "group": optional(name_text()),
    "constraint": optional(text(least=1, most=LONGEST_QUERY)),
}
#: Known terms -> the reader of an object with them.
_TERMS: Final[Mapping[tuple[str, ...], Reader[dict[str, Any]]]] = {
    known: members_of({name: _READERS[name] for name in known}) for known in (START_TERMS, ALL_TERMS)
}

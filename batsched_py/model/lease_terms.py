"""The terms of a lease, read from the member `lease` of a job: start, duration, resources, preemptibility."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from msgspec import Struct

from batsched_py.model.job import Job
from batsched_py.model.resources import Quantity, Resources
from batsched_py.reading.faults import FieldError
from batsched_py.reading.limits import LATEST, LONGEST, NAME_RULE, TOO_LATE, breaks_csv, is_too_late
from batsched_py.text.display import shown

#: The member of a job with its terms.
MEMBER: Final = "lease"
#: The terms that every algorithm with leases supports; then all terms.
START_TERMS: Final = ("start", "preemptible")
ALL_TERMS: Final = (*START_TERMS, "capacity", "software", "deadline", "duration", "group")
#: An unlimited duration in seconds: a hundred years, as in Haizea.
UNLIMITED: Final = 36500 * 86400.0
#: Seconds after the submission, or as [DD:]HH:MM:SS.
_LATER = re.compile(r"\+(\d+(?:\.\d+)?)")
_CLOCK = re.compile(r"\+(?:(\d+):)?(\d+):(\d\d):(\d\d(?:\.\d+)?)")
_START_RULE: Final = 'must be null, "now", a number of seconds from 0 on, or "+" and seconds after the submission'
_DEADLINE_RULE: Final = 'must be a number of seconds from 0 on, or "+" and seconds after the submission'
#: Names of resource types in JSON -> Haizea's.
_TYPES: Final = {"cpu": "CPU", "memory": "Memory"}
_WORDS: Final = {"yes": True, "no": False, "true": True, "false": False}


class Kind(StrEnum):
    """Kinds of leases, by their start."""

    #: Starts when it can.
    BEST_EFFORT = "best-effort"
    #: Starts when it is requested, or never.
    IMMEDIATE = "immediate"
    #: Starts at its fixed time, or never.
    ADVANCE = "advance reservation"
    #: Ends by its deadline, or never starts.
    DEADLINE = "deadline"


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
    """

    kind: Kind = Kind.BEST_EFFORT
    start: float | None = None
    preemptible: bool = True
    duration: float | None = None
    nodes: tuple[NodeSet, ...] = ()
    software: DiskImage | None = None
    deadline: float | None = None
    group: str | None = None


BEST_EFFORT: Final = Terms()


def read_terms(job: Job, known: Collection[str] = START_TERMS) -> Terms:
    """Return the terms of a job; a job without the member `lease` is best effort.

    FieldError (field, rule) if the member is invalid, or has a term that is not among the `known` ones.
    """
    lease = job.members.get(MEMBER)
    return BEST_EFFORT if lease is None else parse_terms(lease, job.size, job.submit_time, known)


def parse_terms(lease: Any, size: int, submit_time: float, known: Collection[str] = ALL_TERMS) -> Terms:
    """Return the terms in the member `lease` of a job of `size` hosts that is submitted at `submit_time`.

    FieldError as from `read_terms`.
    """
    if not isinstance(lease, Mapping):
        raise FieldError(MEMBER, f"must be an object, not {shown(lease)}")
    for name in lease:
        if name not in known:
            *most, last = known
            raise FieldError(f"{MEMBER}.{name}", f"there is no such term; there are {', '.join(most)} and {last}")
    start, kind = _start(lease.get("start"), submit_time)
    deadline = lease.get("deadline")
    if deadline is not None:
        kind, start, deadline = _deadline(deadline, kind, start, submit_time)
    return Terms(
        kind,
        start,
        _preemptible(lease.get("preemptible", kind is Kind.BEST_EFFORT)),
        _duration(lease.get("duration")),
        _nodes(lease.get("capacity"), size),
        _software(lease.get("software")),
        deadline,
        _name(lease.get("group"), "group"),
    )


def _start(value: Any, submit_time: float) -> tuple[float | None, Kind]:
    if value is None or value == "best_effort":
        return None, Kind.BEST_EFFORT
    if value == "now":
        return None, Kind.IMMEDIATE
    return _instant(value, submit_time, "start", _START_RULE), Kind.ADVANCE


def _deadline(value: Any, kind: Kind, start: float | None, submit_time: float) -> tuple[Kind, float, float]:
    if kind is Kind.IMMEDIATE:
        raise FieldError(f"{MEMBER}.deadline", "cannot be combined with an immediate start")
    return Kind.DEADLINE, start or submit_time, _instant(value, submit_time, "deadline", _DEADLINE_RULE)


def _instant(value: Any, submit_time: float, term: str, rule: str) -> float:
    """Return seconds since the start of the simulation."""
    text = value if isinstance(value, str) else ""
    later, clock = _LATER.fullmatch(text), _CLOCK.fullmatch(text)
    if later is not None:
        instant = submit_time + float(later[1])
    elif clock is not None:
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        instant = submit_time + ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    elif type(value) in (int, float) and value >= 0:
        instant = float(value) if value <= LATEST else math.inf
    else:
        raise FieldError(f"{MEMBER}.{term}", f"{rule}, not {shown(value)}")
    if is_too_late(instant):
        raise FieldError(f"{MEMBER}.{term}", f"{TOO_LATE} not {shown(value)}")
    return instant


def _preemptible(value: Any) -> bool:
    said = _WORDS.get(value) if isinstance(value, str) else value
    if type(said) is not bool:
        raise FieldError(f"{MEMBER}.preemptible", f"must be true, false, yes or no, not {shown(value)}")
    return said


def _duration(value: Any) -> float | None:
    if value is None:
        return None
    if value == "unlimited":
        return UNLIMITED
    if type(value) not in (int, float) or not 0 < value <= LONGEST:
        rule = f'must be "unlimited" or a number of seconds greater than 0 and at most {LONGEST}'
        raise FieldError(f"{MEMBER}.duration", f"{rule}, not {shown(value)}")
    return float(value)


def _nodes(value: Any, size: int) -> tuple[NodeSet, ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return (NodeSet(size, _capacity(value, f"{MEMBER}.capacity")),)
    if not isinstance(value, (list, tuple)) or not value:
        raise FieldError(f"{MEMBER}.capacity", f"must be an object or a list of objects, not {shown(value)}")
    sets = list[NodeSet]()
    for index, one in enumerate(value):
        field = f"{MEMBER}.capacity[{index}]"
        if not isinstance(one, Mapping):
            raise FieldError(field, f"must be an object, not {shown(one)}")
        count = one.get("count")
        if type(count) is not int or count < 1:
            raise FieldError(f"{field}.count", f"must be an integer from 1 on, not {shown(count)}")
        sets.append(NodeSet(count, _capacity({name: one[name] for name in one if name != "count"}, field)))
    total = sum(one.number for one in sets)
    if total != size:
        raise FieldError(f"{MEMBER}.capacity", f"counts {total} nodes, but the job's res is {size}")
    return tuple(sets)


def _capacity(value: Mapping[str, Any], field: str) -> dict[str, Quantity]:
    found: dict[str, Quantity] = {}
    for name, amount in value.items():
        several = isinstance(amount, (list, tuple))
        if not (all(map(_is_amount, amount)) and amount if several else _is_amount(amount)):
            raise FieldError(
                f"{field}.{name}", f"must be a number greater than 0, or a list of them, not {shown(amount)}"
            )
        found[_TYPES.get(name, name)] = tuple(map(float, amount)) if several else float(amount)
    return found


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= LONGEST


def _software(value: Any) -> DiskImage | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or set(value) != {"image", "size"}:
        raise FieldError(f"{MEMBER}.software", f"must be null or an object of image and size, not {shown(value)}")
    size = value["size"]
    if type(size) not in (int, float) or not 0 <= size <= LONGEST:
        raise FieldError(f"{MEMBER}.software.size", f"must be a number of MB from 0 on, not {shown(size)}")
    image = _name(value["image"], "software.image")
    if image is None:
        raise FieldError(f"{MEMBER}.software.image", "must be a text, not null")
    return DiskImage(image, float(size))


def _name(value: Any, term: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise FieldError(f"{MEMBER}.{term}", f"must be a text, not {shown(value)}")
    if breaks_csv(value):
        raise FieldError(f"{MEMBER}.{term}", f"{NAME_RULE}, not {shown(value)}")
    return value

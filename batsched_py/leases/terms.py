"""The terms of a lease, read from the member `lease` of a job: its start, and whether it gives way."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from msgspec import Struct

from batsched_py.model.job import Job
from batsched_py.model.limits import LONGEST, TOO_LONG
from batsched_py.text.display import shown

#: The member of a job that holds its terms.
MEMBER: Final = "lease"
#: Seconds after the submission.
_LATER = re.compile(r"\+(\d+(?:\.\d+)?)")
_START_RULE: Final = 'must be null, "now", a number of seconds from 0 on, or "+" and seconds after the submission'


class TermsError(ValueError):
    """A member of a lease breaks a rule; `field` is its path in the job."""

    def __init__(self, field: str, rule: str) -> None:
        self.field, self.rule = field, rule
        super().__init__(f"{field}: {rule}")


class Kind(StrEnum):
    """Kinds of leases, by their start."""

    #: Starts when it can.
    BEST_EFFORT = "best-effort"
    #: Starts when it comes, or never.
    IMMEDIATE = "immediate"
    #: Starts at its instant, or never.
    ADVANCE = "advance reservation"
    #: Ends by its deadline, or never starts.
    DEADLINE = "deadline"


class Software(NamedTuple):
    """A disk image that the hosts of a lease need: its name and its size in MB."""

    image: str
    size: float


class Terms(Struct, frozen=True):
    """The terms of one lease.

    Attributes:
        kind: best effort, immediate or an advance reservation.
        start: seconds since the start of the simulation; None unless it is an advance reservation.
        preemptible: it may be stopped for the sake of another.
    """

    kind: Kind = Kind.BEST_EFFORT
    start: float | None = None
    preemptible: bool = True


BEST_EFFORT: Final = Terms()


def read_terms(job: Job) -> Terms:
    """Return the terms of a job; those of a job without a lease are best effort.

    Raises TermsError (field, rule) if its lease is none.
    """
    lease = job.members.get(MEMBER)
    if lease is None:
        return BEST_EFFORT
    if not isinstance(lease, Mapping):
        raise TermsError(MEMBER, f"must be an object, not {shown(lease)}")
    for name in lease:
        if name not in ("start", "preemptible"):
            raise TermsError(f"{MEMBER}.{name}", "there is no such term; there are start and preemptible")
    start, kind = _start(lease.get("start"), job)
    preemptible = lease.get("preemptible", kind is Kind.BEST_EFFORT)
    if type(preemptible) is not bool:
        raise TermsError(f"{MEMBER}.preemptible", f"must be true or false, not {shown(preemptible)}")
    return Terms(kind, start, preemptible)


def _start(value: Any, job: Job) -> tuple[float | None, Kind]:
    if value is None:
        return None, Kind.BEST_EFFORT
    if value == "now":
        return None, Kind.IMMEDIATE
    later = _LATER.fullmatch(value) if isinstance(value, str) else None
    if later is not None:
        start = job.submit_time + float(later[1])
    elif type(value) in (int, float) and value >= 0:
        start = float(value) if value <= LONGEST else math.inf
    else:
        raise TermsError(f"{MEMBER}.start", f"{_START_RULE}, not {shown(value)}")
    if start > LONGEST:
        raise TermsError(f"{MEMBER}.start", f"{TOO_LONG} not {shown(value)}")
    return start, Kind.ADVANCE

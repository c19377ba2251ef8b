"""Bodies that request leases and jobs: checks, and conversion to requests for the inbox."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from batsched_py.errors import ExtraError, QueryError
from batsched_py.model.lease_terms import LONGEST_QUERY, MEMBER, UNLIMITED, parse_terms
from batsched_py.queries.parser import parse
from batsched_py.reading.faults import FieldError
from batsched_py.reading.limits import LONGEST
from batsched_py.scheduling.queue_requests import CANCEL_JOB
from batsched_py.session.requests import SUBMIT_JOB
from batsched_py.site.api.identity import Identity
from batsched_py.site.api.problems import Problem, RequestRefusedError
from batsched_py.site.inbox import Asked
from batsched_py.site.job_ids import job_id
from batsched_py.text.display import shown
from batsched_py.traces.lwf_time import read_time

#: Terms that go into the member `lease` of a job; the other members of a request describe the job itself.
TERMS: Final = ("start", "deadline", "preemptible", "capacity", "software", "constraint")
#: Terms without effect, which every algorithm obeys.
_PLAIN: Final = {"start": "best_effort", "preemptible": False}
#: A date and a time, in contrast to seconds and [DD:]HH:MM:SS.
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d[T ].*")
#: The largest number of machines in one request: each takes memory, even if there is no host for it.
MOST_NODES: Final = 100_000
Query = Annotated[str, Meta(min_length=1, max_length=LONGEST_QUERY)]
Nodes = Annotated[int, Meta(ge=1, le=MOST_NODES)]


class LeaseRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A request for a lease, with the terms of the member `lease` of a job (docs/leases.md).

    Attributes:
        nodes: the number of machines.
        duration: seconds, [DD:]HH:MM:SS, or "unlimited".
        start: "best_effort" (the default), "now", seconds since the site began, "+" and seconds or HH:MM:SS from now,
            or a date and time, in the site's local time unless it has an offset.
        deadline: the latest end, in the same formats as `start`.
        preemptible: whether it may be suspended for other leases.
        capacity: the resources that each node takes from its host; a whole host by default.
        software: the disk image of the nodes.
        constraint: a query that must be true for each of its hosts (docs/queries.md).
    """

    nodes: Nodes
    duration: float | str
    start: float | str | None = None
    deadline: float | str | None = None
    preemptible: bool | UnsetType = UNSET
    capacity: Mapping[str, Any] | list[Mapping[str, Any]] | UnsetType = UNSET
    software: Mapping[str, Any] | UnsetType = UNSET
    constraint: Query | UnsetType = UNSET


class JobRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A request for a job without lease terms.

    Attributes:
        nodes: the number of hosts.
        walltime: the limit on its run time, in seconds or as [DD:]HH:MM:SS.
        duration: its actual run time, in the same formats. By default it takes its whole walltime and is ended by it:
            COMPLETED_WALLTIME_REACHED.
    """

    nodes: Nodes
    walltime: float | str
    duration: float | str | None = None


def ask_for_lease(body: LeaseRequest, who: Identity, now: float, begun: float) -> Asked:
    """Check a request for a lease and return it for the inbox; RequestRefusedError names each invalid member.

    Args:
        body: the request.
        who: the caller.
        now: the current simulated time, in seconds.
        begun: when the site began, in seconds since 1970: the origin of dates.
    """
    problems, dated = list[Problem](), list[str]()
    seconds = _collect(problems, "duration", body.duration, unlimited=True)
    terms = {name: value for name in TERMS if (value := getattr(body, name)) is not UNSET and value is not None}
    for name in ("start", "deadline"):
        if isinstance(value := terms.get(name), str) and _DATE.fullmatch(value):
            try:
                terms[name] = _since(value, begun)
            except ValueError as error:
                problems.append(Problem(name, str(error)))
            else:
                dated.append(name)
    if not problems:
        problems = _wrong_terms(body.nodes, seconds, terms, now, dict.fromkeys(dated, begun))
    if problems:
        raise RequestRefusedError(422, problems)
    return _submission(body.nodes, seconds, seconds, {MEMBER: terms}, who)


def check_terms(body: LeaseRequest, known: Collection[str], algorithm: str) -> None:
    """Raise RequestRefusedError if a request has terms that the algorithm of the site would ignore.

    Args:
        body: the request.
        known: the terms that the algorithm obeys.
        algorithm: its name.
    """
    given = {name: getattr(body, name) for name in TERMS if name not in known}
    ignored = [
        name for name, value in given.items() if value is not UNSET and value not in (None, _PLAIN.get(name, None))
    ]
    rule = "does not obey this term" if known else "knows no leases: request a job without terms"
    if ignored:
        raise RequestRefusedError(409, [Problem(name, f"the algorithm {algorithm} {rule}") for name in ignored])


def ask_for_job(body: JobRequest, who: Identity) -> Asked:
    """Check a request for a job and return it for the inbox; RequestRefusedError names each invalid member."""
    problems = list[Problem]()
    walltime = _collect(problems, "walltime", body.walltime)
    duration = walltime if body.duration is None else _collect(problems, "duration", body.duration)
    if problems:
        raise RequestRefusedError(422, problems)
    return _submission(body.nodes, walltime, duration, {}, who)


def ask_to_cancel(number: int, who: Identity) -> Asked:
    """Return the request that cancels a job or its lease."""
    return Asked(CANCEL_JOB, lambda _: {"job_id": job_id(number)}, who.user, who.group, target=number)


def _submission(nodes: int, walltime: float, duration: float, extra: Mapping[str, Any], who: Identity) -> Asked:
    owner = {"user": who.user} if who.user else {}

    def members(number: int) -> dict[str, Any]:
        job = {"res": nodes, "walltime": walltime, "profile": f"request{number}", **owner, **extra}
        return {"job_id": job_id(number), "job": job, "profile": {"type": "delay", "delay": duration}}

    return Asked(SUBMIT_JOB, members, who.user, who.group)


def _collect(problems: list[Problem], path: str, value: float | str, *, unlimited: bool = False) -> float:
    """Return a duration in seconds; add a problem and return 0 if it is invalid."""
    try:
        return _seconds(value, unlimited=unlimited)
    except ValueError as error:
        problems.append(Problem(path, str(error)))
        return 0.0


def _seconds(value: float | str, *, unlimited: bool) -> float:
    if unlimited and value == "unlimited":
        return UNLIMITED
    seconds = float(read_time(value)) if isinstance(value, str) else float(value)
    if not 0 < seconds <= LONGEST:
        raise ValueError(f"must be greater than 0 s and at most {LONGEST:.0f}, not {shown(value)}")
    return seconds


def _since(text: str, begun: float) -> float:
    """Return the simulated seconds of a date. ValueError."""
    seconds = read_date(text) - begun
    if seconds < 0:
        raise ValueError(f"{instant(seconds, begun)} is before the start of the site, {instant(0.0, begun)}")
    return round(seconds, 6)


def read_date(text: str) -> float:
    """Return a date in seconds since 1970; without an offset it is in the site's local time. ValueError."""
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"must be a date like 2030-11-25T13:00:00, not {shown(text)}") from None
    try:
        return date.timestamp()
    except (OverflowError, ValueError):
        raise ValueError(f"must be a date that the clock of a machine can show, not {shown(text)}") from None


def _wrong_terms(
    nodes: int, seconds: float, terms: Mapping[str, Any], now: float, dated: Mapping[str, float]
) -> list[Problem]:
    """Return the problems of terms; `dated` has the begin of the site for each term that was given as a date."""

    def clock_text(name: str, time: float) -> str:
        return instant(time, dated[name]) if name in dated else f"{time:.6f}"

    try:
        read = parse_terms(terms, nodes, now)
    except FieldError as error:
        return [Problem(path.removeprefix(f"{MEMBER}."), rule) for path, rule in error.faults]
    wrong = list[Problem]()
    if read.constraint is not None:
        try:
            parse(read.constraint)
        except (QueryError, ExtraError) as error:
            wrong.append(Problem("constraint", str(error)))
    if read.start is not None and read.start < now:
        wrong.append(
            Problem(
                "start", f"must not be before now, {clock_text('start', now)}, as {clock_text('start', read.start)} is"
            )
        )
    if read.deadline is not None and read.deadline < now + seconds:
        earliest = clock_text("deadline", now + seconds)
        wrong.append(Problem("deadline", f"must leave time for the duration: be at least {earliest}"))
    return wrong


def instant(time: float, begun: float) -> str:
    """Return the date of a simulated time, in the site's local time with its offset.

    Args:
        time: simulated seconds.
        begun: when the site began, in seconds since 1970.
    """
    try:
        return datetime.fromtimestamp(begun + time, UTC).astimezone().isoformat(timespec="seconds")
    except (OverflowError, ValueError):  # beyond the year 9999
        return f"{time:.6f} s"

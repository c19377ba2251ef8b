"""The site itself over HTTP: health, clock, hosts, queue, schedule, and a stream of changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final

from litestar import Controller, MediaType, Response
from litestar.params import HeaderParameter, JSONBody, QueryParameter
from litestar.response import ServerSentEvent
from msgspec import Struct
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

import batsched_py
from batsched_py.model.external_event import MACHINE_AVAILABLE
from batsched_py.site.api.changes import SiteChange
from batsched_py.site.api.experiment_json import experiment_summary
from batsched_py.site.api.handlers import get, post, put
from batsched_py.site.api.identity import Asking, Identity, check_operator
from batsched_py.site.api.lease_requests import TERMS
from batsched_py.site.api.lease_views import Lease
from batsched_py.site.api.member_types import check_types
from batsched_py.site.api.news import ReadableChanges, news
from batsched_py.site.api.paging import part
from batsched_py.site.api.parts import HOSTS, SiteParts, parts
from batsched_py.site.api.problems import Problem, RequestRefusedError, refuse
from batsched_py.site.api.schedule import Block
from batsched_py.site.api.selection import MOST
from batsched_py.site.inbox import Asked
from batsched_py.site.journal import CLOSE
from batsched_py.site.pacing import PacedClock
from batsched_py.site.site import Site
from batsched_py.text.wording import seconds

#: The name of the numbers for Prometheus in the application's state.
REGISTRY: Final = "registry"
QueueAfter = Annotated[int, QueryParameter(ge=0, le=2**53, description="How many to leave out, from the head on.")]
QueueLimit = Annotated[int, QueryParameter(ge=1, le=MOST, description="The maximum number of leases.")]
Begin = Annotated[float, QueryParameter(description="Only blocks that end after this time.")]
End = Annotated[float, QueryParameter(description="Only blocks that begin before this time.")]
LastEvent = Annotated[
    str,
    HeaderParameter(name="Last-Event-ID", max_length=100, description="The id of the last event that the client has."),
]
#: The fastest finite pace: a year per second.
_FASTEST: Final = 86400.0 * 365


class Health(Struct, frozen=True):
    """Whether the site takes requests.

    Attributes:
        status: ready, starting or ended.
        why: why it takes no more requests; the log of the site has the details.
    """

    status: str
    why: str = ""


class Clock(Struct, frozen=True):
    """The clock of the site.

    Attributes:
        now: simulated seconds.
        begun: the wall-clock time of simulated second 0, in seconds since 1970.
        pace: simulated seconds per second; None means as fast as possible.
        paused: whether the clock is paused.
    """

    now: float
    begun: float
    pace: float | None
    paused: bool


class ClockChange(Struct, frozen=True, forbid_unknown_fields=True):
    """A change of the clock; omitted members keep their values.

    Attributes:
        pace: simulated seconds per second, or "max" for as fast as possible.
        paused: true to pause the clock, false to start it again.
    """

    pace: float | str | None = None
    paused: bool | None = None


class SiteDescription(Struct, frozen=True):
    """A description of the site.

    Attributes:
        platform: the file name of the platform.
        hosts: the number of hosts.
        algorithm: the name of the scheduling algorithm.
        lease_terms: the terms of leases that it obeys; requests with others are refused.
        version: the version of batsched-py.
        reservations: whether users may reserve hosts for experiments to come.
        clock: the clock of the site.
    """

    platform: str
    hosts: int
    algorithm: str
    lease_terms: tuple[str, ...]
    version: str
    reservations: bool
    clock: Clock


@get("/healthz", tags=("site",), summary="Whether the site is ready", exclude_from_auth=True)
async def health(request: Asking) -> Response[Health]:
    """Answer 200 while the site takes requests, and 503 while it is starting and after it has ended."""
    inbox = parts(request).site.inbox
    if inbox.ready:
        return Response(Health("ready"))
    if inbox.starting:
        return Response(Health("starting"), status_code=503, headers={"Retry-After": "1"})
    return Response(Health("ended", inbox.closed), status_code=503)


@get("/metrics", tags=("site",), summary="Numbers for Prometheus", media_type="text/plain")
async def metrics(request: Asking) -> Response[bytes]:
    """Return counters and gauges of the site in the text format of Prometheus. Only for the operator."""
    check_operator(request)
    return Response(generate_latest(request.app.state[REGISTRY]), media_type=CONTENT_TYPE_LATEST)


class SiteController(Controller):
    """Resources of the site that all may read."""

    path = "/api"
    tags = ("site",)

    @get("/site", summary="Describe the site")
    async def describe(self, request: Asking) -> SiteDescription:
        """Describe the site."""
        site = parts(request).site
        settings, known = site.settings, site.session.scheduler.lease_terms
        return SiteDescription(
            platform=settings.name,
            hosts=len(site.hosts),
            algorithm=settings.choice.algorithm,
            lease_terms=tuple(term for term in TERMS if term in known),
            version=batsched_py.__version__,
            reservations=site.session.options.get("reservations") == "on",
            clock=_clock(site),
        )

    @get("/clock", summary="Read the clock")
    async def clock(self, request: Asking) -> Clock:
        """Return the simulated time and its pace."""
        return _clock(parts(request).site)

    @put("/clock", summary="Change the pace, or pause")
    async def change_clock(self, data: JSONBody[ClockChange], request: Asking) -> Clock:
        """Pause or start the clock, or change its pace, unless it is so already. Only for operators."""
        check_operator(request)
        await check_types(request, ClockChange)
        site, pace = parts(request).site, _pace(data.pace)

        def change(clock: PacedClock, reached: float) -> None:
            if pace in (None, clock.pace) and data.paused in (None, clock.paused):
                raise RequestRefusedError(409, _same(data, clock))
            if pace is not None:
                clock.change_pace(pace, reached)
            if data.paused is True:
                clock.pause(reached)
            elif data.paused is False and clock.paused:
                clock.start(reached)

        if not site.inbox.ready:
            raise refuse(503, "the site is starting", **{"Retry-After": "1"})
        site.inbox.control(change)
        return _clock(site)

    @post("/close", summary="Close the site", status_code=202)
    async def close(self, request: Asking) -> None:
        """Accept no more requests, and end the site when the accepted ones are done. Only for operators.

        Hosts that were drained, or made unavailable, return to service. Held leases are cancelled.
        """
        check_operator(request)
        found, asked = parts(request), [Asked(CLOSE, lambda _: {}, request.user.user)]
        async with found.turns.of(HOSTS):
            if failed := found.hosts.failed_by_request():  # without them, leases could wait without end
                members = {"resources": str(failed)}
                asked.insert(0, Asked(MACHINE_AVAILABLE, lambda _: members, request.user.user))
            await found.acceptance.accept_all(asked)

    @get("/queue", summary="Show the queue")
    async def queue(self, request: Asking, after: QueueAfter = 0, limit: QueueLimit = MOST) -> Response[list[Lease]]:
        """List the waiting leases and jobs of the caller and of the caller's group, in the order of the queue."""
        found = parts(request).leases.queue(request.user, after, limit + 1)
        return part(request, found, limit, lambda _: {"after": after + limit})

    @get("/schedule", summary="Show the schedule")
    async def schedule(self, request: Asking, begin: Begin = 0.0, end: End = 1e12) -> Response[list[Block]]:
        """List the past, current and planned use of hosts between two simulated times."""
        if not begin <= end:
            raise RequestRefusedError(422, [Problem("end", "must not be before the beginning")])
        schedule, answers = parts(request).schedule, parts(request).answers
        return _answer(answers.find(("schedule", begin, end), lambda: schedule.between(begin, end)))

    @get("/events", summary="Follow changes", media_type="text/event-stream")
    async def events(self, request: Asking, last: LastEvent = "") -> ServerSentEvent:
        """Send an event `change` when something has changed, `notice` if only notices, otherwise `clock` every 10 s.

        A `change` has the changes since the event before, or since the one that `Last-Event-ID` names. If they are not
        known, or too many, `changes` is null: then read all lists anew.
        """
        found, who = parts(request), request.user
        readable = partial(_readable, found, who)
        return ServerSentEvent(news(found.site, found.changes, readable, last, lambda: _clock(found.site)))


def _answer(body: bytes, headers: Mapping[str, str] | None = None) -> Response[Any]:
    return Response(body, media_type=MediaType.JSON, headers=dict(headers or {}))


def _clock(site: Site) -> Clock:
    pace = site.clock.pace
    return Clock(round(site.inbox.now, 6), site.begun, None if math.isinf(pace) else pace, site.clock.paused)


def _pace(value: float | str | None) -> float | None:
    if value is None:
        return None
    if value == "max":
        return math.inf
    if isinstance(value, str) or not 0 < value <= _FASTEST:
        raise refuse(
            422, f'must be "max", or more than 0 and at most {_FASTEST:.0f} simulated seconds a second', "pace"
        )
    return float(value)


def _same(data: ClockChange, clock: PacedClock) -> list[Problem]:
    """Return what a change says that the clock does already."""
    problems = list[Problem]()
    if data.pace is not None:
        pace = "max" if math.isinf(clock.pace) else seconds(clock.pace)
        problems.append(Problem("pace", f"is {pace} already"))
    if data.paused is not None:
        problems.append(Problem("paused", f"the clock {'is paused' if clock.paused else 'runs'} already"))
    return problems or [Problem("", "must have `pace` or `paused`")]


def _readable(found: SiteParts, who: Identity, change: SiteChange) -> ReadableChanges:
    """Return what a caller may read of a change."""
    return ReadableChanges(
        found.leases.those(change.leases, who),
        found.schedule.of_leases(change, found.changes.live_rows),
        [experiment_summary(view) for view in found.experiments.those(change.experiments, who)],
        found.experiments.deleted(change.deleted, who),
        change.queue,
        change.hosts,
        change.reservations,
    )

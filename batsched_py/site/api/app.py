"""The application (Litestar) that answers all HTTP requests of a site."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from litestar import Litestar, Request, Router
from litestar.connection import ASGIConnection
from litestar.datastructures import MutableScopeHeaders, ResponseHeader, State
from litestar.enums import ScopeType
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.types import Guard, Message, Scope
from msgspec import Struct
from msgspec.structs import replace

import batsched_py
from batsched_py.errors import SiteError
from batsched_py.site.api import problems
from batsched_py.site.api.audit_routes import audit, make_auditor
from batsched_py.site.api.bodies import JSON, TYPES, body_type
from batsched_py.site.api.caller_routes import caller
from batsched_py.site.api.description import Description
from batsched_py.site.api.experiment_routes import ExperimentController
from batsched_py.site.api.host_routes import HostController
from batsched_py.site.api.identity import Doorkeeper, who_asks, writes
from batsched_py.site.api.lease_controls import LeaseControlController
from batsched_py.site.api.lease_routes import JobController, LeaseController
from batsched_py.site.api.monitoring import make_registry
from batsched_py.site.api.notice_routes import NoticeController
from batsched_py.site.api.page_routes import HEADERS, page, part
from batsched_py.site.api.parts import STATE, make_parts
from batsched_py.site.api.problems import RequestRefusedError, refuse
from batsched_py.site.api.quotas import Quotas
from batsched_py.site.api.rate import RateLimit
from batsched_py.site.api.reservation_routes import ManagerController, ReservationController
from batsched_py.site.api.site_routes import REGISTRY, SiteController, health, metrics
from batsched_py.site.api.timeline_routes import ExperimentTimelineController, TimelineController
from batsched_py.site.api.unread_parts import check_body, check_query, has_body
from batsched_py.site.api.what_if_routes import what_if
from batsched_py.site.site import Site
from batsched_py.site.users import SiteUsers

#: The largest body, in bytes.
LARGEST_BODY: Final = 1 << 20
#: The type of a parameter in the path of a handler.
_TYPE: Final = re.compile(r":\w+(?=})")


class DoorSettings(Struct, frozen=True):
    """Settings of access: the token or users, rate limits and quotas.

    Attributes:
        token: callers must send it; "" if only the machine itself can reach the site.
        rate: writes per second allowed to each user.
        burst: writes at once allowed to each user.
        quotas: limits on the leases, experiments and bytes of one user.
        users: those who have access, each with a token of its own, which replace `token`; None for none.
    """

    token: str = ""
    rate: float = 100.0
    burst: float = 1000.0
    quotas: Quotas = Quotas()
    users: SiteUsers | None = None


def make_app(site: Site, doors: DoorSettings) -> Litestar:
    """Return the application of a site; the caller starts and stops the site."""
    api = Router(
        "/",
        route_handlers=[
            LeaseController,
            LeaseControlController,
            JobController,
            SiteController,
            HostController,
            NoticeController,
            metrics,
            audit,
            caller,
            ExperimentController,
            ReservationController,
            ManagerController,
            TimelineController,
            ExperimentTimelineController,
            what_if,
        ],
        guards=[_make_guard(site, Doorkeeper(doors.token, doors.users), RateLimit(doors.rate, doors.burst))],
    )
    return Litestar(
        route_handlers=[health, page, part, api],
        response_headers=[ResponseHeader(name=name, value=value) for name, value in HEADERS.items()],
        state=State({STATE: make_parts(site, doors.quotas), REGISTRY: make_registry(site)}, deep_copy=False),
        exception_handlers={
            RequestRefusedError: problems.answer_refusal,
            SiteError: problems.answer_closed,
            HTTPException: problems.answer_http,
            RecursionError: problems.answer_too_deep,
            UnicodeDecodeError: problems.answer_no_text,
        },
        openapi_config=OpenAPIConfig(
            title="A batsched-py site",
            version=batsched_py.__version__,
            path="/openapi",
            use_handler_docstrings=True,
            render_plugins=[Description(path="/openapi.json")],
        ),
        before_send=[_allow_methods, make_auditor(site)],
        request_max_body_size=LARGEST_BODY,
        logging_config=None,
    )


def _make_guard(site: Site, doorkeeper: Doorkeeper, limit: RateLimit) -> Guard:
    """Return the guard that checks each request before its handler runs, and raises RequestRefusedError.

    It is a coroutine, because the framework runs plain functions in threads, and a function, because it copies objects.
    """

    async def guard(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
        user = doorkeeper.check(connection)
        if site.inbox.starting:
            raise refuse(503, "the site is starting", **{"Retry-After": "1"})
        who = who_asks(connection, user)  # also for reads: malformed headers are refused
        connection.scope["user"] = who = replace(who, group_quotas=doorkeeper.group_quotas(who.group))
        _check_type(connection, handler)
        check_query(connection, handler)
        waits = limit.seconds_to_wait(who.user) if writes(connection) else 0
        if waits:
            raise refuse(429, "too many requests", **{"Retry-After": str(math.ceil(waits))})
        if isinstance(connection, Request):
            await check_body(connection, handler)
        if writes(connection):
            _check_log(site)

    return guard


def _check_log(site: Site) -> None:
    """End the site, with SiteError, if its audit log is gone: what is accepted next could not be written there."""
    try:
        site.audit.check()
    except SiteError as error:
        raise site.inbox.give_up(error) from error


async def _allow_methods(message: Message, scope: Scope) -> None:
    """Set Allow in the answer to OPTIONS to all methods of a path: the framework lists those of one handler only."""
    if scope["type"] != ScopeType.HTTP or message["type"] != "http.response.start":
        return
    if scope["method"] == "OPTIONS":
        template, paths = scope.get("path_template"), scope["litestar_app"].route_handler_method_map
        known = {method for path in paths if _TYPE.sub("", path) == template for method in paths[path]}
        if known:
            MutableScopeHeaders.from_message(message)["Allow"] = ", ".join(sorted({*known, "OPTIONS"}))


def _check_type(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Refuse bodies of media types that the handler does not read, among them all that a plain HTML form can send."""
    if has_body(connection):
        given, known = body_type(connection.headers), handler.opt.get(TYPES, (JSON,))
        if given not in known:
            raise refuse(415, f"must be {' or '.join(known)}", "Content-Type")

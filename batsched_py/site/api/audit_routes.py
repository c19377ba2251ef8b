"""The audit log over HTTP: each call that changes something, or is refused, is written; operators read it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, Final

from litestar import Response
from litestar.enums import ScopeType
from litestar.params import QueryParameter
from litestar.types import Empty, HTTPScope, Message, Scope
from litestar.utils.scope.state import ScopeState

from batsched_py.errors import SiteError
from batsched_py.site.api.handlers import get
from batsched_py.site.api.identity import SAFE_METHODS, Asking, Identity, check_operator
from batsched_py.site.api.paging import part
from batsched_py.site.api.parts import parts
from batsched_py.site.api.problems import PROBLEM
from batsched_py.site.api.rate import RateLimit
from batsched_py.site.audit import LONGEST, AuditEntry
from batsched_py.site.site import Site

#: The largest number of entries in one part of the list.
_MOST: Final = 1000
#: Refused calls of a user that are written: in a second on average, and at once.
_REFUSED_RATE: Final = 1.0
_REFUSED_BURST: Final = 100.0
_TOO_MANY: Final = 429
_FORBIDDEN: Final = 403
After = Annotated[int, QueryParameter(ge=0, le=2**53, description="Only entries with a greater number.")]
Limit = Annotated[int, QueryParameter(ge=1, le=_MOST, description="The maximum number of entries.")]


@get("/api/audit", tags=("site",), summary="Read the audit log")
async def audit(request: Asking, after: After = 0, limit: Limit = _MOST) -> Response[list[AuditEntry]]:
    """List who did what and with which result: accepted changes, and refused calls. Only for operators."""
    check_operator(request)
    found = parts(request)
    try:
        entries = await found.read(lambda: found.site.audit.read(after, limit + 1))
    except SiteError as error:
        raise found.site.inbox.give_up(error) from error
    return part(request, entries, limit, lambda last: {"after": last.number})


def make_auditor(site: Site) -> Callable[[Message, Scope], Awaitable[None]]:
    """Return the hook that writes an entry before an answer is sent.

    Entries are for callers who are known: of changes, and of calls that a role or an owner refuses. Of each user, a
    limited number of refused calls is written, so that they cannot fill the disk.
    """
    refused = RateLimit(_REFUSED_RATE, _REFUSED_BURST)

    async def write(message: Message, scope: Scope) -> None:
        if scope["type"] != ScopeType.HTTP or message["type"] != "http.response.start":
            return
        who, status, changes = scope.get("user"), message["status"], scope["method"] not in SAFE_METHODS
        if not isinstance(who, Identity) or status == _TOO_MANY or not (changes or status == _FORBIDDEN):
            return
        if status >= 400 and refused.seconds_to_wait(who.user):
            return
        made = next((value.decode("latin-1") for name, value in message["headers"] if name == b"location"), "")
        try:
            site.audit.append(_entry(scope, who, status, site.inbox.now, made))
        except SiteError as error:
            site.inbox.give_up(error)

    return write


def _entry(scope: HTTPScope, who: Identity, status: int, now: float, made: str) -> AuditEntry:
    body = ScopeState.from_scope(scope).body
    return AuditEntry(
        date=datetime.now(UTC).isoformat(timespec="milliseconds"),
        time=round(now, 6),
        user=who.user,
        role="operator" if who.operator else "user",
        method=scope["method"],
        path=scope["path"][:LONGEST],
        status=status,
        group=who.group,
        body="" if body is Empty else body[: 4 * LONGEST].decode("utf-8", "replace")[:LONGEST],
        made=made[:LONGEST],
        problem=str(scope["state"].get(PROBLEM, ""))[:LONGEST],
    )

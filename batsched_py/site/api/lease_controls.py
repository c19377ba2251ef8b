"""Changes of leases and jobs over HTTP: cancellations, holds, releases and priorities."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

from litestar import Controller, Response
from litestar.params import JSONBody
from msgspec import Meta, Struct

from batsched_py.scheduling.queue_requests import HIGHEST, HOLD_JOB, PRIORITISE_JOB, RELEASE_JOB, ChangeKind
from batsched_py.site.api.decided import answer
from batsched_py.site.api.handlers import deciding_delete, deciding_post, deciding_put
from batsched_py.site.api.identity import Asking
from batsched_py.site.api.lease_requests import ask_to_cancel
from batsched_py.site.api.lease_views import TYPES, Lease, Number
from batsched_py.site.api.member_types import check_types
from batsched_py.site.api.parts import parts
from batsched_py.site.api.problems import refuse
from batsched_py.site.inbox import Asked
from batsched_py.site.job_ids import job_id

#: States of leases and jobs that wait, in which they can be held.
_WAITING: Final = frozenset(
    {
        *("waiting", "New", "Pending", "Queued", "Scheduled", "Preparing", "Ready"),
        *("Suspended-Pending", "Suspended-Queued", "Suspended-Scheduled"),
    }
)


class LeasePriority(Struct, frozen=True, forbid_unknown_fields=True):
    """A priority of a best-effort lease.

    Attributes:
        priority: best-effort leases with a greater priority come first in the queue; 0 unless changed.
    """

    priority: Annotated[int, Meta(ge=-HIGHEST, le=HIGHEST)]


class LeaseControlController(Controller):
    """The resources /api/leases/{number}, to cancel it, and below it hold, release and priority."""

    path = "/api/leases/{number:int}"
    tags = ("leases",)

    @deciding_delete("/", summary="Cancel a lease")
    async def cancel(self, request: Asking, number: Number) -> Response[None]:
        """Cancel a lease in any state; only the user who requested it, or an operator, may."""
        async with turn_at(request, number):
            changeable(request, number, "cancel it")
            found = parts(request)
            return await answer(
                found.site.inbox.outcomes, [await found.acceptance.accept(ask_to_cancel(number, request.user))]
            )

    @deciding_post("/hold", summary="Hold a lease")
    async def hold(self, request: Asking, number: Number) -> Response[None]:
        """Hold a waiting lease: its planned place is given back, and it does not start before it is released.

        Only the user who requested it, or an operator, may.
        """
        async with turn_at(request, number):
            lease = changeable(request, number, "hold it")
            if lease.held == "operator" or (lease.held and not request.user.operator):
                raise refuse(409, "it is held already")
            if lease.type == TYPES["IM"]:
                raise refuse(409, "an immediate lease does not wait")
            if lease.state not in _WAITING:
                raise refuse(409, f"it has begun ({lease.state}): only waiting leases can be held")
            return await _change(request, number, HOLD_JOB)

    @deciding_post("/release", summary="Release a lease")
    async def release(self, request: Asking, number: Number) -> Response[None]:
        """Release a held lease: it is planned again, a best-effort lease at its former rank in the queue.

        Only the user who requested it, or an operator, may; only an operator if an operator holds it.
        """
        async with turn_at(request, number):
            lease = changeable(request, number, "release it")
            if lease.held == "operator" and not request.user.operator:
                raise refuse(403, "an operator holds it, and only an operator may release it")
            if not lease.held:
                raise refuse(409, "it is not held")
            return await _change(request, number, RELEASE_JOB)

    @deciding_put("/priority", summary="Change the priority of a lease")
    async def prioritise(self, request: Asking, number: Number, data: JSONBody[LeasePriority]) -> Response[None]:
        """Set the priority of a best-effort lease. The user who requested it may only lower it; an operator may both.

        Planned starts of leases after its former or its new rank are planned again.
        """
        await check_types(request, LeasePriority)
        async with turn_at(request, number):
            lease = changeable(request, number, "change its priority")
            if lease.type not in (None, TYPES["BE"]):
                raise refuse(409, "only best-effort leases have a priority: others have their time")
            if data.priority == lease.priority:
                raise refuse(409, f"its priority is {lease.priority} already", "priority")
            if data.priority > lease.priority and not request.user.operator:
                raise refuse(403, f"only an operator may raise its priority, which is {lease.priority}", "priority")
            return await _change(request, number, PRIORITISE_JOB, priority=data.priority)


def turn_at(request: Asking, number: int) -> asyncio.Lock:
    """Return the lock of a lease, under which its state is checked and a change of it is accepted."""
    return parts(request).turns.of(("lease", number))


def changeable(request: Asking, number: int, what: str) -> Lease:
    """Return a lease that has not ended and that the caller may change. RequestRefusedError."""
    leases, who = parts(request).leases, request.user
    lease = leases.find(number, who)
    if not who.may_change(leases.entry(number).user):
        raise refuse(403, f"only the user who requested it, or an operator, may {what}")
    if lease.final:
        raise refuse(409, f"it has ended: {lease.state}")
    if leases.is_cancelled(number):
        raise refuse(409, "it is being cancelled")
    return lease


async def _change(request: Asking, number: int, kind: ChangeKind, **more: Any) -> Response[None]:
    """Accept a change of a lease, and answer once it is decided.

    RequestRefusedError if the algorithm cannot, if the caller has no bytes left, or if it has no effect.
    """
    found, who = parts(request), request.user
    members = {"job_id": job_id(number), "by": "operator" if who.operator else "user", **more}
    try:
        found.site.session.check_request(kind, members, found.site.inbox.now)
    except LookupError:
        algorithm = found.site.settings.choice.algorithm
        raise refuse(409, f"the algorithm {algorithm} cannot hold, release or prioritise jobs") from None
    asked = Asked(kind, lambda _: members, who.user, who.group, target=number)
    return await answer(found.site.inbox.outcomes, [await found.accept(who, asked, {})])

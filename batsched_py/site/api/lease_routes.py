"""Leases and jobs over HTTP: request, list and show them."""

from __future__ import annotations

from typing import Annotated

from litestar import Controller, Response
from litestar.params import JSONBody, QueryParameter
from msgspec.structs import replace

from batsched_py.model.lease_terms import MEMBER
from batsched_py.site.api.handlers import get, post
from batsched_py.site.api.identity import Asking
from batsched_py.site.api.lease_requests import (
    JobRequest,
    LeaseRequest,
    ask_for_job,
    ask_for_lease,
    check_terms,
    instant,
)
from batsched_py.site.api.lease_views import LEASE_STATES, Lease, Number, unseen
from batsched_py.site.api.member_types import check_types
from batsched_py.site.api.parts import LEASES, parts
from batsched_py.site.api.selection import (
    MOST,
    After,
    Before,
    ItemSelection,
    Limit,
    Newest,
    OfUser,
    WithText,
    known_state,
    link,
    state_parameter,
)
from batsched_py.site.inbox import Asked

InLeaseState = Annotated[str, state_parameter(LEASE_STATES)]
Finished = Annotated[bool, QueryParameter(description="Include leases in final states.")]


class LeaseController(Controller):
    """The resource /api/leases."""

    path = "/api/leases"
    tags = ("leases",)

    @post("/", summary="Request a lease")
    async def ask(self, data: JSONBody[LeaseRequest], request: Asking) -> Response[Lease]:
        """Accept a request for a lease. It is saved before the answer is sent, and decided right afterwards."""
        await check_types(request, LeaseRequest)
        site = parts(request).site
        asked = ask_for_lease(data, request.user, site.inbox.now, site.begun)
        check_terms(data, site.session.scheduler.lease_terms, site.settings.choice.algorithm)
        return await _accepted(request, asked)

    @get("/", summary="List leases")
    async def listed(
        self,
        request: Asking,
        *,
        finished: Finished = False,
        after: After = 0,
        before: Before = 2**53,
        limit: Limit = MOST,
        newest: Newest = False,
        in_state: InLeaseState = "",
        user: OfUser = "",
        text: WithText = "",
    ) -> Response[list[Lease]]:
        """List the leases of the caller and of the caller's group.

        Leases in final states are listed only with `finished` or `in_state`. A part has fewer leases than `limit`, or
        none, if many others were checked for it; then it has a link to the next one all the same.
        """
        wanted = ItemSelection(after, before, limit, newest, known_state(in_state, LEASE_STATES), user, text)
        leases, selected = parts(request).leases.readable(request.user, wanted, finished=finished)
        return Response(leases, headers=link(request, wanted, selected))

    @get("/{number:int}", summary="Show a lease")
    async def shown(self, request: Asking, number: Number) -> Lease:
        """Show one lease."""
        return parts(request).leases.find(number, request.user)


class JobController(Controller):
    """The resource /api/jobs: jobs without terms, for algorithms of all kinds; they are listed among the leases."""

    path = "/api/jobs"
    tags = ("leases",)

    @post("/", summary="Request a job")
    async def ask(self, data: JSONBody[JobRequest], request: Asking) -> Response[Lease]:
        """Accept a request for a job. It is saved before the answer is sent, and decided right afterwards."""
        await check_types(request, JobRequest)
        return await _accepted(request, ask_for_job(data, request.user))


async def _accepted(request: Asking, asked: Asked) -> Response[Lease]:
    """Accept a request, if the quotas of its user allow it, and answer with the lease."""
    found = parts(request)
    entry = await found.accept(request.user, asked, {"hosts": asked.members(0)["job"]["res"], LEASES: 1})
    lease, terms = unseen(entry), entry.members.get("job", {}).get(MEMBER, {})
    if isinstance(start := terms.get("start"), int | float):
        lease = replace(lease, requested_start=start, requested_date=instant(start, found.site.begun))
    return Response(lease, status_code=201, headers={"Location": f"/api/leases/{entry.number}"})

"""Hosts over HTTP: their states; operators drain, fail and return them."""

from __future__ import annotations

from typing import Annotated, Any, Final

from litestar import Controller, MediaType, Response
from litestar.params import JSONBody, QueryParameter
from msgspec import Meta, Struct

from batsched_py.hostset import HostSet
from batsched_py.leases.drains import DRAIN_HOSTS
from batsched_py.model.external_event import MACHINE_UNAVAILABLE
from batsched_py.site.api.decided import answer
from batsched_py.site.api.handlers import deciding_post, get
from batsched_py.site.api.host_changes import HostsText, hosts_to_return, hosts_to_take
from batsched_py.site.api.host_views import Host
from batsched_py.site.api.identity import Asking, check_operator
from batsched_py.site.api.member_types import check_types
from batsched_py.site.api.paging import next_part
from batsched_py.site.api.parts import HOSTS, parts
from batsched_py.site.api.problems import refuse
from batsched_py.site.inbox import Asked

#: The largest number of hosts in one part of the list.
_MOST_HOSTS: Final = 10_000
HostAfter = Annotated[int, QueryParameter(ge=-1, le=2**53, description="Only hosts with a greater number.")]
HostLimit = Annotated[int, QueryParameter(ge=1, le=_MOST_HOSTS, description="The maximum number of hosts.")]
Out = Annotated[bool, QueryParameter(description="Only hosts that are unavailable, draining or drained.")]


class HostsChange(Struct, frozen=True, forbid_unknown_fields=True):
    """Hosts to drain or to fail.

    Attributes:
        hosts: an interval set of host numbers, such as "0-3 7".
        reason: why; shown in the list of hosts.
    """

    hosts: HostsText
    reason: Annotated[str, Meta(max_length=200)] = ""


class HostsReturn(Struct, frozen=True, forbid_unknown_fields=True):
    """Hosts to return to service.

    Attributes:
        hosts: an interval set of host numbers, such as "0-3 7".
    """

    hosts: HostsText


class HostController(Controller):
    """The resource /api/hosts."""

    path = "/api/hosts"
    tags = ("hosts",)

    @get("/", summary="List hosts")
    async def listed(
        self, request: Asking, *, after: HostAfter = -1, limit: HostLimit = 1000, out: Out = False
    ) -> Response[list[Host]]:
        """List hosts and their states, ordered by number."""
        found = parts(request)
        if out:
            hosts = found.hosts.listed(after + 1, len(found.site.hosts), out=True)
            more = next_part(request, {"after": hosts[limit - 1].number}) if len(hosts) > limit else {}
            return Response(hosts[:limit], headers=more)
        end = after + 1 + limit
        headers = next_part(request, {"after": end - 1}) if end < len(found.site.hosts) else {}
        body: Any = found.answers.find(("hosts", after, limit), lambda: found.hosts.listed(after + 1, end))
        return Response(body, media_type=MediaType.JSON, headers=headers)

    @deciding_post("/drain", summary="Drain hosts")
    async def drain(self, data: JSONBody[HostsChange], request: Asking) -> Response[None]:
        """Start nothing new on hosts; what runs there goes on, what is planned there is planned again.

        Only for operators, and for algorithms of leases. Reservations that find no other hosts are rejected.
        """
        return await _change(request, data, DRAIN_HOSTS)

    @deciding_post("/fail", summary="Let hosts fail")
    async def fail(self, data: JSONBody[HostsChange], request: Asking) -> Response[None]:
        """Make hosts unavailable: leases that run there fail. Only for operators of a simulated platform."""
        return await _change(request, data, MACHINE_UNAVAILABLE)

    @deciding_post("/return", summary="Return hosts")
    async def give_back(self, data: JSONBody[HostsReturn], request: Asking) -> Response[None]:
        """Return hosts that are drained or unavailable to service. Only for operators."""
        check_operator(request)
        await check_types(request, HostsReturn)
        found = parts(request)
        async with found.turns.of(HOSTS):
            changes = hosts_to_return(found.site, found.hosts, data.hosts)
            asked = [_asked(request, kind, some) for kind, some in changes]
            return await answer(found.site.inbox.outcomes, await found.acceptance.accept_all(asked))


async def _change(request: Asking, data: HostsChange, kind: str) -> Response[None]:
    """Accept a drain or a failure. RequestRefusedError if the site cannot, or a host is in that state already."""
    check_operator(request)
    await check_types(request, HostsChange)
    if not data.reason.isprintable():
        raise refuse(422, "must be printable text", "reason")
    found = parts(request)
    async with found.turns.of(HOSTS):
        hosts = hosts_to_take(found.site, found.hosts, data.hosts, kind)
        return await answer(
            found.site.inbox.outcomes, [await found.acceptance.accept(_asked(request, kind, hosts, data.reason))]
        )


def _asked(request: Asking, kind: str, hosts: HostSet, reason: str = "") -> Asked:
    members = {"resources": str(hosts), **({"reason": reason} if reason else {})}
    return Asked(kind, lambda _: members, request.user.user, request.user.group)

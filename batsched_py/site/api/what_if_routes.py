"""The call `what-if` over HTTP: the future of a site by another algorithm, with other hosts, or a lease more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Final

from litestar.params import JSONBody
from msgspec import Meta, Struct

from batsched_py.errors import BatschedError, OptionError
from batsched_py.leases.drains import DRAIN_HOSTS
from batsched_py.model.external_event import MACHINE_UNAVAILABLE
from batsched_py.plugins import is_built_in, load
from batsched_py.schedulers import BUILT_INS
from batsched_py.scheduling.base import Scheduler
from batsched_py.session.handover import changed_options
from batsched_py.session.option_values import Origin, read_values
from batsched_py.site.api.handlers import post
from batsched_py.site.api.host_changes import HostsText, hosts_to_return, hosts_to_take
from batsched_py.site.api.identity import Asking, Identity
from batsched_py.site.api.lease_requests import LeaseRequest, ask_for_lease, check_terms
from batsched_py.site.api.member_types import check_types
from batsched_py.site.api.parts import SiteParts, parts
from batsched_py.site.api.problems import Problem, RequestRefusedError, refuse
from batsched_py.site.api.what_if_views import WhatIfAnswer, what_if_of
from batsched_py.site.inbox import Asked
from batsched_py.site.journal import JournalEntry
from batsched_py.site.what_if.future import PlannedChange, SitePlan
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown

#: The default and the longest horizon, in seconds: a day, and 31 days.
DAY: Final = 86400.0
LONGEST_HORIZON: Final = 31 * DAY
_Horizon = Annotated[float, Meta(gt=0, le=LONGEST_HORIZON)]
_Name = Annotated[str, Meta(min_length=1, max_length=100)]
_Options = Annotated[dict[_Name, str | int | float | bool | None], Meta(max_length=100)]


class WhatIf(Struct, frozen=True, forbid_unknown_fields=True):
    """A change of the site that is only played; without any, its future as it is.

    Attributes:
        horizon: how far the site is played ahead, in seconds.
        algorithm: a built-in algorithm that decides from now on.
        options: values of its options by name, or of those of the present algorithm; only numbers, truth values and
            names of built-in things.
        drain_hosts: hosts to drain, an interval set such as "0-3 7".
        fail_hosts: hosts to fail.
        return_hosts: hosts to return to service.
        lease: a lease to request in addition.
    """

    horizon: _Horizon = DAY
    algorithm: _Name | None = None
    options: _Options = {}
    drain_hosts: HostsText | None = None
    fail_hosts: HostsText | None = None
    return_hosts: HostsText | None = None
    lease: LeaseRequest | None = None


@post("/api/what-if", tags=("site",), summary="Play a change ahead", status_code=200)
async def what_if(data: JSONBody[WhatIf], request: Asking) -> WhatIfAnswer:
    """Play the site ahead from now on, as it is and under a change, and compare when leases and jobs start.

    Nothing happens at the site itself. Both plays assume that no other requests come. Leases and jobs of others
    are only counted. The site plays one what-if at a time, and each for a minute at most. A play ends when its caller
    closes the connection.
    """
    await check_types(request, WhatIf)
    found = parts(request)
    present = found.site.session.scheduler
    scheduler, options = _algorithm(data, present)
    requests, now = found.site.inbox.moment()
    asked = enumerate(_asked(data, found, request.user, now, scheduler or type(present)), requests + 1)
    entries = [
        JournalEntry(number, requests + 1, now, 0.0, one.kind, None, one.user, one.group, one.members(number))
        for number, one in asked
    ]
    plan = SitePlan(requests, now, now + data.horizon, PlannedChange(scheduler, options, entries))
    played = await found.player.play(partial(found.site.play_ahead, plan), partial(_gone, request))
    return what_if_of(played, found.site.inbox, request.user, now, plan.until)


async def _gone(request: Asking) -> None:
    """Return when the caller has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _algorithm(data: WhatIf, present: Scheduler[Any]) -> tuple[type[Scheduler[Any]] | None, Mapping[str, Any]]:
    """Return the algorithm, None for the present one, and the values of options. RequestRefusedError."""
    kind = type(present)
    if data.algorithm is not None:
        if not is_built_in(data.algorithm):
            raise refuse(422, unknown(displayed(data.algorithm), BUILT_INS), "algorithm")
        try:
            kind = load(data.algorithm)
        except BatschedError as error:  # it needs an extra
            raise refuse(422, str(error), "algorithm") from None
    try:
        values = read_values(kind.options_type, data.options, kind.name, Origin.PEER)
        changed_options(present, kind, values)
    except OptionError as error:
        raise refuse(422, str(error), "options") from None
    return (None if kind is type(present) else kind), values


def _asked(data: WhatIf, found: SiteParts, who: Identity, now: float, decides: type[Scheduler[Any]]) -> Iterator[Asked]:
    """Yield the requests of a change, on which the algorithm `decides`. RequestRefusedError."""
    for member, kind in (("drain_hosts", DRAIN_HOSTS), ("fail_hosts", MACHINE_UNAVAILABLE)):
        if (text := getattr(data, member)) is not None:
            yield _of_hosts(kind, str(hosts_to_take(found.site, found.hosts, text, kind, member)), who)
    if data.return_hosts is not None:
        for kind, hosts in hosts_to_return(found.site, found.hosts, data.return_hosts, "return_hosts"):
            yield _of_hosts(kind, str(hosts), who)
    if data.lease is not None:
        try:
            asked = ask_for_lease(data.lease, who, now, found.site.begun)
            check_terms(data.lease, decides.lease_terms, decides.name)
        except RequestRefusedError as error:
            problems = [Problem(f"lease.{one.path}", one.message) for one in error.problems]
            raise RequestRefusedError(error.status, problems) from None
        yield asked


def _of_hosts(kind: str, hosts: str, who: Identity) -> Asked:
    return Asked(kind, lambda _: {"resources": hosts}, who.user, who.group)

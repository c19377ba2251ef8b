"""The caller over HTTP: user, role, and the quotas with what is used of them."""

from __future__ import annotations

from msgspec import Struct

from batsched_py.site.api.handlers import get
from batsched_py.site.api.identity import Asking
from batsched_py.site.api.parts import parts
from batsched_py.site.api.quotas import QuotaUse


class Caller(Struct, frozen=True):
    """The caller of a request.

    Attributes:
        user: the name of the user; local for an operator who is not named.
        group: the group of the user; "" for none.
        role: user or operator.
        quotas: quotas of the user and the group, and what is used of them.
    """

    user: str
    group: str
    role: str
    quotas: list[QuotaUse]


@get("/api/caller", tags=("site",), summary="Show the caller")
async def caller(request: Asking) -> Caller:
    """Say who the caller is, with the role and the use of quotas."""
    found, who = parts(request), request.user
    uses = found.quotas.uses(who, {**found.leases.used(who), **found.experiments_used(who)})
    uses.append(QuotaUse("megabytes", "user", found.site.inbox.bytes_of(who.user) / 1e6, found.quotas.megabytes))
    return Caller(who.user, who.group, "operator" if who.operator else "user", uses)

"""Quotas of users and groups: leases and jobs, their machines, experiments, and bytes in the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from batsched_py.site.api.identity import Identity
from batsched_py.site.api.problems import refuse

#: Bytes in a megabyte of a quota.
_MEGABYTE: Final = 1_000_000
#: Quota -> of what it limits the number.
_WHAT: Final = {
    "hosts": "machines of leases and jobs that have not ended",
    "leases": "leases and jobs that have not ended",
    "experiments": "experiments and reservations",
}


class QuotaUse(Struct, frozen=True):
    """A quota, and what is used of it.

    Attributes:
        quota: hosts (machines of leases and jobs that have not ended), leases (those themselves), experiments (with
            reservations), or megabytes (of requests in the journal).
        of: user or group.
        used: what the user, or all users of the group, have.
        limit: the most that they may have; None for no limit.
    """

    quota: str
    of: str
    used: float
    limit: float | None


class Quotas(Struct, frozen=True):
    """The limits of each user whose own quotas do not say otherwise.

    Attributes:
        leases: leases and jobs that have not ended.
        experiments: experiments that were not deleted.
        megabytes: the total size of all requests in the journal, ended or not.
    """

    leases: int = 20_000
    experiments: int = 2_000
    megabytes: float = 256.0

    def uses(self, who: Identity, used: dict[str, tuple[int, int]]) -> list[QuotaUse]:
        """Return the quotas of a caller, and what is used of each.

        Args:
            who: the caller.
            used: quota -> what the user and the group have.
        """
        found = list[QuotaUse]()
        for quota, (own, shared) in used.items():
            limit = getattr(who.quotas, quota)
            found.append(QuotaUse(quota, "user", own, getattr(self, quota, None) if limit is None else limit))
            together = getattr(who.group_quotas, quota)
            if together is not None:
                found.append(QuotaUse(quota, "group", shared, together))
        return found

    def check(self, who: Identity, used: dict[str, tuple[int, int]], more: Mapping[str, int]) -> None:
        """Raise RequestRefusedError, which names the quota, if a request for `more` exceeds a quota of a caller."""
        for one in self.uses(who, used):
            if one.limit is None or one.used + more[one.quota] <= one.limit:
                continue
            whose = "you have" if one.of == "user" else f"the users of {who.group} have"
            rest = "" if more[one.quota] == 1 else f", and you ask for {more[one.quota]}"
            rule = f"the quota {one.quota} of the {one.of} is {one.limit}"
            raise refuse(429, f"{whose} {one.used} {_WHAT[one.quota]}{rest}: {rule}")

    def check_bytes(self, kept: int, more: int) -> None:
        """Raise RequestRefusedError if more bytes exceed the limit of a user whose requests take `kept` bytes."""
        if kept + more > self.megabytes * _MEGABYTE:
            raise refuse(413, f"your requests take {kept} bytes; the most of a user is {self.megabytes:g} MB")

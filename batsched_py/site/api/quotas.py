"""Limits for each user of a site: open leases and jobs, experiments, and bytes in the journal."""

from __future__ import annotations

from typing import Final

import orjson
from msgspec import Struct

from batsched_py.site.api.problems import refuse
from batsched_py.site.inbox import Asked

#: Bytes in a megabyte of a quota.
_MEGABYTE: Final = 1_000_000


class Quotas(Struct, frozen=True):
    """The limits of one user.

    Attributes:
        leases: leases and jobs that have not ended.
        experiments: experiments and reservations that were not deleted.
        megabytes: the total size of all requests in the journal, ended or not.
    """

    leases: int = 20_000
    experiments: int = 2_000
    megabytes: float = 256.0

    def check_leases(self, open_ones: int) -> None:
        """Raise RequestRefusedError if the number of a user's open leases has reached the limit."""
        if open_ones >= self.leases:
            raise refuse(429, f"you have {open_ones} leases and jobs that have not ended, the most of a user")

    def check_experiments(self, present: int) -> None:
        """Raise RequestRefusedError if a user's number of experiments and reservations has reached the limit."""
        if present >= self.experiments:
            raise refuse(429, f"you have {present} experiments and reservations, the most of a user: delete one")

    def check_bytes(self, kept: int, asked: Asked) -> None:
        """Raise RequestRefusedError if a request exceeds the limit of a user whose requests take `kept` bytes."""
        if kept + len(orjson.dumps(asked.members(0))) > self.megabytes * _MEGABYTE:
            raise refuse(413, f"your requests take {kept} bytes; the most of a user is {self.megabytes:g} MB")

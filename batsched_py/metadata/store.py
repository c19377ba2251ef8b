"""What a session and a simulator need of a place where job and profile descriptions are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol

#: A JSON object.
Members = Mapping[str, Any]

#: Workload and profile, as in ("w0", "delay10").
ProfileName = tuple[str, str]

NO_PROFILES: Final[Mapping[ProfileName, Members]] = MappingProxyType({})


class JobStore(Protocol):
    """Descriptions by job id (`workload!name`) and by profile name, all of a message read or written at once.

    Each method raises StoreError if the place cannot be reached, or holds something that is no JSON object.
    """

    def jobs(self, job_ids: Sequence[str]) -> Mapping[str, Members]:
        """The job objects, by id; those that are not there are left out."""

    def profiles(self, names: Sequence[ProfileName]) -> Mapping[ProfileName, Members]:
        """The profile objects; those that are not there are left out."""

    def value(self, key: str) -> bytes | None:
        """What stands under a key; the prefix of all keys may be left out. None if nothing is there."""

    def put(self, jobs: Mapping[str, Members], profiles: Mapping[ProfileName, Members] = NO_PROFILES) -> None:
        """Keep job and profile objects; when it returns, others can read them."""

    def put_host_count(self, count: int) -> None:
        """Keep the number of hosts, which Batsim writes when it starts."""

    def place(self, job_id: str) -> str:
        """Where a job is kept, as an error message names it."""

    def place_of_key(self, key: str) -> str:
        """Where `value` looks for this key, as an error message names it."""

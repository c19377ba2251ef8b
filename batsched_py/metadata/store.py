"""The interface between a session or a simulator and a store of job and profile descriptions."""

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
        """Return the job objects, by id, without those that do not exist."""

    def profiles(self, names: Sequence[ProfileName]) -> Mapping[ProfileName, Members]:
        """Return the profile objects, without those that do not exist."""

    def value(self, key: str) -> bytes | None:
        """Return the value of a key, whose prefix may be left out; None if there is none."""

    def put(self, jobs: Mapping[str, Members], profiles: Mapping[ProfileName, Members] = NO_PROFILES) -> None:
        """Keep job and profile objects; when it returns, others can read them."""

    def put_host_count(self, count: int) -> None:
        """Keep the number of hosts, which Batsim writes when it starts."""

    def place(self, job_id: str) -> str:
        """Return the place of a job, as error messages name it."""

    def place_of_key(self, key: str) -> str:
        """Return the place of a key, as error messages name it."""

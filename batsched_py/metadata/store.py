"""The interface between a session or a simulator and a store of job and profile descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol

#: A JSON object.
Members = Mapping[str, Any]

#: The names of a workload and a profile, such as ("w0", "delay10").
ProfileName = tuple[str, str]

NO_PROFILES: Final[Mapping[ProfileName, Members]] = MappingProxyType({})


class JobStore(Protocol):
    """Descriptions by job id (`workload!name`) and by profile name; all of a message are read or written at once.

    Each method raises StoreError if the store cannot be reached, or a value is not a JSON object.
    """

    def jobs(self, job_ids: Sequence[str]) -> Mapping[str, Members]:
        """Return the existing job objects by id."""

    def profiles(self, names: Sequence[ProfileName]) -> Mapping[ProfileName, Members]:
        """Return the existing profile objects by name."""

    def value(self, key: str) -> bytes | None:
        """Return the value of a key, with or without its prefix; None if there is none."""

    def put(self, jobs: Mapping[str, Members], profiles: Mapping[ProfileName, Members] = NO_PROFILES) -> None:
        """Store job and profile objects; others can read them when this returns."""

    def put_host_count(self, count: int) -> None:
        """Store the number of hosts, as Batsim does at its start."""

    def place(self, job_id: str) -> str:
        """Return the store and the key of a job, for error messages."""

    def place_of_key(self, key: str) -> str:
        """Return the store and a key, for error messages."""

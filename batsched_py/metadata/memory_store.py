"""Jobs kept in this process under Batsim's keys: a run as with Redis, without a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from batsched_py.metadata.keys import (
    DEFAULT_PREFIX,
    host_count_key,
    job_key,
    profile_key,
    read_object,
    write_object,
)
from batsched_py.metadata.store import NO_PROFILES, Members, ProfileName


class MemoryStore:
    """A JobStore for a simulator and a session of one process; give it to both."""

    def __init__(self, prefix: str = DEFAULT_PREFIX) -> None:
        self._prefix = prefix
        #: Key -> value, as Redis would hold them.
        self.values: dict[str, bytes] = {}

    def jobs(self, job_ids: Sequence[str]) -> Mapping[str, Members]:
        """The job objects, by id, that are there; StoreError if one is no JSON object."""
        found = ((job_id, self._read(job_key(self._prefix, job_id))) for job_id in job_ids)
        return {job_id: members for job_id, members in found if members is not None}

    def profiles(self, names: Sequence[ProfileName]) -> Mapping[ProfileName, Members]:
        """The profile objects that are there; StoreError if one is no JSON object."""
        found = ((name, self._read(profile_key(self._prefix, *name))) for name in names)
        return {name: members for name, members in found if members is not None}

    def put(self, jobs: Mapping[str, Members], profiles: Mapping[ProfileName, Members] = NO_PROFILES) -> None:
        """Keep job and profile objects."""
        for job_id, members in jobs.items():
            self.values[job_key(self._prefix, job_id)] = write_object(members)
        for name, members in profiles.items():
            self.values[profile_key(self._prefix, *name)] = write_object(members)

    def put_host_count(self, count: int) -> None:
        """Keep the number of hosts."""
        self.values[host_count_key(self._prefix)] = b"%d" % count

    def place(self, job_id: str) -> str:
        """Its key."""
        return f"memory: key {job_key(self._prefix, job_id)}"

    def _read(self, key: str) -> dict[str, Any] | None:
        text = self.values.get(key)
        return None if text is None else read_object(text, f"memory: key {key}")

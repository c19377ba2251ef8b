"""Jobs kept in this process under Batsim's keys: a run as with Redis, without a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from batsched_py.metadata.keys import (
    DEFAULT_PREFIX,
    host_count_key,
    job_keys,
    profile_keys,
    read_objects,
    whole_key,
    write_objects,
)
from batsched_py.metadata.store import NO_PROFILES, Members, ProfileName

Name = TypeVar("Name")


class MemoryStore:
    """A JobStore for a simulator and a session of one process; give it to both."""

    def __init__(self, prefix: str = DEFAULT_PREFIX) -> None:
        self._prefix = prefix
        #: Key -> value, as Redis would hold them.
        self.values: dict[str, bytes] = {}

    def jobs(self, job_ids: Sequence[str]) -> Mapping[str, Members]:
        """Return the existing job objects, by id; StoreError if one is no JSON object."""
        return self._read(job_ids, job_keys(self._prefix, job_ids))

    def profiles(self, names: Sequence[ProfileName]) -> Mapping[ProfileName, Members]:
        """Return the existing profile objects; StoreError if one is no JSON object."""
        return self._read(names, profile_keys(self._prefix, names))

    def value(self, key: str) -> bytes | None:
        """Return the value of a key, whose prefix may be left out."""
        return self.values.get(whole_key(self._prefix, key))

    def put(self, jobs: Mapping[str, Members], profiles: Mapping[ProfileName, Members] = NO_PROFILES) -> None:
        """Keep job and profile objects."""
        self.values.update(write_objects(self._prefix, jobs, profiles))

    def put_host_count(self, count: int) -> None:
        """Keep the number of hosts."""
        self.values[host_count_key(self._prefix)] = b"%d" % count

    def place(self, job_id: str) -> str:
        """Return the key of a job."""
        return f"memory: key {job_keys(self._prefix, [job_id])[0]}"

    def place_of_key(self, key: str) -> str:
        """Return the key with its prefix."""
        return f"memory: key {whole_key(self._prefix, key)}"

    def _read(self, names: Sequence[Name], keys: Sequence[str]) -> dict[Name, Members]:
        return read_objects(names, [self.values.get(key) for key in keys], keys, "memory")

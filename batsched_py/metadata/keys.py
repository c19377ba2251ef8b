"""Batsim's keys of jobs and profiles, and their JSON objects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import orjson

from batsched_py.errors import StoreError
from batsched_py.metadata.store import NO_PROFILES, Members, ProfileName
from batsched_py.text.display import displayed

Name = TypeVar("Name")

#: Options of orjson: types that it would convert by its own rules go to `_plain`, which converts or refuses them.
_STRICT: Final = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS


class KeyedStore(ABC):
    """A JobStore with the keys `PREFIX:job_WORKLOAD!NAME` and `PREFIX:profile_WORKLOAD!NAME`; values are JSON objects.

    Batsim's documentation omits the workload in a profile's key, its source does not. Subclasses access the values.
    """

    def __init__(self, where: str, prefix: str) -> None:
        """`where` names the store in error messages."""
        self._where, self._prefix = where, prefix

    @abstractmethod
    def _get(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        """Return the values of keys; None for a missing one."""

    @abstractmethod
    def _set(self, values: dict[str, bytes]) -> None:
        """Set the values of keys."""

    def jobs(self, job_ids: Sequence[str]) -> Mapping[str, Members]:
        """Return the existing job objects by id; StoreError if one is not a JSON object."""
        return self._read(job_ids, [self._job_key(job_id) for job_id in job_ids])

    def profiles(self, names: Sequence[ProfileName]) -> Mapping[ProfileName, Members]:
        """Return the existing profile objects by name; StoreError if one is not a JSON object."""
        return self._read(names, [self._profile_key(name) for name in names])

    def put(self, jobs: Mapping[str, Members], profiles: Mapping[ProfileName, Members] = NO_PROFILES) -> None:
        """Store job and profile objects; TypeError if one is not JSON."""
        objects = {self._job_key(job_id): members for job_id, members in jobs.items()}
        objects |= {self._profile_key(name): members for name, members in profiles.items()}
        self._set({key: orjson.dumps(members, _plain, _STRICT) for key, members in objects.items()})

    def put_host_count(self, count: int) -> None:
        """Store the number of hosts."""
        self._set({f"{self._prefix}:nb_res": b"%d" % count})

    def place(self, job_id: str) -> str:
        """Return the store and the key of a job, for error messages."""
        return f"{self._where}: key {displayed(self._job_key(job_id))}"

    def place_of_key(self, key: str) -> str:
        """Return the store and a key with its prefix, for error messages."""
        return f"{self._where}: key {self._whole(key)}"

    def _job_key(self, job_id: str) -> str:
        return f"{self._prefix}:job_{job_id}"

    def _profile_key(self, name: ProfileName) -> str:
        return f"{self._prefix}:profile_{name[0]}!{name[1]}"

    def _whole(self, key: str) -> str:
        """Return the key with the prefix, which is added if missing: keys with another prefix are not accessible."""
        return key if key.startswith(f"{self._prefix}:") else f"{self._prefix}:{key}"

    def _read(self, names: Sequence[Name], keys: Sequence[str]) -> dict[Name, Members]:
        """Return the objects of these keys by name; StoreError names the store, the key and the rule."""
        found: dict[Name, Members] = {}
        for name, key, text in zip(names, keys, self._get(keys), strict=True):
            if text is None:
                continue
            try:
                found[name] = members = orjson.loads(text)
            except orjson.JSONDecodeError as error:
                raise StoreError(f"{self._where}: key {key}: must be JSON: {error}") from None
            if type(members) is not dict:
                raise StoreError(f"{self._where}: key {key}: must be a JSON object")
        return found


def _plain(value: Any) -> dict[str, Any]:
    """Convert a Mapping, which orjson does not support, to a dict; TypeError for another type."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is not JSON")

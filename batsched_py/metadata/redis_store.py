"""Batsim's Redis conventions: where it keeps jobs and profiles when it runs with --enable-redis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import orjson

from batsched_py.errors import StoreError

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ImportError:  # the extra `redis` is not installed; said when a store is opened
    redis = None  # type: ignore[assignment]

#: Seconds to wait for Redis before the run ends with an error: it is on this machine or near it.
TIMEOUT: Final = 5.0


class RedisStore:
    """Jobs under `PREFIX:job_WORKLOAD!NAME`, profiles under `PREFIX:profile_WORKLOAD!NAME`, both as JSON."""

    def __init__(self, hostname: str, port: int, prefix: str) -> None:
        """Connect; StoreError if the extra is missing or nobody answers."""
        if redis is None:
            raise StoreError("Batsim keeps its jobs in Redis: install the extra, pip install 'batsched-py[redis]'")
        self._where = f"Redis {hostname}:{port}"
        self._prefix = prefix
        once = Retry(NoBackoff(), 0)
        self._client = redis.Redis(hostname, port, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT, retry=once)
        with self._named_errors():
            self._client.ping()

    def job(self, job_id: str) -> Mapping[str, Any]:
        """The job object; StoreError if it is not there or no JSON object."""
        key = self._job_key(job_id)
        members = self._read(key)
        if members is None:
            raise StoreError(f"{self._where}: key {key}: is missing, but Batsim has submitted this job")
        return members

    def profile(self, workload: str, name: str) -> Mapping[str, Any] | None:
        """The profile object, or None if it is not there."""
        return self._read(self._profile_key(workload, name))

    def put_job(self, job_id: str, members: Mapping[str, Any]) -> None:
        """Keep a job object."""
        self._write(self._job_key(job_id), members)

    def put_profile(self, workload: str, name: str, members: Mapping[str, Any]) -> None:
        """Keep a profile object."""
        self._write(self._profile_key(workload, name), members)

    def close(self) -> None:
        """Give the connection back."""
        self._client.close()

    def _job_key(self, job_id: str) -> str:
        return f"{self._prefix}:job_{job_id}"

    def _profile_key(self, workload: str, name: str) -> str:
        return f"{self._prefix}:profile_{workload}!{name}"

    def _read(self, key: str) -> dict[str, Any] | None:
        with self._named_errors():
            text = self._client.get(key)
        if not isinstance(text, bytes):
            return None
        try:
            members = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise StoreError(f"{self._where}: key {key}: must be JSON: {error}") from None
        if not isinstance(members, dict):
            raise StoreError(f"{self._where}: key {key}: must be a JSON object")
        return members

    def _write(self, key: str, members: Mapping[str, Any]) -> None:
        with self._named_errors():
            self._client.set(key, orjson.dumps(dict(members)))

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except redis.RedisError as error:
            raise StoreError(f"{self._where}: {str(error) or type(error).__name__}") from None

"""A store of jobs and profiles in Redis, as used by a Batsim with --enable-redis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from msgspec import Struct

from batsched_py.errors import ExtraError, StoreError
from batsched_py.metadata.keys import KeyedStore
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

try:
    import redis
    from redis.backoff import ExponentialBackoff, NoBackoff
    from redis.retry import Retry
except ImportError:  # the extra `redis` is not installed; reported when a store is opened
    redis = None  # type: ignore[assignment]

Answer = TypeVar("Answer")

#: The largest number of keys in one command: a server takes some 10 ms for them, and does not block others for longer.
BATCH: Final = 10_000


class Persistence(Struct, frozen=True):
    """Retries of operations on Redis; times in seconds.

    An operation is attempted `tries` times. The first wait between two attempts is `first_wait`; it doubles each time,
    up to `longest_wait`. `timeout` limits the time to connect, and the time without data from the server.
    """

    tries: int = 6
    first_wait: float = 0.2
    longest_wait: float = 2.0
    timeout: float = 3.0


#: Waits of 0.2, 0.4, 0.8, 1.6 and 2 s: 5 s in total, enough for a local Redis to restart.
PERSISTENCE: Final = Persistence()


class RedisStore(KeyedStore):
    """Jobs and profiles on a Redis server."""

    def __init__(
        self, hostname: str, port: int, prefix: str, persistence: Persistence = PERSISTENCE, *, password: str = ""
    ) -> None:
        """Connect, without authentication if `password` is empty.

        StoreError if the server does not answer, ExtraError if the package is missing.
        """
        if redis is None:
            raise ExtraError("Batsim's jobs in Redis", "redis", "redis")
        host = displayed(hostname)
        super().__init__(f"Redis [{host}]:{port}" if ":" in host else f"Redis {host}:{port}", prefix)
        self._tries = persistence.tries
        self._retry = Retry(
            ExponentialBackoff(cap=persistence.longest_wait, base=persistence.first_wait / 2),
            persistence.tries - 1,
            (redis.ConnectionError, redis.TimeoutError),
        )
        self._client = redis.Redis(
            hostname,
            port,
            password=password or None,
            socket_timeout=persistence.timeout,
            socket_connect_timeout=persistence.timeout,
            retry=Retry(NoBackoff(), 0),  # whole operations are retried instead: nested retries would multiply
            protocol=2,
        )
        try:
            self._tried(self._client.ping)
        except StoreError:
            self._client.close()
            raise

    def value(self, key: str) -> bytes | None:
        """Return the value of a key, with or without its prefix; None if there is none."""
        found: Any = self._tried(partial(self._client.get, self._whole(key)))
        return found if isinstance(found, bytes) else None

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _get(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        texts: list[Any] = []
        for first in range(0, len(keys), BATCH):
            texts += self._tried(partial(self._client.mget, keys[first : first + BATCH]))
        return texts

    def _set(self, values: dict[str, bytes]) -> None:
        items = list(values.items())
        for first in range(0, len(items), BATCH):
            self._tried(partial(self._client.mset, dict(items[first : first + BATCH])))

    def _tried(self, ask: Callable[[], Answer]) -> Answer:
        """Return the result of an operation, with retries; StoreError names the server and its error."""
        try:
            answer: Answer = self._retry.call_with_retry(ask, _give_up)
        except (redis.RedisError, UnicodeError) as error:  # UnicodeError: an invalid host name
            why = displayed(" ".join(str(error).split())) or type(error).__name__
            lost = isinstance(error, (redis.ConnectionError, redis.TimeoutError)) and not isinstance(
                error, redis.AuthenticationError
            )
            tried = f" (tried {counted(self._tries, 'time')})" if lost else ""
            raise StoreError(f"{self._where}: {why}{tried}") from None
        return answer


def _give_up(error: Exception) -> None:
    """Raise an authentication error, which a retry would not fix."""
    if isinstance(error, redis.AuthenticationError):
        raise error

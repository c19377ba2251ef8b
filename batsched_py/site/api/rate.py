"""The rate limit: a token bucket for each user."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

#: The largest number of buckets; the least recently used one is dropped first.
_MOST_USERS: Final = 10_000


class RateLimit:
    """A limit of `rate` requests per second for each user, with bursts; an infinite rate allows all.

    Args:
        rate: requests per second.
        burst: the size of a bucket: requests at once after a pause.
        wall: a monotonic clock, in seconds.
    """

    def __init__(self, rate: float, burst: float, wall: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._wall = rate, burst, wall
        #: User -> tokens in the bucket, and the time of that count.
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def seconds_to_wait(self, user: str) -> float:
        """Take a token from a user's bucket and return 0; if there is none, return the seconds until there is one."""
        if self._rate == float("inf"):
            return 0.0
        now = self._wall()
        left, since = self._buckets.pop(user, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        waits = 0.0 if left >= 1.0 else (1.0 - left) / self._rate
        self._buckets[user] = (left if waits else left - 1.0), now
        if len(self._buckets) > _MOST_USERS:
            self._buckets.popitem(last=False)
        return waits

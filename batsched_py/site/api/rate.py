"""How often somebody may ask: a bucket of tokens for each user, which fills by itself."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

#: Users that are remembered; those who have not asked for longest are forgotten first.
_MOST_USERS: Final = 10_000


class RateLimit:
    """Allows `rate` requests a second for each user, and `burst` at once; an infinite rate allows all.

    Args:
        rate: requests a second.
        burst: requests at once after a pause.
        wall: returns seconds of a clock that never goes back.
    """

    def __init__(self, rate: float, burst: float, wall: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._wall = rate, burst, wall
        #: User -> what is left in the bucket, and when that was.
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def seconds_to_wait(self, user: str) -> float:
        """Take a token of a user; return 0, or the seconds after which there is one."""
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

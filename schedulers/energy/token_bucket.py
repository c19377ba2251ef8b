"""A token bucket of joules: an allowance of energy that grows with time and is spent by running jobs."""

from __future__ import annotations

import math


class TokenBucket:
    """Joules that may be spent: they come in at a constant rate, and at most `limit` of them are kept.

    The base power of the machine is charged as time passes; work is paid in advance for its maximum duration, and the
    unused part is returned. Therefore the spent and committed energy together never exceed the income, as long as the
    base power does not exceed the rate.
    """

    __slots__ = ("joules", "limit", "now", "rate")

    def __init__(self, now: float, rate: float, limit: float) -> None:
        self.now, self.rate, self.limit = now, rate, limit
        #: The joules left; begins with none, and is negative if more was drawn than came in.
        self.joules = 0.0

    def accrue(self, now: float, watts: float) -> None:
        """Add the income until `now`, and charge the base power `watts`."""
        self.joules = self.after(now - self.now, watts)
        self.now = now

    def after(self, seconds: float, watts: float, paid: float = 0.0) -> float:
        """Return the joules left after `seconds`, if `paid` joules are taken now and the base power is `watts`."""
        return min(self.limit, self.joules - paid + (self.rate - watts) * seconds)

    def pay(self, joules: float) -> None:
        """Take joules for new work; a negative number returns them."""
        self.joules = min(self.limit, self.joules - joules)

    def ready(self, joules: float, watts: float) -> float:
        """Return when `joules` can be paid, with base power `watts` and without other payments; infinity for never."""
        if joules <= self.joules:
            return self.now
        if joules > self.limit or self.rate <= watts:
            return math.inf
        return self.now + (joules - self.joules) / (self.rate - watts)

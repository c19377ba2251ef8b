"""A token bucket of joules: an allowance of energy that grows with time and is spent by what runs."""

from __future__ import annotations

import math


class TokenBucket:
    """Joules that may be spent: they come in at a constant rate, and at most `limit` of them are kept.

    What the machine draws anyway is taken out as time passes; work is paid in advance, for all of the time that it may
    take, and what it did not use comes back. So what was spent and what is owed together never exceed what has come
    in, as long as no more than comes in is drawn anyway.
    """

    __slots__ = ("joules", "limit", "now", "rate")

    def __init__(self, now: float, rate: float, limit: float) -> None:
        self.now, self.rate, self.limit = now, rate, limit
        #: The joules left; begins with none, and is negative if more was drawn than came in.
        self.joules = 0.0

    def accrue(self, now: float, watts: float) -> None:
        """Let energy come in until `now`, while the machine draws so much anyway."""
        self.joules = self.after(now - self.now, watts)
        self.now = now

    def after(self, seconds: float, watts: float, paid: float = 0.0) -> float:
        """Return what will be left in so many seconds, if `paid` joules are taken out now and so much is drawn."""
        return min(self.limit, self.joules - paid + (self.rate - watts) * seconds)

    def pay(self, joules: float) -> None:
        """Take joules out for work that begins; negative to give them back."""
        self.joules = min(self.limit, self.joules - joules)

    def ready(self, joules: float, watts: float) -> float:
        """Return when so much can be paid, if so much is drawn until then and nobody else pays; infinite: never."""
        if joules <= self.joules:
            return self.now
        if joules > self.limit or self.rate <= watts:
            return math.inf
        return self.now + (joules - self.joules) / (self.rate - watts)

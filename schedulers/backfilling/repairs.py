"""Expected returns of failed hosts."""

import math
from typing import Final

from batsched_py.api import TOLERANCE, HostSet, Plan, View

#: Seconds by which the event of a repair may be late.
NEWS_DELAY: Final = 1.0
#: Doublings of the expected time of a late repair before the host is given up.
DOUBLINGS: Final = 6


class Repairs:
    """The returns of failed hosts, after the given repair time or, by default, the mean of the repairs so far.

    A host that is not back in time is expected after twice the repair time, then after four times, and so on up to
    64 times; after that it is given up: it is in no plan until it is back. Hosts that sleep or switch are not covered.
    Without a given time, no returns are expected before the first repair has ended.
    """

    def __init__(self, seconds: float | None) -> None:
        self._repair_time = seconds
        #: Number of completed repairs, and their total duration in seconds.
        self._ended, self._seconds = 0, 0.0
        #: Failed host -> the instant at which it failed.
        self.failed_since: dict[int, float] = {}
        #: Failed host -> the instant at which it is expected; infinity for hosts that were given up.
        self._expected: dict[int, float] = {}
        #: The first instant at which a host counts as late; infinity if none is expected.
        self.next_late = math.inf

    def foresee(self, view: View) -> bool:
        """Update the expected returns; return whether hosts changed or one of them is late."""
        if view.hosts_changed or (self.next_late < math.inf and view.due(self.next_late)):
            failed = view.unavailable
            if failed.bits or self.failed_since:
                self._update(failed, view)
            return True
        return False

    def call_when_late(self, view: View, plan: Plan) -> None:
        """Request a call when the next host is late, if free hosts may be kept for a job that waits for it."""
        if self.next_late < math.inf and plan.free.bits and not view.due(self.next_late):
            plan.wake_at(self.next_late)

    def _update(self, failed: HostSet, view: View) -> None:
        self._follow(failed, view.now)
        usual = self._usual()
        down = failed - view.asleep - view.switching
        expected = {host: self._expect(self.failed_since[host], usual, view.now) for host in down}
        for host, time in expected.items():
            if time != self._expected.get(host):  # also removes an expectation from before its failure
                view.availability().expect(HostSet.of(host), time)
        self._expected = expected
        self.next_late = min(expected.values(), default=math.inf) + NEWS_DELAY

    def _follow(self, failed: HostSet, now: float) -> None:
        for host in [host for host in self.failed_since if host not in failed]:
            self._ended += 1
            self._seconds += now - self.failed_since.pop(host)
        for host in failed:
            self.failed_since.setdefault(host, now)

    def _usual(self) -> float:
        """Return the expected duration of a repair in seconds; infinity if it is unknown."""
        if self._repair_time is not None:
            return self._repair_time
        return max(NEWS_DELAY, self._seconds / self._ended) if self._ended else math.inf

    def _expect(self, since: float, usual: float, now: float) -> float:
        """Return the first expected instant of the series that has not passed."""
        for doublings in range(DOUBLINGS + 1):
            time = since + usual * 2.0**doublings
            if time + NEWS_DELAY > now + TOLERANCE:
                return time
        return math.inf

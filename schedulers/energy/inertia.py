"""The inertial policy: the number of hosts to wake or to send to sleep at the end of each period."""

import math
import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from batsched_py.api import HostSet

#: Maximum number of hosts to switch.
LARGEST: Final = 1e9


class SwitchGrowth(Struct, frozen=True):
    """The growth of the number of switched hosts from one period to the next: x2 doubles it, p1 adds one."""

    factor: float
    summand: float

    @classmethod
    def parse(cls, text: str) -> "SwitchGrowth":
        """Read x or p with a number up to LARGEST; ValueError if it is neither."""
        found = re.fullmatch(r"\s*([xp])\s*(\d+(?:\.\d+)?)\s*", text)
        if found is None:
            raise ValueError(f"inertia: must be x or p with a number, as in x2 or p1, not {text[:40]!r}")
        number = float(found[2])
        if number > LARGEST:
            raise ValueError(f"inertia: must be at most {LARGEST:g}, not {text[:40]!r}")
        return cls(number, 0.0) if found[1] == "x" else cls(1.0, number)

    def after(self, count: int) -> int:
        """Return the next number of hosts, at least 1."""
        return max(1, int(count * self.factor + self.summand))


class Inertia:
    """The waiting load of each period, compared with that of the period before.

    The load is a `liquid_load_horizon`, integrated over the period. While it grows from period to period hosts are
    woken, while it does not they are sent to sleep: each time more of them, by the growth. When the direction changes
    nothing is switched for one period. From a mean load of `threshold` seconds on hosts are woken in any case.
    """

    def __init__(self, growth: SwitchGrowth, period: float, threshold: float) -> None:
        self.growth, self.period, self.threshold = growth, period, threshold
        #: The direction: hosts are woken, or sent to sleep.
        self.waking = True
        #: Hosts switched in this direction since the period began.
        self.switched = 0
        #: The end of the period; infinite before the first job.
        self.next_stage = math.inf
        self._first = True
        #: Integrals of the load over this period and the one before.
        self._integral = self._before = 0.0
        #: The load after the latest decision, and its instant.
        self._load, self._since = 0.0, 0.0

    def begin(self, now: float) -> None:
        """Begin the first period: jobs have come."""
        if self.next_stage == math.inf:
            self.next_stage = now + self.period

    def add(self, now: float, before: float, after: float) -> None:
        """Add the load `before` and `after` this decision."""
        self._integral += (self._load + before) / 2 * (now - self._since)
        self._load, self._since = after, now

    def stage(self, now: float, *, able: bool) -> int:
        """Begin another period; the hosts to wake (positive) or to send to sleep (negative) at its beginning.

        Nothing is switched if the policy is not `able`: then hosts are being woken for the first blocked job.
        """
        integral, before = self._integral, self._before
        self._integral, self._before, self.next_stage = 0.0, integral, now + self.period
        switched, self.switched = self.switched, 0
        if self._first or not able:
            self._first = False
            return 0
        if integral / self.period >= self.threshold:
            before = 0.0
            if not self.waking:
                self.waking, switched = True, 0
        if (integral > before) is not self.waking:
            self.waking = not self.waking
            return 0
        count = self.growth.after(switched)
        return count if self.waking else -count


def liquid_load_horizon(load: float, now: float, steps: Iterable[tuple[float, HostSet]]) -> float:
    """Return the seconds from `now` that `load` host-seconds take on the hosts that are free from these instants on.

    The load is perfectly divisible among hosts. The part left when no host will be free is executed by one.
    """
    time, hosts = now, 0
    for instant, free in steps:
        room = hosts * (instant - time)
        if room >= load:
            break
        load -= room
        time, hosts = instant, len(free)
    return time - now + load / max(hosts, 1)


def load_of(jobs: Iterable[tuple[int, float]]) -> float:
    """Return the host-seconds that jobs ask for, by the number of hosts and the walltime of each."""
    return sum(hosts * limit for hosts, limit in jobs)

"""Changes of a platform over time: speeds and states of hosts, bandwidths, latencies and states of links."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Final

from msgspec import Struct

#: Law -> draws a number with its parameters. These are SimGrid's laws; its numbers come from another generator.
_LAWS: Final[Mapping[str, Callable[..., float]]] = {
    "DET": lambda _, value: value,
    "NORM": lambda rng, mean, deviation: rng.gauss(mean, deviation),
    "EXP": lambda rng, rate: rng.expovariate(rate),
    "UNIF": lambda rng, low, high: rng.uniform(low, high),
}


class Changing(Enum):
    """The quantity that changes."""

    #: Factor on the speed of a host's pstate.
    SPEED = "speed"
    #: Bytes per second of a link.
    BANDWIDTH = "bandwidth"
    #: Seconds of a link.
    LATENCY = "latency"
    #: Hosts and links are on if the value is greater than 0.
    STATE = "state"


class Law(Struct, frozen=True):
    """A number, or a distribution of numbers.

    Attributes:
        parameters: the number itself; or the parameters of the law.
        name: DET, NORM (mean, deviation), EXP (rate) or UNIF (bounds).
    """

    parameters: tuple[float, ...]
    name: str = "DET"

    def draw(self, rng: random.Random) -> float:
        """Return a number."""
        return _LAWS[self.name](rng, *self.parameters)


class Changes(Struct, frozen=True):
    """The changes of one quantity of one host or link.

    Attributes:
        quantity: what changes.
        targets: the name of a host; or of a link, both halves of a SPLITDUPLEX one.
        of_link: True for a link.
        points: (date, value) in order. With laws, dates are intervals after the change before.
        period: seconds after which the changes begin anew; 0 for never.
        drawn: True if dates and values are drawn from laws.
        again: True if drawn changes begin anew after the last one.
    """

    quantity: Changing
    targets: tuple[str, ...]
    of_link: bool
    points: tuple[tuple[Law, Law], ...]
    period: float = 0.0
    drawn: bool = False
    again: bool = False

    def moments(self) -> Iterator[tuple[float, float]]:
        """Yield (time, value) of each change, without end if they begin anew.

        Drawn numbers depend on the name of the target alone: the same platform always changes in the same way.
        """
        rng, start, time = random.Random(f"{self.quantity.value} {self.targets[0]}"), 0.0, 0.0
        while True:
            for date, value in self.points:
                time = time + max(0.0, date.draw(rng)) if self.drawn else start + date.draw(rng)
                yield time, value.draw(rng)
            if not (self.period or (self.again and self.points)) or not math.isfinite(time):
                return
            start += self.period

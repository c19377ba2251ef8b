"""The times at which a platform changes, and the values that it takes then."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from batsched_py.model.changes import Law, TimedChanges

#: Law -> draws a number with its parameters. These are SimGrid's laws; its numbers come from another generator.
_LAWS: Final[Mapping[str, Callable[..., float]]] = {
    "DET": lambda _, value: value,
    "NORM": lambda rng, mean, deviation: rng.gauss(mean, deviation),
    "EXP": lambda rng, rate: rng.expovariate(rate),
    "UNIF": lambda rng, low, high: rng.uniform(low, high),
}


def moments(changes: TimedChanges) -> Iterator[tuple[float, float]]:
    """Yield (time, value) of each change, without end if they begin anew.

    Drawn numbers depend on the name of the target alone: the same platform always changes in the same way.
    """
    rng, start, time = random.Random(f"{changes.quantity.value} {changes.targets[0]}"), 0.0, 0.0
    while True:
        for date, value in changes.points:
            time = time + max(0.0, _draw(date, rng)) if changes.drawn else start + _draw(date, rng)
            yield time, _draw(value, rng)
        if not (changes.points and (changes.period or changes.again) and math.isfinite(time)):
            return
        start += changes.period


def _draw(law: Law, rng: random.Random) -> float:
    return _LAWS[law.name](rng, *law.parameters)

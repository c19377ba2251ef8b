"""Random failures of hosts from a model, as external events for a simulation.

Hosts fail independently. The time from a repair to the next failure and the duration of a repair are drawn from
Weibull distributions of given means; with shape 1 they are exponential. Failures of real machines have shapes below 1
(B. Schroeder and G. A. Gibson, "A large-scale study of failures in high-performance computing systems", IEEE
Transactions on Dependable and Secure Computing 7(4), 2010): recently repaired hosts fail sooner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Final

import orjson
from msgspec import Struct
from msgspec.structs import fields

from batsched_py.bits import MAX_HOST
from batsched_py.errors import OptionError
from batsched_py.model.external_event import MACHINE_AVAILABLE, MACHINE_UNAVAILABLE
from batsched_py.reading.limits import LONGEST
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown
from batsched_py.traces.quantity import TIME, parse_quantity

#: Maximum number of failures: more are a mistake, or exhaust the memory.
MOST_FAILURES: Final = 10_000_000
#: Range of shapes: below it, some hosts almost never fail and others constantly; above it, all fail at once.
LEAST_SHAPE, MOST_SHAPE = 0.1, 100.0
_TIMES: Final = ("mtbf", "repair")


class FailureModel(Struct, frozen=True, kw_only=True):
    """The distributions of times between failures and of repair times of hosts.

    Attributes:
        mtbf: mean seconds from a repair of a host, or the beginning, to its next failure.
        repair: mean seconds of a repair.
        shape: shape of the distribution of times to failure.
        repair_shape: shape of the distribution of repair times.
    """

    mtbf: float
    repair: float
    shape: float = 1.0
    repair_shape: float = 1.0

    def draw(self, hosts: int, until: float, seed: int) -> list[tuple[float, bool, int]]:
        """Draw the events (second, whether the host becomes available, host), in order of time.

        Failures occur from 0 to `until`; each is repaired, possibly after `until`. A host's events depend only on its
        number and the seed. OptionError if there would be more than `MOST_FAILURES`.
        """
        if not 1 <= hosts <= MAX_HOST:
            raise OptionError(f"hosts: must be from 1 to {MAX_HOST}, not {shown(hosts)}")
        expected = hosts * until / (self.mtbf + self.repair)
        if expected > MOST_FAILURES:
            raise OptionError(f"failures: would be about {expected:.3g}, which must be at most {MOST_FAILURES}")
        return sorted(event for host in range(hosts) for event in self._of_host(host, until, seed))

    def _of_host(self, host: int, until: float, seed: int) -> Iterator[tuple[float, bool, int]]:
        rng = Random(f"{seed} {host}")  # no secret
        time = 0.0
        while (time := round(time + _weibull(rng, self.mtbf, self.shape), 3)) < until:
            yield time, False, host
            # At least a millisecond: a failure and a repair at the same instant would have no effect.
            time = round(time + max(_weibull(rng, self.repair, self.repair_shape), 1e-3), 3)
            yield time, True, host


def parse_failures(text: str) -> FailureModel:
    """Parse a model like "mtbf=30d,repair=2h,shape=0.7"; OptionError with the rule."""
    values: dict[str, float] = {}
    names = [field.encode_name for field in fields(FailureModel)]
    for part in text.split(","):
        name, sign, value = part.partition("=")
        name = name.strip().replace("-", "_")
        if not sign:
            raise OptionError(f"failures: must be NAME=VALUE,..., not {shown(text)}")
        if name not in names:
            raise OptionError(f"failures: {shown(name)}: {unknown(name, names)}")
        if name in values:
            raise OptionError(f"failures: {name} is there twice")
        values[name] = _read(name, value.strip())
    missing = [name for name in _TIMES if name not in values]
    if missing:
        raise OptionError(f"failures: {missing[0]} is missing")
    return FailureModel(**values)


def event_lines(events: list[tuple[float, bool, int]]) -> Iterator[bytes]:
    """Yield the lines of a file of external events."""
    for time, available, host in events:
        kind = MACHINE_AVAILABLE if available else MACHINE_UNAVAILABLE
        yield orjson.dumps({"timestamp": time, "type": kind, "resources": str(host)}) + b"\n"


def _read(name: str, text: str) -> float:
    try:
        value = parse_quantity(text, TIME) if name in _TIMES else float(text)
    except ValueError as error:
        rule = str(error) if name in _TIMES else f"must be a number, not {shown(text)}"
        raise OptionError(f"failures: {name}: {rule}") from None
    least, most = (1e-3, LONGEST) if name in _TIMES else (LEAST_SHAPE, MOST_SHAPE)
    if not least <= value <= most:
        raise OptionError(f"failures: {name}: must be from {least:g} to {most:g}, not {shown(text)}")
    return value


def _weibull(rng: Random, mean: float, shape: float) -> float:
    return rng.weibullvariate(mean / math.gamma(1 + 1 / shape), shape)

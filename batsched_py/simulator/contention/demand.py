"""Demand: the computations and transfers of one activity, and its duration when nothing else runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr

from batsched_py.model.zone import Link
from batsched_py.simulator.contention.fair_bottleneck import Load, Resource, fair_rates

#: Upper limit of durations in seconds, which keeps sums finite and rates above 0.
LONGEST_TASK: Final = 1e100


def bounded(amount: float, capacity: float) -> float:
    """Return the amount, limited to what this capacity completes in `LONGEST_TASK`; as it is without any capacity."""
    return min(amount, capacity * LONGEST_TASK) if capacity else amount


class Processors(Struct, frozen=True):
    """The processors of all hosts, by their numbers.

    Attributes:
        speeds: current flop/s of one core; updated when power states change.
        cores: number of cores.
    """

    speeds: Sequence[float]
    cores: Sequence[int]


class ActivityDemand(Struct, frozen=True):
    """The needs of an activity, whose computations and transfers advance together.

    Attributes:
        flops: (host, flops) of each executor that computes.
        links: (link, bytes) of each crossed link: the sum of the transfers over it, or the largest of them if the link
            is a FATPIPE.
        latency: seconds before the activity advances.
        window: minimum duration of the transfers in seconds by SimGrid's TCP window; 0 without this limit.
        measure: returns latency and window anew, where latencies change over time; otherwise None.
        crossing: seconds of the slowest link, infinite with one that is off; computed.
        is_divided: True if no link is a FATPIPE; computed.
    """

    flops: tuple[tuple[int, float], ...] = ()
    links: tuple[tuple[Link, float], ...] = ()
    latency: float = 0.0
    window: float = 0.0
    measure: Callable[[], tuple[float, float]] | None = None
    crossing: float = 0.0
    is_divided: bool = True

    def __post_init__(self) -> None:
        """Look at the links once, which may be hundreds."""
        seconds = [amount / link.bandwidth if link.bandwidth else math.inf for link, amount in self.links]
        force_setattr(self, "crossing", max(seconds, default=0.0))
        force_setattr(self, "is_divided", all([link.shared for link, _ in self.links]))  # noqa: C419  # is faster

    def seconds_alone(self, processors: Processors) -> float:
        """Return the duration in seconds without other activities, after its latency; infinite if it stands still."""
        if not self.links and not self.flops:  # SimGrid knows no size without a link, as between hosts of Vivaldi zones
            return 0.0
        seconds = max(self.window, self.crossing)
        if seconds == math.inf and not all(link.bandwidth for link, _ in self.links):
            return math.inf
        if len({host for host, _ in self.flops}) < len(self.flops):
            computing = self._seconds_computing(processors)
            return computing if computing == math.inf else min(max(seconds, computing), LONGEST_TASK)
        for host, amount in self.flops:
            speed = processors.speeds[host]
            if not speed:
                return math.inf
            seconds = max(seconds, amount / speed)
        return min(seconds, LONGEST_TASK)

    def bound(self, processors: Processors) -> float:
        """Return the maximum rate in 1/s: an executor uses at most one core, a transfer at most its window."""
        bound = 1.0 / self.window if self.window else math.inf
        for host, amount in self.flops:
            bound = min(bound, processors.speeds[host] / amount)
        return max(bound, 1.0 / LONGEST_TASK)

    def fastest(self, seconds: float, bound: float) -> float:
        """Return a rate in 1/s that it never exceeds, also with others; of its duration without others, and its bound.

        SimGrid may let a task exceed the capacity of a FATPIPE link, and that of a host with several of its executors.
        """
        if not self.is_divided or len({host for host, _ in self.flops}) < len(self.flops):
            return bound
        return min(bound, 1.0 / seconds) if seconds else bound

    def _seconds_computing(self, processors: Processors) -> float:
        """Return the duration in seconds of computations that share the cores of hosts."""
        hosts = list(dict.fromkeys(host for host, _ in self.flops))
        if not all(processors.speeds[host] for host in hosts):
            return math.inf
        bound = min(processors.speeds[host] / amount for host, amount in self.flops)
        if bound == math.inf:
            return 0.0
        capacities = [processors.cores[host] * processors.speeds[host] for host in hosts]
        positions = [hosts.index(host) for host, _ in self.flops]
        amounts = [
            bounded(amount, capacities[position]) for position, (_, amount) in zip(positions, self.flops, strict=True)
        ]
        resources = [
            Resource(
                capacity, [(0, amount) for used, amount in zip(positions, amounts, strict=True) if used == position]
            )
            for position, capacity in enumerate(capacities)
        ]
        rates = fair_rates(resources, [Load(positions, amounts, max(bound, 1.0 / LONGEST_TASK))])
        return 1.0 / rates.values[0]

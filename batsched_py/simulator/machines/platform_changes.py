"""Changes of the platform over time: speeds, bandwidths, latencies, and hosts and links that go off and on."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, Protocol

from msgspec import Struct

from batsched_py.errors import PlatformError
from batsched_py.model.changes import Changing, TimedChanges
from batsched_py.simulator.contention.fluid_model import FluidModel
from batsched_py.simulator.context import Context
from batsched_py.simulator.machines.moments import moments
from batsched_py.text.wording import seconds

# SimGrid makes the changes of an instant before everything else of it, and only while something else is to come: when
# all tasks stand still and nothing is planned, it does not wait for the change that would let them go on, and reports a
# deadlock. With `on_failure` the simulator waits for it until all jobs have ended. Hence changes are no entries of the
# event queue, which asks for the next one (`EventQueue.follow`).

#: Maximum number of changes in a run.
MOST: Final = 10_000_000

UNCHANGED: Final = "platform: changes over time are simulated with --network sharing only"
DRAWN: Final = "platform: changes over time are drawn from distributions, and SimGrid draws other numbers"


class ScaledSpeeds(Sequence[float]):
    """The speeds of hosts times their factors, both by the numbers of hosts."""

    def __init__(self, speeds: Sequence[float]) -> None:
        self._speeds = speeds
        self.factors = [1.0] * len(speeds)

    def __getitem__(self, host: int) -> float:  # type: ignore[override]  # slices are not needed
        return self._speeds[host] * self.factors[host]

    def __len__(self) -> int:
        return len(self.factors)


class Failing(Protocol):
    """The effects on jobs of hosts and links that go off."""

    def switch_host(self, host: int, *, on: bool) -> None:
        """Switch a host on or off."""

    def cut(self, links: Collection[str], name: str) -> None:
        """End or lose the jobs that cross links that go off; `name` is that in the platform."""


class Effects(Struct, frozen=True):
    """The parts of the simulation that change.

    Attributes:
        speeds: the speeds that the fluid model reads.
        change_latency: functions that take names of links and their new latency.
        failures: the effects on jobs of hosts and links that go off.
        goes_on: returns whether changes happen although nothing else is to come.
    """

    speeds: ScaledSpeeds
    change_latency: Sequence[Callable[[Iterable[str], float], None]]
    failures: Failing
    goes_on: Callable[[], bool]


class PlatformChanges:
    """The execution of the changes at their times."""

    def __init__(
        self,
        context: Context,
        fluid: FluidModel,
        changes: Sequence[TimedChanges],
        numbers: Mapping[str, int],
        effects: Effects,
        *,
        source: str,
    ) -> None:
        """Take the hosts' `numbers` by name; changes of others, such as the master host, have no effect."""
        self._context, self._fluid, self._numbers, self._effects = context, fluid, numbers, effects
        self._changes, self._source, self._count = changes, source, 0
        self._moments: list[Iterator[tuple[float, float]]] = list(map(moments, changes))
        #: (time, position in `changes`, value) of the next change of each.
        following = map(self._following, range(len(changes)))
        self._next = [entry for entry in following if entry[0] < math.inf]
        heapify(self._next)
        if any(one.drawn for one in changes):
            context.approximations.add(DRAWN)
        context.queue.follow(self._due(), self.carry_out, effects.goes_on)

    def carry_out(self) -> float:
        """Make all changes that are due; return the time of the next."""
        now, due = self._context.queue.now, dict[int, float]()
        while self._due() <= now:
            _, position, value = heappop(self._next)
            due[position] = value  # of several at one time the last one counts
            self._count += 1
            if self._count > MOST:
                raise PlatformError(self._source, "", f"changes more than {MOST} times until t={seconds(now)}")
            following = self._following(position)
            if following[0] < math.inf:
                heappush(self._next, following)
        for position in sorted(due):
            self._make(self._changes[position], due[position])
        return self._due()

    def _due(self) -> float:
        return self._next[0][0] if self._next else math.inf

    def _following(self, position: int) -> tuple[float, int, float]:
        time, value = next(self._moments[position], (math.inf, 0.0))
        return time, position, value

    def _make(self, changes: TimedChanges, value: float) -> None:
        quantity, effects = changes.quantity, self._effects
        if quantity is Changing.STATE:
            self._switch(changes, on=value > 0)
        elif quantity is Changing.SPEED:
            host = self._numbers.get(changes.targets[0])
            if host is not None:
                if self._context.meter is not None:
                    self._context.meter.settle((host,), self._context.queue.now)
                effects.speeds.factors[host] = max(0.0, value)
                self._fluid.change_speed(host)
        elif quantity is Changing.BANDWIDTH:
            for link in changes.targets:
                self._fluid.change_bandwidth(link, max(0.0, value))
        else:
            for change in effects.change_latency:
                change(changes.targets, max(0.0, value))
            for link in changes.targets:
                self._fluid.change_link(link)

    def _switch(self, changes: TimedChanges, *, on: bool) -> None:
        links = frozenset(changes.targets)
        if not changes.of_link:
            host = self._numbers.get(changes.targets[0])
            if host is not None:
                self._effects.failures.switch_host(host, on=on)
        else:
            if not on:
                self._effects.failures.cut(links, changes.targets[0].removesuffix("_UP"))
            for link in changes.targets:
                self._fluid.switch_link(link, on=on)

"""Execution: how long each profile takes on given hosts, computed once when the job starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as SequenceOf
from typing import Final

from batsched_py.model.profile import (
    Composed,
    Delay,
    Parallel,
    ParallelHomogeneous,
    ParallelHomogeneousTotal,
    Profile,
)
from batsched_py.simulator.network import Network, Transfer
from batsched_py.simulator.work import Sequence, Task, Work, last_task

#: Profile types that are simulated.
SIMULATED: Final = (Delay, Parallel, ParallelHomogeneous, ParallelHomogeneousTotal, Composed)

NO_CONTENTION: Final = "communication: bottleneck link of each job's transfers, no contention between jobs"

Profiles = Mapping[str, Profile]


class Execution:
    """Turns profiles into work."""

    __slots__ = ("_network", "approximations")

    def __init__(self, network: Network, approximations: set[str]) -> None:
        """`approximations` receives a line when a simplification is really used."""
        self.approximations = approximations
        self._network = network

    def work(self, profile: Profile, profiles: Profiles, executors: SequenceOf[int], speeds: SequenceOf[float]) -> Work:
        """What the profile does with executor i on host executors[i]; speeds[h] is that of host h, in flop/s.

        `profiles` are those of the job's workload, which a composed profile names.
        """
        if isinstance(profile, Delay):
            return Task(profile.name, profile.delay, profile.return_code)
        if isinstance(profile, Composed):
            return self._sequence(profile, profiles, executors, speeds)
        return self._parallel(profile, executors, speeds)

    def _sequence(
        self, profile: Composed, profiles: Profiles, executors: SequenceOf[int], speeds: SequenceOf[float]
    ) -> Sequence:
        """A step that does not return 0 ends the whole sequence with its return code, as in Batsim."""
        #: Name -> work, for steps that occur several times.
        known: dict[str, Work] = {}
        steps: list[Work] = []
        for name in profile.sequence:
            if name not in known:
                known[name] = self.work(profiles[name], profiles, executors, speeds)
            steps.append(known[name])
            if known[name].return_code:
                total = sum(step.duration for step in steps)
                return Sequence(profile.name, total, known[name].return_code, tuple(steps), 1)
        total = sum(step.duration for step in steps) * profile.repeat
        return Sequence(profile.name, total, profile.return_code, tuple(steps), profile.repeat)

    def _parallel(self, profile: Profile, executors: SequenceOf[int], speeds: SequenceOf[float]) -> Task:
        """All computations and transfers advance together: the slowest decides, the latency comes on top (L07)."""
        #: Host -> flops, summed over its executors.
        flops: dict[int, float] = {}
        for host, amount in zip(executors, computation(profile, len(executors)), strict=True):
            flops[host] = flops.get(host, 0.0) + amount
        slowest_link, latency = self._network.transfer_time(communication(profile, executors))
        if slowest_link or latency:
            self.approximations.add(NO_CONTENTION)
        busy = max(slowest_link, *(amount / speeds[host] for host, amount in flops.items()))
        hosts = tuple(sorted(flops))
        loads = tuple(flops[host] / speeds[host] / busy if busy else 0.0 for host in hosts)
        alone = len(executors) == 1
        return Task(profile.name, busy + latency, profile.return_code, hosts, loads, alone, latency, is_delay=False)


def computation(profile: Profile, count: int) -> tuple[float, ...]:
    """Flops of each of `count` executors; a `parallel` profile has its own count."""
    if isinstance(profile, Parallel):
        return profile.cpu
    if isinstance(profile, ParallelHomogeneousTotal):
        return (profile.cpu / count,) * count
    assert isinstance(profile, ParallelHomogeneous), profile.type  # noqa: S101  # others are refused when they are read
    return (profile.cpu,) * count


def communication(profile: Profile, executors: SequenceOf[int]) -> Iterator[Transfer]:
    """What each executor sends to each other one.

    Of a total each pair has a share of one over the number of hosts (not of pairs), as in Batsim.
    """
    count = len(executors)
    if isinstance(profile, Parallel):
        for position, size in enumerate(profile.com):
            yield executors[position // count], executors[position % count], size
        return
    size = 0.0
    if isinstance(profile, ParallelHomogeneous):
        size = profile.com
    elif isinstance(profile, ParallelHomogeneousTotal):
        size = profile.com / count
    if size > 0:
        for source in range(count):
            for target in range(count):
                if source != target:
                    yield executors[source], executors[target], size


def ending(work: Work, walltime: float | None, done: float = 0.0) -> tuple[float, int | None]:
    """(seconds until the job ends, its return code or None if its walltime ends it).

    `done` are the seconds of the work that are behind it, `walltime` what is left until it is stopped. At equality a
    delay counts as stopped and a parallel task as done (E10, and what real runs show).
    """
    left = work.duration - done
    if walltime is None or left < walltime:
        return left, work.return_code
    if left == walltime and not last_task(work).is_delay:
        return left, work.return_code
    return walltime, None

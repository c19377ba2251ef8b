"""Rewards: a metric of the schedule, paid in steps or at the end of the episode.

Metrics are computed from the simulator's records of ended jobs, which agents cannot see. At each step the difference to
the previous step is paid, so that the sum over an episode is the metric of its whole schedule in both cases.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND, bounded_slowdown
from batsched_py.results.records import JobRecord


class Meter(ABC):
    """The current metric of one episode; higher is better."""

    @abstractmethod
    def note(self, record: JobRecord) -> None:
        """Add an ended or rejected job."""

    @abstractmethod
    def value(self) -> float:
        """Return the metric of the jobs that have ended; 0 before the first."""


@dataclass(frozen=True, slots=True)
class Reward(ABC):
    """A selectable kind of rewards for an environment. Subclasses are frozen dataclasses.

    Attributes:
        paid: "step": at each step, the change of the metric since the previous one; "end": the whole metric at the last
            step, and 0 before.
    """

    paid: Literal["step", "end"] = field(default="step", kw_only=True)

    @abstractmethod
    def begin(self, jobs: int, hosts: int) -> Meter:
        """Begin an episode with these numbers of jobs and hosts."""


class CostMeter(Meter):
    """The negative mean of the costs of jobs."""

    def __init__(self, cost: Callable[[JobRecord], float], jobs: int) -> None:
        self._cost, self._jobs = cost, jobs
        self._sum = 0.0

    def note(self, record: JobRecord) -> None:
        """Add the cost of a job; a rejected one costs nothing."""
        if not record.rejected:
            self._sum += self._cost(record)

    def value(self) -> float:
        """Return the value, in which jobs that have not ended cost nothing yet."""
        return -self._sum / self._jobs


@dataclass(frozen=True, slots=True)
class JobCost(Reward):
    """The negative mean, over all jobs of the episode, of a user-defined cost, computed at the end of each job.

    Attributes:
        cost: function that returns the cost of a job that ran.
    """

    cost: Callable[[JobRecord], float]

    def begin(self, jobs: int, hosts: int) -> Meter:  # noqa: ARG002  (others need the hosts)
        """Begin an episode."""
        return CostMeter(self.cost, jobs)


@dataclass(frozen=True, slots=True)
class BoundedSlowdown(Reward):
    """The negative mean bounded slowdown (docs/metrics.md).

    Attributes:
        tau: minimum run time in seconds; shorter runs count as this long.
    """

    tau: float = SLOWDOWN_BOUND

    def begin(self, jobs: int, hosts: int) -> Meter:  # noqa: ARG002
        """Begin an episode."""
        return CostMeter(lambda record: bounded_slowdown(record.waiting, record.execution, self.tau), jobs)


@dataclass(frozen=True, slots=True)
class Wait(Reward):
    """The negative mean wait, in seconds."""

    def begin(self, jobs: int, hosts: int) -> Meter:  # noqa: ARG002
        """Begin an episode."""
        return CostMeter(lambda record: record.waiting, jobs)


class MachineMeter(Meter):
    """The makespan and the host-seconds of the jobs that have ended."""

    def __init__(self, hosts: int, figure: Callable[[float, float], float]) -> None:
        """Take `figure`, which computes the value from host-seconds and a makespan above 0."""
        self._hosts, self._figure = hosts, figure
        self._used = self._makespan = 0.0

    def note(self, record: JobRecord) -> None:
        """Add the hosts of a job during its run; a rejected one had none."""
        if not record.rejected:
            self._used += record.size_on(self._hosts) * record.execution
            self._makespan = max(self._makespan, record.finish)

    def value(self) -> float:
        """Return the metric."""
        return self._figure(self._used, self._makespan) if self._makespan > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Utilisation(Reward):
    """The utilisation, from 0 to 1: host-seconds of ended jobs, divided by all host-seconds until the latest end."""

    def begin(self, jobs: int, hosts: int) -> Meter:  # noqa: ARG002
        """Begin an episode."""
        return MachineMeter(hosts, lambda used, makespan: used / (hosts * makespan))


@dataclass(frozen=True, slots=True)
class Makespan(Reward):
    """The negative makespan, in seconds."""

    def begin(self, jobs: int, hosts: int) -> Meter:  # noqa: ARG002
        """Begin an episode."""
        return MachineMeter(hosts, lambda _, makespan: -makespan)


class EpisodeRewards:
    """The rewards of one episode, at the times of their payment."""

    def __init__(self, reward: Reward, jobs: int, hosts: int) -> None:
        self._meter = reward.begin(jobs, hosts)
        self._at_end = reward.paid == "end"
        #: Sum of the rewards so far.
        self._paid = 0.0

    def pay(self, *, over: bool) -> float:
        """Return the reward of a step."""
        if self._at_end and not over:
            return 0.0
        value = self._meter.value()
        reward, self._paid = value - self._paid, value
        return reward

    def note(self, record: JobRecord) -> None:
        """Add an ended job."""
        self._meter.note(record)

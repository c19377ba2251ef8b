"""Observations: arrays of numbers that describe a question to an agent, computed only from the View."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from batsched_py.errors import OptionError
from batsched_py.gym.features import LONG, RLSCHEDULER, Feature
from batsched_py.gym.question import Question, Shape
from batsched_py.text.display import displayed


class Observation(ABC):
    """A selectable kind of observations for an environment. Subclasses are frozen dataclasses."""

    @abstractmethod
    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return the space of observations."""

    @abstractmethod
    def observe(self, question: Question, shape: Shape) -> Any:
        """Return the observation of a question. OptionError if a feature is invalid."""


@dataclass(frozen=True, slots=True)
class QueueWindow(Observation):
    """The displayed waiting jobs: a row for each, in order of arrival, with a column for each feature.

    Rows without a job are 0.

    Attributes:
        features: features of a job, by default those of RLScheduler (Zhang et al., SC 2020).
    """

    features: tuple[Feature, ...] = RLSCHEDULER

    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return a box of numbers from 0 to 1."""
        return spaces.Box(0.0, 1.0, (shape.window, len(self.features)), np.float32)

    def observe(self, question: Question, shape: Shape) -> NDArray[np.float32]:
        """Return the features of the jobs."""
        seen = np.zeros((shape.window, len(self.features)), np.float32)
        count = len(question.jobs)
        for number, feature in enumerate(self.features):
            try:
                seen[:count, number] = feature.column(question)
            except (TypeError, ValueError) as error:
                why = displayed(" ".join(str(error).split()))
                rule = f"must give a number for each of the {count} jobs that are shown: {why}"
                raise OptionError(f"feature {displayed(feature.name)}: {rule}") from error
        if np.isnan(seen).any():
            odd = self.features[int(np.isnan(seen).any(axis=0).argmax())]
            raise OptionError(f"feature {displayed(odd.name)}: must give numbers, not nan")
        return np.clip(seen, 0.0, 1.0, out=seen)


@dataclass(frozen=True, slots=True)
class FreeHosts(Observation):
    """The hosts as a bitmap: 1 for each that could run a job now."""

    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return a bit for each host."""
        return spaces.MultiBinary(shape.hosts)

    def observe(self, question: Question, shape: Shape) -> NDArray[np.int8]:
        """Return the bits."""
        return host_bits(question.free.bits, shape.hosts)


@dataclass(frozen=True, slots=True)
class HostReleases(Observation):
    """The hosts with the times until they are expected to be free, by the walltimes of the jobs on them.

    0 is now, 1 is `horizon` or later, or unknown.

    Attributes:
        horizon: horizon in seconds.
    """

    horizon: float = LONG

    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return a number from 0 to 1 for each host."""
        return spaces.Box(0.0, 1.0, (shape.hosts,), np.float32)

    def observe(self, question: Question, shape: Shape) -> NDArray[np.float32]:
        """Return the times."""
        seen = np.ones(shape.hosts, np.float32)
        seen[host_bits(question.free.bits, shape.hosts) > 0] = 0.0
        for run in question.view.running:
            left = max(0.0, run.end - question.view.now)
            seen[host_bits(run.hosts.bits, shape.hosts) > 0] = min(1.0, left / self.horizon)
        return seen


@dataclass(frozen=True, slots=True)
class Together(Observation):
    """Several observations by name.

    Attributes:
        parts: name -> observation.
    """

    parts: Mapping[str, Observation] = field(default_factory=lambda: {"queue": QueueWindow(), "hosts": FreeHosts()})

    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return a Dict of the spaces of the parts."""
        return spaces.Dict({name: part.space(shape) for name, part in self.parts.items()})

    def observe(self, question: Question, shape: Shape) -> dict[str, Any]:
        """Return the observation of each part."""
        return {name: part.observe(question, shape) for name, part in self.parts.items()}


def host_bits(bits: int, hosts: int) -> NDArray[np.int8]:
    """Return a set of hosts as an array of 0 and 1, by number."""
    octets = np.frombuffer((bits & ((1 << hosts) - 1)).to_bytes((hosts + 7) // 8, "little"), np.uint8)
    return np.unpackbits(octets, count=hosts, bitorder="little").view(np.int8)

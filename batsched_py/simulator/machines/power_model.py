"""Power models: the draw of a host in each of its pstates, and its way to sleep."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Watts(Struct, frozen=True):
    """The draw of a host in one pstate: doing nothing, computing as little as possible, and with all cores."""

    idle: float
    epsilon: float
    full: float

    def at(self, load: float) -> float:
        """Return the watts at this share of its speed, as SimGrid's energy plugin has it."""
        return self.epsilon + min(load, 1.0) * (self.full - self.epsilon) if load > 0 else self.idle


class SleepTransitions(Struct, frozen=True):
    """A pstate in which a host sleeps, with the virtual pstates that it passes through on the way there and back."""

    off: int
    on: int


class PowerModel(Struct, frozen=True):
    """One host's pstates.

    Attributes:
        watts: pstate -> draw.
        sleeps: sleeping pstate -> its transitions.
        virtual: the transition pstates; all others that do not sleep compute.
        cores: a task uses one of them, and so this share of the host.
    """

    watts: tuple[Watts, ...]
    sleeps: Mapping[int, SleepTransitions]
    virtual: frozenset[int]
    cores: int = 1

    def computes(self, pstate: int) -> bool:
        """True if jobs can run in this pstate."""
        return pstate not in self.sleeps and pstate not in self.virtual

"""Power models: the draw of a host in each of its pstates, and its transitions to and from sleep."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Watts(Struct, frozen=True):
    """The draw of a host in one pstate: idle, at minimum load, and with all cores."""

    idle: float
    epsilon: float
    full: float

    def at(self, load: float) -> float:
        """Return the watts at this share of its speed, by the formula of SimGrid's energy plugin."""
        return self.epsilon + min(load, 1.0) * (self.full - self.epsilon) if load > 0 else self.idle


class SleepTransitions(Struct, frozen=True):
    """A sleep pstate, with the virtual pstates of the transitions to and from it."""

    off: int
    on: int


class PowerModel(Struct, frozen=True):
    """The pstates of one host.

    Attributes:
        watts: pstate -> draw.
        sleeps: sleeping pstate -> its transitions.
        virtual: transition pstates; all others except sleep pstates compute.
        cores: number of cores, of which a task uses one.
    """

    watts: tuple[Watts, ...]
    sleeps: Mapping[int, SleepTransitions]
    virtual: frozenset[int]
    cores: int = 1

    def computes(self, pstate: int) -> bool:
        """Return whether jobs can run in this pstate."""
        return pstate not in self.sleeps and pstate not in self.virtual

"""Phases of the controller: when its clock and its threads are at work."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True)
class ThreadTicks:
    """Instants at which a thread acts: `first`, and then each `period` seconds; at any instant if the period is 0."""

    first: float
    period: float

    def at_or_after(self, instant: float) -> float:
        """Return the first tick that is not before an instant."""
        if not self.period:
            return max(self.first, instant)
        number = ceil((instant - self.first) / self.period - 1e-9)
        return self.first + number * self.period if number > 0 else self.first


@dataclass(frozen=True, slots=True)
class ControllerPhases:
    """Phases of the controller's clock and threads, in seconds since time zero.

    Attributes:
        clock: absolute second of time zero, at least modulo an hour: the grid of backfill depends on it.
        started: start of the controller.
        main, backfill: delay of the first tick of these threads after the start, and their period.
        requeue, cancel: time from the preemption of a job until its nodes are free.
        sweep, priority: delay of the checks of limits and of the recalculation of priorities.
    """

    clock: int = 0
    started: float = 0.0
    main: tuple[float, float] = (0.0, 1.0)
    backfill: tuple[float, float] = (0.0, 1.0)
    requeue: float = 0.0
    cancel: float = 0.0
    sweep: float = 0.0
    priority: float = 0.0

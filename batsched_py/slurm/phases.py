"""Phases of the controller: when its clock and its threads are at work."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

#: Seconds between checks of limits.
_SWEEP: Final = 30.0


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

    def later(self, seconds: float) -> ThreadTicks:
        """Return the ticks of a thread that was held up for so long."""
        return ThreadTicks(self.first + seconds, self.period)


@dataclass(frozen=True, slots=True)
class ControllerPhases:
    """Phases of the controller's clock and threads, in seconds since time zero.

    Attributes:
        clock: absolute second of time zero, at least modulo an hour: the grid of backfill depends on it.
        started: start of the controller.
        main, backfill: delay of the first tick of these threads after the start, and their period.
        requeue, cancel: time from the preemption of a job until its nodes are free.
        priority: delay of the recalculation of priorities.
        test: time that a pass of backfill takes for each job that it tests.
    """

    clock: int = 0
    started: float = 0.0
    main: tuple[float, float] = (0.0, 1.0)
    backfill: tuple[float, float] = (0.0, 1.0)
    requeue: float = 0.0
    cancel: float = 0.0
    priority: float = 0.0
    test: float = 0.0

    @property
    def sweeps(self) -> ThreadTicks:
        """Checks of limits by the main thread: at each of its looks that is 30 s or more after the last check."""
        delay, period = self.main
        every = ceil(_SWEEP / period - 1e-9) * period if period else _SWEEP
        return ThreadTicks(self.started + delay + every, every)


def recorded_phases(clock: int, started: float, *, accounting: bool, cycle: float | None = None) -> ControllerPhases:
    """Return the phases of recorded controllers, which depend on the use of an accounting data base.

    They are medians of 182 recordings; `cycle` is another period of the threads.
    """
    late = 0.536 if accounting else 0.0
    return ControllerPhases(
        clock=clock,
        started=started,
        main=(0.727 if accounting else 0.018, 1.0014 if cycle is None else cycle),
        backfill=(0.011 + late, 1.00008 if cycle is None else cycle),
        requeue=1.69,
        cancel=0.03,
        priority=0.174 + late,
        test=0.00014,
    )

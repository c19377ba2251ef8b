"""RunProgress: told about a hundred times in a run, whatever its length."""

from __future__ import annotations

import math
from collections.abc import Callable

from batsched_py.simulator.records import RunProgress


class ProgressReport:
    """Calls back about a hundred times in a run."""

    __slots__ = ("_callback", "_static", "next")

    def __init__(self, callback: Callable[[RunProgress], None] | None, static_jobs: int) -> None:
        self._callback, self._static = callback, static_jobs
        #: Jobs that must have ended before the next call; infinite if nobody wants one.
        self.next = math.inf if callback is None else 0.0

    def ended(self, count: int, registered: int, now: float) -> None:
        """So many jobs have ended, and the scheduler has registered so many."""
        if self._callback is None or count < self.next:
            return
        total = self._static + registered
        self.next = count + max(1, total // 100)
        self._callback(RunProgress(count, total, now))

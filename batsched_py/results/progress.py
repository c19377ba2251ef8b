"""Progress of a simulation while it runs."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct


class RunProgress(Struct, frozen=True):
    """The progress of a simulation: jobs ended so far, of those known, at the simulated time `now`."""

    jobs_ended: int
    jobs_total: int
    now: float


class RunStatus(Struct, frozen=True):
    """The status of a simulation between two messages.

    Attributes:
        now: simulated time.
        total: jobs of the workloads, and those that were registered so far.
        submitted: of them; they wait, run or have ended.
        waiting: submitted, and neither executed nor rejected.
        running: executed, and not ended.
        ended: those that ran, and rejected ones.
        hosts: compute hosts.
        computing: those of them that run a job and are available.
        idle: those of them that could.
    """

    now: float
    total: int
    submitted: int
    waiting: int
    running: int
    ended: int
    hosts: int
    computing: int
    idle: int


class ProgressReport:
    """Calls back about a hundred times in a run, whatever its length."""

    def __init__(self, callback: Callable[[RunProgress], None] | None) -> None:
        self._callback = callback
        #: Jobs that must have ended before the next call; infinite without a callback.
        self.next = math.inf if callback is None else 0.0

    def call(self, ended: int, total: int, now: float) -> None:
        """Call back, as `next` jobs have ended."""
        if self._callback is not None:
            self.next = ended + max(1, total // 100)
            self._callback(RunProgress(ended, total, now))

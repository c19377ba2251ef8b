"""Progress of a simulation while it runs."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct


class RunProgress(Struct, frozen=True):
    """The progress of a simulation: ended jobs, known jobs, and the simulated time `now`."""

    jobs_ended: int
    jobs_total: int
    now: float


class RunStatus(Struct, frozen=True):
    """The status of a simulation between two messages.

    Attributes:
        now: simulated time.
        total: number of jobs of the workloads, and of those registered so far.
        submitted: number of submitted jobs, which wait, run or have ended.
        waiting: number of jobs submitted, and neither executed nor rejected.
        running: number of jobs executed, and not ended.
        ended: number of jobs that ran, and of rejected ones.
        hosts: number of compute hosts.
        computing: number of available compute hosts with a job.
        idle: number of available compute hosts without a job.
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
    """A caller of the callback, about a hundred times in a run of any length."""

    def __init__(self, callback: Callable[[RunProgress], None] | None) -> None:
        self._callback = callback
        #: Number of ended jobs at the next call; infinite without a callback.
        self.next = math.inf if callback is None else 0.0

    def call(self, ended: int, total: int, now: float) -> None:
        """Call back after `next` jobs have ended."""
        if self._callback is not None:
            self.next = ended + max(1, total // 100)
            self._callback(RunProgress(ended, total, now))

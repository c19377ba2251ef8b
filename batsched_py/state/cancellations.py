"""Cancellations by users: the jobs that are cancelled at an instant, whether they wait or run by then."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from batsched_py.state.running import WIRE_RESOLUTION


class Cancellations:
    """The pending cancellations of a run.

    Attributes:
        pending: (instant, number in the order of submission, id of the job), a heap.
    """

    def __init__(self) -> None:
        self.pending: list[tuple[float, int, str]] = []
        self._count = 0

    def add(self, time: float, job_id: str) -> None:
        """Let a job be cancelled at this time."""
        self._count += 1
        heappush(self.pending, (time, self._count, job_id))

    def take_due(self, now: float) -> list[str]:
        """Return the jobs that are cancelled by now, in the order of the instants, which are forgotten."""
        due = []
        while self.pending and self.pending[0][0] <= now + WIRE_RESOLUTION:
            due.append(heappop(self.pending)[2])
        return due

    def next_due(self, is_live: Callable[[str, float], bool]) -> float | None:
        """Return the instant of the next cancellation that `is_live(job id, instant)` keeps; None if there is none."""
        while self.pending and not is_live(self.pending[0][2], self.pending[0][0]):
            heappop(self.pending)
        return self.pending[0][0] if self.pending else None

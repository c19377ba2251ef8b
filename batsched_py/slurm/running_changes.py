"""Changes of the running jobs between two passes of backfill, as far as tests of waiting jobs can outlive them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(slots=True)
class RunningChanges:
    """The latest ends of the limits of the jobs that have ended, and of those that have started; -infinity for none."""

    ended: float = -inf
    started: float = -inf

    def __bool__(self) -> bool:
        return max(self.ended, self.started) > -inf

    def add(self, others: RunningChanges) -> None:
        """Add other changes."""
        self.ended, self.started = max(self.ended, others.ended), max(self.started, others.started)

"""Rests: jobs that hosts have refused, until it makes sense to ask again."""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import Final

from batsched_py.collection.waiting import Queue

#: Times the pause, at most, for which a job rests.
LONGEST: Final = 64


class Rests:
    """Jobs that rest, each until an instant, or until a host that suits it has changed.

    The first rest takes a pause, each later one twice as long, up to LONGEST pauses. Instants are multiples of the
    pause, so that many jobs have the same one.
    """

    def __init__(self, pause: float) -> None:
        self._pause = pause
        #: Job id -> until when it rests, as a number of changes and an instant; how often it has rested.
        self._resting: dict[str, tuple[int, float]] = {}
        self._count: dict[str, int] = {}
        #: The instants, with the jobs that may rest until then.
        self._due: list[tuple[float, str]] = []

    def __len__(self) -> int:
        """Return the number of jobs that rest."""
        return len(self._resting)

    def __contains__(self, job_id: str) -> bool:
        """Return whether a job rests, if only until something changes."""
        return job_id in self._resting

    def begin(self, job_id: str, changes: int, now: float, opens: float = math.inf) -> None:
        """Let a job rest that hosts have refused, after so many changes; until `opens` at most."""
        count = self._count.get(job_id, 0)
        self._count[job_id] = count + 1
        due = min(opens, (math.ceil(now / self._pause) + min(2**count, LONGEST)) * self._pause)
        self._resting[job_id] = changes, due
        heappush(self._due, (due, job_id))

    def is_over(self, job_id: str, changes: int, now: float) -> bool:
        """Return whether a job may be tried: it does not rest, or a host has changed that suits it, or it is time."""
        rest = self._resting.get(job_id)
        return rest is None or rest[0] < changes or rest[1] <= now

    def leave(self, job_id: str) -> None:
        """Forget a job, which has started or is rejected."""
        self._resting.pop(job_id, None)
        self._count.pop(job_id, None)

    def expire(self, now: float, queue: Queue) -> bool:
        """Return whether the time of a job's rest has come since this was asked last; forget jobs that wait no more."""
        came = False
        while self._due:
            due, job_id = self._due[0]
            rest = self._resting.get(job_id)
            if job_id not in queue:
                self.leave(job_id)
            elif rest is not None and rest[1] == due:
                if due > now:
                    break
                came = True
            heappop(self._due)
        return came

    @property
    def next_due(self) -> float:
        """The first instant, after `expire`, until which a job rests; infinite if none does."""
        return self._due[0][0] if self._due else math.inf

"""Back-off of jobs that hosts have refused."""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import Final

from batsched_py.collection.waiting_index import WaitingQueue

# Exponential back-off: hosts that have refused for reasons of their own will often refuse again, and each attempt costs
# a negotiation. A rest ends early if something has become known of a suitable host (the number of `changes`), so that
# doubling it delays no job that could run.
#
# Instants are rounded to multiples of the pause: the scheduler is called at each of them, and a thousand resting jobs
# then cost one call and not a thousand. Entries of `_due` are not removed when a rest ends early; one counts only if it
# is still that of its job.

#: Maximum duration of a rest, in pauses.
LONGEST: Final = 64


class Rests:
    """Resting jobs, each until an instant or until a suitable host has changed.

    The first rest lasts a pause, each later one twice as long as the previous one, up to LONGEST pauses. Instants are
    multiples of the pause, so that many jobs share one.
    """

    def __init__(self, pause: float) -> None:
        self._pause = pause
        #: Job id -> the number of changes and the instant that end its rest; job id -> number of its rests.
        self._resting: dict[str, tuple[int, float]] = {}
        self._count: dict[str, int] = {}
        #: The instants, with the jobs that may rest until then.
        self._due: list[tuple[float, str]] = []

    def __len__(self) -> int:
        """Return the number of resting jobs."""
        return len(self._resting)

    def __contains__(self, job_id: str) -> bool:
        """Return whether a job rests, possibly only until a change."""
        return job_id in self._resting

    def begin(self, job_id: str, changes: int, now: float, opens: float = math.inf) -> None:
        """Begin the rest of a refused job, until `opens` at most; `changes` is the current number of changes."""
        count = self._count.get(job_id, 0)
        self._count[job_id] = count + 1
        due = min(opens, (math.ceil(now / self._pause) + min(2**count, LONGEST)) * self._pause)
        self._resting[job_id] = changes, due
        heappush(self._due, (due, job_id))

    def is_over(self, job_id: str, changes: int, now: float) -> bool:
        """Return whether a job may be tried: it does not rest, a suitable host has changed, or its rest is over."""
        rest = self._resting.get(job_id)
        return rest is None or rest[0] < changes or rest[1] <= now

    def leave(self, job_id: str) -> None:
        """Remove a job that has started or is rejected."""
        self._resting.pop(job_id, None)
        self._count.pop(job_id, None)

    def expire(self, now: float, queue: WaitingQueue) -> bool:
        """Return whether the rest of a job has ended since the last call; remove jobs that no longer wait."""
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
        """The first instant at which a rest ends, valid after `expire`; infinity if no job rests."""
        return self._due[0][0] if self._due else math.inf

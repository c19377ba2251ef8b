"""How jobs have ended, and when the latest of them did: what the conditions of other jobs depend on."""

from __future__ import annotations

from typing import Final

from batsched_py.model.name_set import NameSet

#: Number of jobs whose times are kept; twice as many for a while. A delay after older ends counts from the oldest one.
RECENT: Final = 1 << 16


class Outcomes:
    """The ended jobs of a run."""

    __slots__ = ("_before", "_failed", "_latest", "oldest")

    def __init__(self) -> None:
        #: Ids of jobs that were rejected, or did not end successfully.
        self._failed = NameSet()
        #: Job id -> start and end, in seconds, of the jobs that ended last, and of those that ended before these.
        self._latest: dict[str, tuple[float, float]] = {}
        self._before: dict[str, tuple[float, float]] = {}
        #: Upper limit of the ends that are not kept, in seconds.
        self.oldest = 0.0

    def record(self, job_id: str, start: float, end: float, *, success: bool) -> None:
        """Record the end of a job."""
        if not success:
            self._failed.add(job_id)
        if len(self._latest) >= RECENT:
            if self._before:
                self.oldest = max(times[1] for times in self._before.values())
            self._before, self._latest = self._latest, {}
        self._latest[job_id] = start, end

    def failed(self, job_id: str) -> bool:
        """Return whether an ended job was rejected, or did not end successfully."""
        return job_id in self._failed

    def times(self, job_id: str) -> tuple[float, float]:
        """Return the start and the end of an ended job; upper limits if they are not kept."""
        return self._latest.get(job_id) or self._before.get(job_id) or (self.oldest, self.oldest)

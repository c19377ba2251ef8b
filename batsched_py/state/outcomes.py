"""Ends of jobs, and their times: the conditions of other jobs depend on them."""

from __future__ import annotations

from typing import Final

from batsched_py.model.name_set import NameSet

#: Number of jobs whose times are kept, twice as many for a while: few until a job has conditions on others. A delay
#: after an older end counts from a later one.
FEW: Final = 1 << 8
MANY: Final = 1 << 16


class Outcomes:
    """The ended jobs of a run.

    Attributes:
        failed: ids of the jobs that were rejected, or did not end successfully.
        latest: job id -> start and end, in seconds, of the jobs that ended last; `turn` is due when there are `room`.
        room: FEW or MANY.
    """

    __slots__ = ("_before", "_oldest", "failed", "latest", "room")

    def __init__(self) -> None:
        self.failed = NameSet()
        self.latest: dict[str, tuple[float, float]] = {}
        self.room = FEW
        #: The same for the jobs that ended before these.
        self._before: dict[str, tuple[float, float]] = {}
        #: Upper limit of the ends that are not kept, in seconds.
        self._oldest = 0.0

    def remember(self) -> None:
        """Keep the times of many jobs from now on."""
        self.room = MANY

    def turn(self) -> None:
        """Forget the times of all jobs but the latest."""
        if self._before:
            self._oldest = max(end for _, end in self._before.values())
        self._before, self.latest = self.latest, {}

    def times(self, job_id: str) -> tuple[float, float]:
        """Return the start and the end of an ended job; upper limits if they are not kept."""
        return self.latest.get(job_id) or self._before.get(job_id) or (self._oldest, self._oldest)

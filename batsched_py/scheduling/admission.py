"""Which jobs an algorithm gets to see: those that can ever run, with what the algorithm needs to know of them."""

from __future__ import annotations

from batsched_py.model.job import Job
from batsched_py.wording import counted


class Admission:
    """The rules for one platform and one algorithm."""

    __slots__ = ("_host_count", "_needs_walltime", "_oversubscribes")

    def __init__(self, host_count: int, *, needs_walltime: bool, oversubscribes: bool = False) -> None:
        self._host_count, self._needs_walltime, self._oversubscribes = host_count, needs_walltime, oversubscribes

    def refusal(self, job: Job) -> str | None:
        """Why the job must be rejected before any algorithm sees it, or None if it may wait."""
        if job.size > self._host_count and not self._oversubscribes:
            return f"needs {counted(job.size, 'host')}, the platform has {self._host_count}"
        if job.size == 0:
            return "needs no host, and Batsim runs no job on none"
        if job.walltime is None and self._needs_walltime:
            return "has no walltime, and the algorithm needs one"
        return None

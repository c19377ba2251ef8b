"""Which jobs an algorithm gets to see: those that can ever run, with what the algorithm needs to know of them."""

from __future__ import annotations

from batsched_py.model.job import Job


def refusal(job: Job, host_count: int, *, needs_walltime: bool) -> str | None:
    """Why the job must be rejected before any algorithm sees it, or None if it may wait."""
    if job.size > host_count:
        return f"needs {job.size} hosts, the platform has {host_count}"
    if job.size == 0:
        return "needs no host, and Batsim runs no job on none"
    if needs_walltime and job.walltime is None:
        return "has no walltime, and the algorithm needs one"
    return None

"""Jobs for tests of collections."""

from __future__ import annotations

from batsched_py.model.job import Job


def a_job(name: str, size: int = 1) -> Job:
    """A job of this name."""
    return Job.create(f"w0!{name}", size=size, profile="p")

"""A store in memory, in the place of the Redis that a recorded run had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NO_PROFILES = {}
ProfileName = tuple


class Shelf:
    """Holds what a recorded scheduler must have put there, and takes what the simulator puts."""

    def __init__(self, jobs: Mapping[str, Any], profiles: Mapping[ProfileName, Any]) -> None:
        self._jobs, self._profiles = dict(jobs), dict(profiles)

    def jobs(self, job_ids: Sequence[str]) -> Mapping[str, Any]:
        """Those that are there."""
        return {job_id: self._jobs[job_id] for job_id in job_ids if job_id in self._jobs}

    def profiles(self, names: Sequence[ProfileName]) -> Mapping[ProfileName, Any]:
        """Those that are there."""
        return {name: self._profiles[name] for name in names if name in self._profiles}

    def put(self, jobs: Mapping[str, Any], profiles: Mapping[ProfileName, Any] = NO_PROFILES) -> None:
        """Keep them."""
        self._jobs |= jobs
        self._profiles |= profiles

    def put_host_count(self, count: int) -> None:
        """Nobody reads it."""

    def place(self, job_id: str) -> str:
        """Where a job is."""
        return f"the shelf, {job_id}"

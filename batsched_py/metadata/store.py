"""What a session needs of a place where job and profile descriptions are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class JobStore(Protocol):
    """Descriptions by job id (`workload!name`) and by workload and profile name; StoreError if one cannot be had."""

    def job(self, job_id: str) -> Mapping[str, Any]:
        """The job object; StoreError if it is not there."""

    def profile(self, workload: str, name: str) -> Mapping[str, Any] | None:
        """The profile object, or None if it is not there: Batsim puts it there only with profile forwarding."""

    def put_job(self, job_id: str, members: Mapping[str, Any]) -> None:
        """Keep a job object."""

    def put_profile(self, workload: str, name: str, members: Mapping[str, Any]) -> None:
        """Keep a profile object."""

"""A job that waits, in a run."""

from __future__ import annotations

from typing import NamedTuple

from batsched_py.results.records import JobRecord


class Waiter(NamedTuple):
    """A job, and the end of its wait: its start or rejection, or the end of the run."""

    record: JobRecord
    until: float

    @property
    def id(self) -> str:
        """The id of the job."""
        return self.record.job.id

    @property
    def since(self) -> float:
        """The submission time."""
        return self.record.job.submit_time

"""What is kept of the jobs that have ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from batsched_py.simulator.records import JobRecord, Tally

#: Records that are passed on at a time: done now and then it costs less than in the middle of each end.
BATCH: Final = 256


class EndedJobs:
    """The records of ended jobs, in order of completion or rejection; their numbers alone if records are passed on."""

    __slots__ = ("_hosts", "_pass_on", "_tally", "count", "records")

    def __init__(self, hosts: int, pass_on: Callable[[Sequence[JobRecord]], object] | None = None) -> None:
        """`hosts` is the number of compute hosts; `pass_on` receives some records at a time, which are not kept."""
        self._hosts, self._pass_on = hosts, pass_on
        #: How many jobs have ended, rejected ones included.
        self.count = 0
        #: All of them, or those that were not passed on yet.
        self.records: list[JobRecord] = []
        self._tally = Tally()

    def add(self, record: JobRecord) -> None:
        """One more job has ended."""
        self.count += 1
        self.records.append(record)
        if self._pass_on is not None and len(self.records) >= BATCH:
            self._hand_over(self._pass_on)

    def tally(self) -> Tally | None:
        """The numbers of all jobs, the last of which are passed on; None if the records are kept."""
        if self._pass_on is None:
            return None
        self._hand_over(self._pass_on)
        return self._tally

    def _hand_over(self, pass_on: Callable[[Sequence[JobRecord]], object]) -> None:
        self._tally.add(self.records, self._hosts)
        pass_on(self.records)
        self.records = []

"""What is kept of the jobs that have ended."""

from __future__ import annotations

from collections.abc import Callable

from batsched_py.simulator.records import JobRecord, Tally


class Ended:
    """The records of ended jobs, in order of completion or rejection; their numbers alone if records are passed on."""

    __slots__ = ("_hosts", "_pass_on", "count", "records", "tally")

    def __init__(self, hosts: int, pass_on: Callable[[JobRecord], object] | None = None) -> None:
        """`hosts` is the number of compute hosts; `pass_on` receives each record at once, and nothing keeps it here."""
        self._hosts, self._pass_on = hosts, pass_on
        #: How many jobs have ended, rejected ones included.
        self.count = 0
        #: Empty if records are passed on.
        self.records: list[JobRecord] = []
        #: None if the records are kept.
        self.tally = None if pass_on is None else Tally()

    def add(self, record: JobRecord) -> None:
        """One more job has ended."""
        self.count += 1
        if self._pass_on is None or self.tally is None:
            self.records.append(record)
        else:
            self.tally.add(record, self._hosts)
            self._pass_on(record)

    @property
    def makespan(self) -> float:
        """Latest finish, 0 if no job ran."""
        if self.tally is not None:
            return self.tally.makespan
        return max((record.finish for record in self.records), default=0.0)

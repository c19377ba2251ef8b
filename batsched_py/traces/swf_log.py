"""The jobs of a log, with the fields of the Standard Workload Format, whatever the format of its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from batsched_py.text.display import displayed
from batsched_py.text.representation import Brief
from batsched_py.traces.column_use import ColumnUse
from batsched_py.traces.requested_amounts import RequestedAmounts
from batsched_py.traces.slurm_dependency import SlurmDependency
from batsched_py.traces.swf_headers import EPOCH, SwfHeaders


class SwfRecord(NamedTuple):
    """One job of a log: the 18 fields of a line, in the format's order; -1 for unknown values.

    Times are in seconds, memory in kilobytes per processor; `submit` is relative to the start of the log.
    """

    number: int
    submit: float
    wait: float
    run: float
    used_processors: int
    cpu_time: float
    used_memory: float
    requested_processors: int
    requested_time: float
    requested_memory: float
    status: int
    user: int
    group: int
    executable: int
    queue: int
    partition: int
    preceding_job: int
    think_time: float


#: A record with unknown values in all fields.
UNKNOWN: Final = SwfRecord(*[-1] * len(SwfRecord._fields))
#: The status of a cancelled job.
CANCELLED: Final = 5
#: Number of fields of a line; archives append further fields.
FIELDS: Final = len(SwfRecord._fields)


class SwfLog(Brief, frozen=True):
    """A log as read from its file, without corrections.

    Attributes:
        source: its file, for messages.
        headers: the `; Key: value` comments, as in `SwfHeaders`.
        records: the jobs, in the order of the file.
        header_lines: key -> its first line, from 1.
        long_lines: the number of lines with more than 18 fields, whose first 18 fields were read.
        names: number -> id of a job, if the reader of another format assigned the number.
        members: number -> members of such a job.
        dependencies: number -> its dependencies on other jobs, by id, in such a format.
        tres: number -> amounts of all nodes of such a job, if they were to be read.
        amounts: number -> amounts that such a job requests, if they were to be read.
        kept: the fields among them that were to be kept.
        cancelled: further jobs, which were cancelled before they started; `wait` is the time until then.
        dropped: rule of `row_rules` -> the number of rows or jobs that the reader counted under it.
        places: such a rule -> the places of the first ones.
        columns: the columns of a table, and their use; None for the fields of the Standard Workload Format.
        assumed: a sentence for each default that the reader used, as the file does not say it.
        zero: time in seconds on the file's clock at which the clock of `records` is 0.
        notes: a line for each statement of the log that has no effect.
    """

    source: str
    headers: Mapping[str, str]
    records: tuple[SwfRecord, ...]
    header_lines: Mapping[str, int] = MappingProxyType({})
    long_lines: int = 0
    names: Mapping[int, str] = MappingProxyType({})
    members: Mapping[int, Mapping[str, Any]] = MappingProxyType({})
    dependencies: Mapping[int, SlurmDependency] = MappingProxyType({})
    tres: Mapping[int, str] | None = None
    amounts: Mapping[int, RequestedAmounts] | None = None
    kept: tuple[str, ...] = ()
    dropped: Mapping[str, int] = MappingProxyType({})
    places: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    columns: ColumnUse | None = None
    assumed: tuple[str, ...] = ()
    cancelled: tuple[SwfRecord, ...] = ()
    zero: float = 0
    notes: tuple[str, ...] = ()

    @property
    def machine_size(self) -> int:
        """Return the number of processors of the machine, as `SwfHeaders` does. WorkloadError."""
        return self._headers.machine_size

    def place_of(self, number: int) -> str:
        """Return the place of a job for messages: "job 7", with its id if the reader assigned the number."""
        return f"job {displayed(self.names.get(number) or str(number))}"

    def members_of(self, record: SwfRecord, fields: Sequence[str] = ()) -> Mapping[str, Any]:
        """Return the members of the workload's job: its user, and these fields, where they are known."""
        if record.number in self.members:
            return self.members[record.number]
        return {name: value for name in ("user", *fields) if (value := getattr(record, name)) >= 0}

    @property
    def first(self) -> float:
        """Return the earliest known submission time; 0 without one."""
        return min((record.submit for record in self.records if record.submit >= 0), default=0.0)

    @property
    def start(self) -> datetime | None:
        """The date of second 0 according to the headers; None if they do not specify it."""
        start = self._headers.start
        if not self.zero:
            return start
        if start is None or _counts_from_1970(self.zero, start):
            return self._headers.at(int(self.zero)) + timedelta(seconds=self.zero % 1)
        return start + timedelta(seconds=self.zero)

    @property
    def _headers(self) -> SwfHeaders:
        return SwfHeaders(self.source, self.headers, self.header_lines)


def _counts_from_1970(first: float, start: datetime) -> bool:
    """Return whether the first submission, at least EPOCH, counts from 1970 and not from the start of the log."""
    return abs(start.timestamp() - first) < EPOCH

"""A window on schedules: the part of the time and of the hosts that a picture shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet, bit_runs
from batsched_py.reporting.read.schedule import Schedule
from batsched_py.simulator.records import JobRecord


class Window(Struct, frozen=True):
    """What is shown: the time [begin, end) in seconds, and some hosts, ascending; their places are 0, 1, 2..."""

    begin: float
    end: float
    hosts: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """How long the time is."""
        return self.end - self.begin

    def shows(self, record: JobRecord) -> bool:
        """True if the job ran within the time, on whichever hosts."""
        return not record.rejected and record.start < self.end and record.finish > self.begin

    def submitted(self, schedule: Schedule) -> Schedule:
        """The jobs that were submitted within the time, and had one of these hosts, or unknown ones."""
        wanted = HostSet.from_ids(self.hosts).bits
        jobs = tuple(
            record
            for record in schedule.jobs
            if self.begin <= record.job.submit_time < self.end and (not record.hosts or record.hosts.bits & wanted)
        )
        return replace(schedule, jobs=jobs)

    def through(self, schedule: Schedule) -> Schedule:
        """The schedule of these hosts alone, in their places; jobs that have none of them are left out."""
        if self.hosts == tuple(range(schedule.hosts)):
            return schedule
        wanted = HostSet.from_ids(self.hosts).bits
        places = {host: place for place, host in enumerate(self.hosts)}
        jobs = tuple(
            replace(record, hosts=HostSet.from_ids(places[host] for host in HostSet(record.hosts.bits & wanted)))
            for record in schedule.jobs
            if record.hosts.bits & wanted
        )
        return replace(schedule, jobs=jobs, hosts=len(self.hosts))


def window_on(
    schedules: Sequence[Schedule], begin: float | None = None, end: float | None = None, hosts: HostSet | None = None
) -> Window:
    """The window on all of them: by default from 0 to the last end of a job, and on every host.

    OptionError if there is no time or host in it.
    """
    last = max((record.finish for schedule in schedules for record in schedule.ran), default=0.0)
    most = max(schedule.hosts for schedule in schedules)
    low = 0.0 if begin is None else begin
    high = last if end is None else end
    if (begin is not None or end is not None) and not low < high:
        raise OptionError(f"there is no time from {low:g} to {high:g}: the last job ends at {last:g}")
    shown = HostSet.range(most) if hosts is None else hosts & HostSet.range(most)
    if hosts is not None and not shown:
        raise OptionError(f"there is no host {hosts}: they are numbered from 0 to {most - 1}")
    return Window(low, high, tuple(shown))


def numbered(schedule: Schedule) -> list[tuple[int, JobRecord]]:
    """Each job that ran with its number in order of submission, in that order; rejected jobs have a number, too.

    A job has the same number whatever the algorithm, as long as the same jobs were submitted.
    """
    records = sorted(schedule.jobs, key=_submission)
    return [(number, record) for number, record in enumerate(records) if not record.rejected]


def numbered_as(everything: Sequence[tuple[int, JobRecord]], part: Schedule) -> list[tuple[int, JobRecord]]:
    """The jobs of a part of a schedule, with the numbers they have in all of it."""
    records = {record.job.id: record for record in part.jobs}
    return [(number, records[whole.job.id]) for number, whole in everything if whole.job.id in records]


def blocks(record: JobRecord, hosts: int) -> Iterator[tuple[int, int]]:
    """(lowest place, number of them) for each run of neighbouring hosts of a job, storage hosts left out."""
    for low, high in bit_runs(record.hosts.bits & ((1 << hosts) - 1)):
        yield low, high - low + 1


def _submission(record: JobRecord) -> tuple[float, str]:
    return record.job.submit_time, record.job.id

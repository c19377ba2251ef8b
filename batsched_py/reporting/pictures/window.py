"""The window of a picture: the time and the hosts of schedules that it shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.bits import bit_runs
from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet
from batsched_py.reporting.schedules.outages import Outage
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.records import JobRecord
from batsched_py.text.wording import seconds


class Window(Struct, frozen=True):
    """The time [begin, end) in seconds, and ascending host numbers, whose places are 0, 1, 2..."""

    begin: float
    end: float
    hosts: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """Return the length of the window in seconds."""
        return self.end - self.begin

    def shows(self, record: JobRecord) -> bool:
        """Return True if the job ran within the time of the window, on any hosts."""
        return not record.rejected and record.start < self.end and record.finish > self.begin

    def hosts_of(self, schedule: Schedule) -> tuple[int, ...]:
        """Return the hosts of the window that the schedule's machine has: a smaller machine is drawn smaller."""
        return tuple(host for host in self.hosts if host < schedule.hosts)

    def submitted(self, schedule: Schedule) -> Schedule:
        """Return the schedule with the jobs that were submitted within the time, on any of the hosts or unknown ones.

        All attempts of a job are kept if one of them used any of the hosts.
        """
        hosts = self.hosts_of(schedule)
        everything, wanted = len(hosts) == schedule.hosts, HostSet.from_ids(hosts).bits
        jobs = [record for record in schedule.jobs if self.begin <= schedule.first_submission(record) < self.end]
        if not everything:
            there = [record for record in jobs if not record.hosts or record.hosts.bits & wanted]
            kept = {schedule.first_id(record.job.id) for record in there}
            jobs = [record for record in jobs if schedule.first_id(record.job.id) in kept]
        return replace(schedule, jobs=tuple(jobs))

    def through(self, schedule: Schedule) -> Schedule:
        """Return the schedule restricted to the hosts of the window, with places as host numbers.

        If the window has all hosts of the machine, the schedule is returned as it is, with jobs on unknown hosts.
        """
        hosts = self.hosts_of(schedule)
        if len(hosts) == schedule.hosts:
            return schedule
        wanted = HostSet.from_ids(hosts).bits
        places = {host: place for place, host in enumerate(hosts)}
        jobs = tuple(
            replace(record, hosts=HostSet.from_ids(places[host] for host in HostSet(record.hosts.bits & wanted)))
            for record in schedule.jobs
            if record.hosts.bits & wanted
        )
        return replace(schedule, jobs=jobs, hosts=len(hosts))


def window_on(
    schedules: Sequence[Schedule], begin: float | None = None, end: float | None = None, hosts: HostSet | None = None
) -> Window:
    """Return a window on schedules: by default from 0 to the last end of a job or a lease, on all hosts.

    OptionError if the time is empty, or if a schedule has none of the hosts.
    """
    last = max((record.finish for schedule in schedules for record in schedule.ran), default=0.0)
    last = max(last, *(schedule.leases.end for schedule in schedules if schedule.leases is not None), 0.0)
    most = max(schedule.hosts for schedule in schedules)
    low = 0.0 if begin is None else begin
    high = last if end is None else end
    if (begin is not None or end is not None) and not low < high:
        raise OptionError(
            f"there is no time from {seconds(low)} to {seconds(high)}: the last job ends at {seconds(last)}"
        )
    if not low < high:
        high = low + 1.0  # no run took time
    if hosts is None:
        return Window(low, high, tuple(range(most)))
    for schedule in schedules:
        if not hosts & HostSet.range(schedule.hosts):
            numbers = f"they are numbered from 0 to {schedule.hosts - 1}"
            raise OptionError(f"there is no host {hosts} in {schedule.name}: {numbers}")
    return Window(low, high, tuple(hosts & HostSet.range(most)))


def number_jobs(schedules: Iterable[Schedule]) -> dict[str, int]:
    """Number the jobs from 0 in the order of submission, the jobs of the first schedule before those of others.

    The schedules must be whole, even if a picture shows a part of them. Then a job has the same number, and therefore
    the same colour, in each picture and with each algorithm, provided that the same jobs were submitted.
    """
    numbers: dict[str, int] = {}
    for schedule in schedules:
        for record in sorted(schedule.jobs, key=submission):
            numbers.setdefault(record.job.id, len(numbers))
    return numbers


def lease_numbers(schedule: Schedule, numbers: Mapping[str, int]) -> dict[int, int]:
    """Return the number of each lease in pictures: the lowest number of its jobs, given those of all jobs."""
    if schedule.leases is None:
        return {}
    found = dict[int, int]()
    for job, lease in schedule.leases.of_jobs(schedule.jobs).items():
        found[lease] = min(found.get(lease, numbers[job]), numbers[job])
    return found


def shown_numbers(schedule: Schedule, numbers: Mapping[str, int]) -> dict[str, int]:
    """Return the number of each job in pictures: that of its lease, or its own in `numbers`."""
    shown = dict(numbers)
    if schedule.leases is not None:
        of_lease = lease_numbers(schedule, numbers)
        shown |= {job: of_lease[lease] for job, lease in schedule.leases.of_jobs(schedule.jobs).items()}
    return shown


def drawn(schedule: Schedule, window: Window, numbers: Mapping[str, int]) -> list[tuple[int, JobRecord]]:
    """Return the jobs in a chart of the window, in the order of submission, each with its number.

    These are the jobs that ran within the time on any of the hosts, with places instead of hosts. `numbers` are the
    numbers of the jobs of all schedules of the picture, including rejected ones; all jobs of a lease get the lowest.
    """
    part, numbers = window.through(schedule), shown_numbers(schedule, numbers)
    places = (1 << part.hosts) - 1
    shown = (record for record in part.jobs if window.shows(record) and record.hosts.bits & places)
    return sorted(((numbers[record.job.id], record) for record in shown), key=itemgetter(0))


def outages_in(schedule: Schedule, window: Window) -> list[Outage]:
    """Return the outages that are visible in a window, with places instead of hosts."""
    places = {host: place for place, host in enumerate(window.hosts_of(schedule))}
    found = []
    for outage in schedule.outages:
        hosts = HostSet.from_ids(places[host] for host in outage.hosts if host in places)
        if hosts and outage.start < window.end and outage.finish > window.begin:
            found.append(replace(outage, hosts=hosts))
    return found


def blocks(record: JobRecord, hosts: int) -> Iterator[tuple[int, int]]:
    """Yield (lowest place, number of hosts) for each run of neighbouring hosts of a job, without storage hosts."""
    for low, high in bit_runs(record.hosts.bits & ((1 << hosts) - 1)):
        yield low, high - low + 1


def submission(record: JobRecord) -> tuple[float, str]:
    """Return the sort key of submissions: ties in time are broken by id, never by the order of ends."""
    return record.job.submit_time, record.job.id

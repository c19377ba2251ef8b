"""Lanes: rows of a Gantt chart that jobs share, each divided into equal lanes, of which a job has its part.

A row is a host, or a GPU. The height of a job on a host is its dominant share (Ghodsi et al., Dominant resource
fairness, NSDI 2011): the largest fraction of any of the host's resources that its tasks there have. On a GPU it is its
share of the GPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.bits import interval_bits
from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.model.demand import WHOLE
from batsched_py.reporting.pictures.window import Window, shown_numbers
from batsched_py.reporting.schedules.job_uses import UseMeter
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.places import MachineCapacity
from batsched_py.results.records import JobRecord

# Charts are drawn from sets of hosts. A chart with lanes is that of another schedule, whose hosts are the lanes: all
# that draws hosts draws lanes. Lanes are given at each start, the lowest neighbouring ones that are free, or else any.
# There are as many as any row needs at any time, so that no job hides another: shares of different resources may
# sum to more than a host.

#: Rows of a chart.
Rows = Literal["host", "gpu"]
ROWS: Final[tuple[Rows, ...]] = ("host", "gpu")
#: The largest number of lanes of a row for its whole height, and of all rows together.
_MOST_LANES: Final = 60
_MOST_ALTOGETHER: Final = 6000
_LEAST_LANES: Final = 4


class RowPart(NamedTuple):
    """A part of a row: its share of the height, and whether the job has the host of the row whole."""

    row: int
    share: Fraction
    whole: bool = False


class LaneChart(Struct, frozen=True):
    """A schedule whose hosts are lanes, for a chart.

    Attributes:
        schedule: the jobs in these rows, each with its lanes as hosts.
        window: the shown time, with all lanes.
        names: the name of each row: "3" for host 3, "3:0" for its first GPU.
        lanes: number of lanes of each row.
        numbers: job id -> its number in pictures.
    """

    schedule: Schedule
    window: Window
    names: tuple[str, ...]
    lanes: int
    numbers: Mapping[str, int]

    def row(self, lane: int) -> int:
        """Return the row of a lane."""
        return lane // self.lanes


def lane_chart(schedule: Schedule, window: Window, numbers: Mapping[str, int], rows: Rows = "host") -> LaneChart | None:
    """Return the chart of a window with lanes; None for rows of hosts if no jobs share any.

    InputError for GPUs if the machine has none in the window, or if it is unknown which GPUs jobs had.
    """
    machine = schedule.capacity
    if rows == "host" and (machine is None or not schedule.shares_hosts):
        return None
    if machine is None:
        raise InputError(
            schedule.source, "", "has no _places.csv, which says on which GPUs jobs ran: none has a demand"
        )
    layout = _HostRows(machine, window, schedule) if rows == "host" else _GpuRows(machine, window, schedule)
    shown = [record for record in schedule.jobs if window.shows(record)]
    parts = {record.job.id: found for record in shown if (found := layout.parts(record))}
    whole = _lanes_of_a_row([part.share for found in parts.values() for part in found], len(layout.names))
    lanes, given = _give_lanes([record for record in shown if record.job.id in parts], parts, whole)
    jobs = tuple(replace(record, hosts=given[record.job.id], places=None) for record in shown if record.job.id in given)
    outages = tuple(
        replace(outage, hosts=_whole_rows(there, lanes))
        for outage in schedule.outages
        if (there := [row for host in outage.hosts for row in layout.rows_of(host)])
    )
    every = len(layout.names) * lanes
    drawn = replace(schedule, jobs=jobs, hosts=every, capacity=None, leases=None, outages=outages)
    seen = Window(window.begin, window.end, tuple(range(every)))
    return LaneChart(drawn, seen, layout.names, lanes, shown_numbers(schedule, numbers))


def gpus_known(schedule: Schedule) -> bool:
    """Return whether the machine has GPUs, and it is known which ones jobs had."""
    machine = schedule.capacity
    if machine is None or not any(host.gpus for host in machine.hosts):
        return False
    places = (record.places for record in schedule.ran)
    return all(
        one is None or one.whole or not one.task.gpus or all(place.gpus for place in one.places) for one in places
    )


class _HostRows:
    """A row for each host of a window."""

    def __init__(self, machine: MachineCapacity, window: Window, schedule: Schedule) -> None:
        self._meter = UseMeter(machine)
        self._rows = {host: row for row, host in enumerate(window.hosts_of(schedule))}
        self.names = tuple(map(str, self._rows))

    def rows_of(self, host: int) -> Sequence[int]:
        """Return the rows of a host."""
        return [self._rows[host]] if host in self._rows else []

    def parts(self, record: JobRecord) -> list[RowPart]:
        """Return the parts of rows that a job has."""
        places = record.places
        if places is None or places.whole:
            return [RowPart(self._rows[host], Fraction(1), True) for host in record.hosts if host in self._rows]
        found = list[RowPart]()
        for place, use in zip(places.places, self._meter.host_uses(places), strict=True):
            if place.host in self._rows:
                there = self._meter.whole(place.host)
                shares = (Fraction(amount, there[resource]) for resource, amount in use.allocated.items())
                share = min(max(shares, default=Fraction(0)), Fraction(1))
                found.append(RowPart(self._rows[place.host], share))
        return found


class _GpuRows:
    """A row for each GPU of the hosts of a window."""

    def __init__(self, machine: MachineCapacity, window: Window, schedule: Schedule) -> None:
        self._source = schedule.source
        gpus = [
            (host, gpu)
            for host in window.hosts_of(schedule)
            if host < len(machine.hosts)
            for gpu in range(machine.hosts[host].gpus)
        ]
        if not gpus:
            raise InputError(schedule.source, "", "has no GPU on the shown hosts")
        self._rows = {gpu: row for row, gpu in enumerate(gpus)}
        self._of_host: dict[int, list[int]] = {}
        for (host, _), row in self._rows.items():
            self._of_host.setdefault(host, []).append(row)
        self.names = tuple(f"{host}:{gpu}" for host, gpu in gpus)

    def rows_of(self, host: int) -> Sequence[int]:
        """Return the rows of a host."""
        return self._of_host.get(host, [])

    def parts(self, record: JobRecord) -> list[RowPart]:
        """Return the parts of rows that a job has; InputError if the numbers of its GPUs are unknown."""
        places = record.places
        if places is None or places.whole:
            return [RowPart(row, Fraction(1), True) for host in record.hosts for row in self.rows_of(host)]
        found: dict[int, Fraction] = {}
        for place in places.places:
            if places.task.gpus and not place.gpus:
                rule = f"does not say which GPUs {record.job.id} had: the scheduler did not send task_gpus"
                raise InputError(self._source, "", rule)
            for gpu in place.gpus:
                row = self._rows.get((place.host, gpu))
                if row is not None:
                    found[row] = found.get(row, Fraction(0)) + Fraction(places.task.share, WHOLE)
        return [RowPart(row, min(share, Fraction(1))) for row, share in sorted(found.items())]


def _lanes_of_a_row(shares: Iterable[Fraction], rows: int) -> int:
    """Return the smallest number of lanes of which each share is a whole number, or else the largest one."""
    most = max(_LEAST_LANES, min(_MOST_LANES, _MOST_ALTOGETHER // rows))
    different = set(shares)
    return next(
        (lanes for lanes in range(1, most) if all((share * lanes).denominator == 1 for share in different)), most
    )


def _give_lanes(
    jobs: Sequence[JobRecord], parts: Mapping[str, Sequence[RowPart]], whole: int
) -> tuple[int, Mapping[str, HostSet]]:
    """Return the number of lanes of each row, at least `whole`, and the lanes of each job."""
    counts = {job: [max(1, ceil(part.share * whole)) for part in found] for job, found in parts.items()}
    lanes = max([whole, *_peaks(jobs, parts, counts)])
    free: dict[int, int] = {}
    given = dict[str, HostSet]()
    for ended, record in _starts(jobs):
        for job_id in ended:
            for row, _, _ in parts[job_id]:
                free[row] |= given[job_id].bits >> row * lanes & ((1 << lanes) - 1)
        bits = 0
        for (row, _, is_whole), count in zip(parts[record.job.id], counts[record.job.id], strict=True):
            left = free.setdefault(row, (1 << lanes) - 1)
            own = left if is_whole else _lowest_run(left, count)
            free[row] = left & ~own
            bits |= own << row * lanes
        given[record.job.id] = HostSet(bits)
    return lanes, given


def _peaks(
    jobs: Sequence[JobRecord], parts: Mapping[str, Sequence[RowPart]], counts: Mapping[str, Sequence[int]]
) -> Iterator[int]:
    """Yield the number of lanes that each row needs after each start."""
    used: dict[int, int] = {}
    for ended, record in _starts(jobs):
        for job_id in ended:
            for part, count in zip(parts[job_id], counts[job_id], strict=True):
                used[part.row] -= count
        for part, count in zip(parts[record.job.id], counts[record.job.id], strict=True):
            used[part.row] = used.get(part.row, 0) + count
            yield used[part.row]


def _starts(jobs: Sequence[JobRecord]) -> Iterator[tuple[list[str], JobRecord]]:
    """Yield each job that took time in the order of starts, with the ids of those that have ended since the last."""
    running: list[tuple[float, str]] = []
    for record in sorted(jobs, key=lambda one: (one.start, one.job.submit_time, one.job.id)):
        ended = []
        while running and running[0][0] <= record.start:
            ended.append(heappop(running)[1])
        heappush(running, (record.finish, record.job.id))
        yield ended, record


def _lowest_run(free: int, count: int) -> int:
    """Return the lowest neighbouring free lanes, or else the lowest free ones."""
    # A run of `count` begins where this many shifted copies are all free.
    begins, length = free, 1
    while length < count:
        step = min(length, count - length)
        begins &= begins >> step
        length += step
    if begins:
        lowest = (begins & -begins).bit_length() - 1
        return interval_bits(lowest, lowest + count - 1)
    found, left = 0, free
    for _ in range(count):
        lowest_bit = left & -left
        found |= lowest_bit
        left ^= lowest_bit
    return found


def _whole_rows(rows: Iterable[int], lanes: int) -> HostSet:
    bits = 0
    for row in rows:
        bits |= interval_bits(row * lanes, (row + 1) * lanes - 1)
    return HostSet(bits)

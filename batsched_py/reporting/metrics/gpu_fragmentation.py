"""Fragmentation of GPUs over time: the part of the free GPUs that the expected tasks cannot use.

Source: Weng et al., Beware of fragmentation, USENIX ATC 2023; see `planning.policies.fragmentation`. The expected tasks
are those of the jobs of the run that request parts of hosts, each job once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from batsched_py.model.demand import WHOLE, HostCapacity
from batsched_py.model.host_room import HostRoom
from batsched_py.planning.policies.fragmentation import Fragmentation
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.records import JobRecord


class FreeGpus(NamedTuple):
    """The free GPUs from a time in seconds on, in GPUs: those that tasks cannot use, and all."""

    time: float
    fragments: float
    free: float


def free_gpus(schedule: Schedule) -> list[FreeGpus]:
    """Return the free GPUs over time, from 0 on.

    Empty if no host has GPUs, if no job requests parts of hosts, if it is unknown which GPUs a task had, or if tasks
    had more cores or more of a GPU than there are.
    """
    machine, ran = schedule.capacity, schedule.ran
    expected = [record.places.task for record in ran if record.places is not None]
    if machine is None or not expected or not any(host.gpus for host in machine.hosts) or not all(map(_known, ran)):
        return []
    gpus = _GpuHosts(machine.hosts, Fragmentation(expected))
    rows = [gpus.row(0.0)]
    for time, sign, place in sorted(_moves(ran)):
        if not gpus.change(ran[place], sign):
            return []
        row = gpus.row(time)
        if row.time == rows[-1].time:
            rows[-1] = row
        else:
            rows.append(row)
    return rows


def _known(record: JobRecord) -> bool:
    """Return whether it is known which GPUs the tasks of a job had."""
    places = record.places
    return places is None or places.whole or not places.task.gpus or all(place.gpus for place in places.places)


def _moves(ran: Iterable[JobRecord]) -> Iterator[tuple[float, int, int]]:
    """Yield (time, 1 for a start and -1 for an end, number of the job); ends come first at a time."""
    for number, record in enumerate(ran):
        if record.finish > record.start:
            yield record.start, 1, number
            yield record.finish, -1, number


class _GpuHosts:
    """The free GPUs of all hosts that have some, in thousandths, and how much of them is fragments."""

    def __init__(self, hosts: Iterable[HostCapacity], measure: Fragmentation) -> None:
        self._measure = measure
        #: Host -> its room, and the number of jobs that have it whole.
        self._rooms = {number: HostRoom(host) for number, host in enumerate(hosts) if host.gpus}
        self._whole = dict.fromkeys(self._rooms, 0)
        #: Host -> its fragments, in thousandths times the number of tasks that the measure covers.
        self._fragments = {number: self._weighted(number) for number in self._rooms}
        self._all_fragments = sum(self._fragments.values())
        self._free = sum(room.gpu_amount for room in self._rooms.values())

    def row(self, time: float) -> FreeGpus:
        """Return the sums, from this time on."""
        covered = max(self._measure.covered, 1)
        return FreeGpus(time, self._all_fragments / covered / WHOLE, self._free / WHOLE)

    def change(self, record: JobRecord, sign: int) -> bool:
        """Begin a job (sign 1), or end it (-1); return False if it had more than was free."""
        places = record.places
        if places is None or places.whole:
            for host in record.hosts if places is None else places.hosts:
                if host in self._rooms:
                    self._update(host, sign, 0, (), 0)
            return True
        for place in places.places:
            if place.host in self._rooms:
                cores, share = sign * places.task.cores * place.tasks, sign * places.task.share
                if not self._update(place.host, 0, cores, place.gpus, share):
                    return False
        return True

    def _update(self, host: int, whole: int, cores: int, gpus: tuple[int, ...], share: int) -> bool:
        room = self._rooms[host]
        self._free -= 0 if self._whole[host] else room.gpu_amount
        self._whole[host] += whole
        room.cores -= cores
        if room.cores < 0:
            return False
        if gpus:
            left = list(room.gpus)
            for gpu in gpus:
                left[gpu] -= share
            if min(left) < 0:
                return False
            room.gpus = tuple(left)
            room.gpu_amount = sum(left)
        self._free += 0 if self._whole[host] else room.gpu_amount
        after = self._weighted(host)
        self._all_fragments += after - self._fragments[host]
        self._fragments[host] = after
        return True

    def _weighted(self, host: int) -> int:
        return 0 if self._whole[host] else self._measure.weighted(self._rooms[host])

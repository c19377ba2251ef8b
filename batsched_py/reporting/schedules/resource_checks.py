"""Checks of jobs that request parts of hosts: what their tasks use together must not exceed what there is.

The sums are those of this module, from the places of tasks and the capacities of hosts alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from batsched_py.bits import bit_runs
from batsched_py.model.demand import WHOLE
from batsched_py.reporting.schedules.contradictions import ContradictionKind, Contradictions
from batsched_py.reporting.schedules.job_uses import LICENCE, Amounts, ResourceName, UseMeter, machine_amounts
from batsched_py.reporting.schedules.moves import moves
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.places import MachineCapacity
from batsched_py.results.records import JobRecord


def check_resources(schedule: Schedule, machine: MachineCapacity, found: Contradictions) -> None:
    """Check the number of tasks of each job, and that no start exceeds a capacity."""
    ran, uses = schedule.ran, _Uses(machine)
    for record in ran:
        if record.places is not None and record.places.tasks != record.job.size:
            what = "has %d, asked for %d"
            _add(schedule, found, ContradictionKind.TASKS, record, what, record.places.tasks, record.job.size)
    for time, starts, number in sorted(moves(ran)):
        exceeded = uses.change(ran[number], 1 if starts else -1)
        if starts and exceeded:
            _add(
                schedule,
                found,
                ContradictionKind.EXCEEDED,
                ran[number],
                "starts at %.6f, exceeding the %s",
                time,
                exceeded,
            )


def _add(
    schedule: Schedule, found: Contradictions, kind: ContradictionKind, record: JobRecord, form: str, *values: object
) -> None:
    job_id = record.job.id
    found.add(kind, job_id, schedule.lines.get(job_id, 0), form, *values)


class _Uses:
    """The amounts that running jobs use on each host, and of the licences."""

    def __init__(self, machine: MachineCapacity) -> None:
        self._machine, self._meter = machine, UseMeter(machine)
        #: Host -> used amounts, and used thousandths of each GPU; only for hosts that were used.
        self._amounts: dict[int, Amounts] = {}
        self._gpus: dict[int, list[int]] = {}
        self._licensed = Amounts()
        self._licences = machine_amounts(machine)

    def change(self, record: JobRecord, sign: int) -> str:
        """Begin a job (sign 1), or end it (-1); return the first resource of which more is used than there is."""
        exceeded = [text for host, amounts in self._hosts(record) if (text := self._use(host, amounts, sign))]
        places = record.places
        if places is None:
            return exceeded[0] if exceeded else ""
        for place in places.places:
            left = self._gpus.setdefault(place.host, [0] * self._machine.hosts[place.host].gpus)
            for gpu in place.gpus:
                left[gpu] += sign * places.task.share
                if left[gpu] > WHOLE:
                    exceeded.append(f"GPU {gpu} of host {place.host}")
        for name, number in places.licences:
            resource = ResourceName(LICENCE, name)
            self._licensed[resource] += sign * number
            if self._licensed[resource] > self._licences[resource]:
                exceeded.append(f"licences {name}")
        return exceeded[0] if exceeded else ""

    def _hosts(self, record: JobRecord) -> Iterator[tuple[int, Amounts]]:
        """Yield each host of a job with what it allocates there."""
        places = record.places
        if places is not None:
            for place, use in zip(places.places, self._meter.host_uses(places), strict=True):
                yield place.host, use.allocated
            return
        for low, high in bit_runs(record.hosts.bits & ((1 << len(self._machine.hosts)) - 1)):
            for host in range(low, high + 1):
                yield host, self._meter.whole(host)

    def _use(self, host: int, amounts: Amounts, sign: int) -> str:
        """Change the amounts of a host; return a resource of which more is used than there is, "" if there is none."""
        used, there = self._amounts.setdefault(host, Amounts()), self._meter.whole(host)
        exceeded = ""
        for resource, amount in amounts.items():
            used[resource] += sign * amount
            if used[resource] > there[resource] and not exceeded:
                exceeded = f"{resource} of host {host}"
        return exceeded

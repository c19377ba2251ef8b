"""Metrics of a schedule over time: hosts in use, queue, fragmentation, states of hosts, power."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from batsched_py.bits import without
from batsched_py.reporting.metrics.steps import Steps, changes, scaled, stacked
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.simulator.records import JobRecord


def busy_hosts(schedule: Schedule) -> Steps:
    """Count the compute hosts that jobs have; a host that several jobs share counts once for each."""
    return stacked((record.start, record.finish, schedule.size(record)) for record in schedule.ran)


def utilisation(schedule: Schedule) -> Steps:
    """Return the share of the compute hosts that jobs have: above 1 if jobs share hosts, empty without hosts."""
    return scaled(busy_hosts(schedule), schedule.hosts) if schedule.hosts else []


def running_jobs(schedule: Schedule) -> Steps:
    """Count the running jobs."""
    return stacked((record.start, record.finish, 1) for record in schedule.ran)


def queue_length(schedule: Schedule) -> Steps:
    """Count the jobs that are submitted and not started. Rejected jobs are left out: no file has their time."""
    return stacked((record.job.submit_time, record.start, 1) for record in schedule.ran)


def queued_hosts(schedule: Schedule) -> Steps:
    """Sum the sizes of the waiting jobs, which evalys calls the queue."""
    return stacked((record.job.submit_time, record.start, record.job.size) for record in schedule.ran)


class FreeRun(NamedTuple):
    """The number of free hosts from a time on, and the length of the longest run of them with consecutive numbers."""

    time: float
    hosts: int
    longest: int


def free_runs(schedule: Schedule) -> list[FreeRun]:
    """Return the free hosts over time, as `free_hosts` yields them, in numbers; empty if hosts of jobs are unknown."""
    if not schedule.hosts_known:
        return []
    return [FreeRun(time, free.bit_count(), longest_run(free)) for time, free in free_hosts(schedule)]


def fragmentation(schedule: Schedule) -> Steps:
    """Return the share of the free hosts that lies outside the longest run of free hosts with consecutive numbers.

    0 if none is free, and if all that are free form one run. Empty if the hosts of jobs are unknown. A host is free if
    no job has it, whether it sleeps or not: jobs files do not say.
    """
    return changes((time, (count - longest) / count if count else 0.0) for time, count, longest in free_runs(schedule))


def free_hosts(schedule: Schedule) -> Iterator[tuple[float, int]]:
    """Yield (time, the compute hosts that no job has from then on, as bits), from 0 on, each time once."""
    every = (1 << schedule.hosts) - 1
    taken = _Occupancy()
    moves = sorted(_moves(schedule.ran, every))  # ends first: less seems to be shared
    now = min(moves[0][0], 0.0) if moves else 0.0
    for time, sign, hosts in moves:
        if time != now:
            yield now, every ^ taken.hosts
            now = time
        if sign < 0:
            taken.give_back(hosts)
        else:
            taken.take(hosts)
    yield now, every ^ taken.hosts


def longest_run(bits: int) -> int:
    """Return the length of the longest run of ones, in about log(length) steps.

    `runs[k]` has a one where a run of at least 2 ** k begins; the length is found from its highest binary digit down.
    """
    runs = []
    length = 1
    while bits:
        runs.append(bits)
        bits &= bits >> length
        length *= 2
    if not runs:
        return 0
    found, begins = 1 << (len(runs) - 1), runs[-1]
    for power in range(len(runs) - 2, -1, -1):
        longer = begins & (runs[power] >> found)
        if longer:
            found, begins = found + (1 << power), longer
    return found


def computing_hosts(schedule: Schedule) -> Steps:
    """Count the compute hosts with a job; one that several jobs share counts once.

    If hosts are unknown: the sum of the sizes of the jobs, but never more than there are.
    """
    if schedule.hosts_known:
        return [(time, schedule.hosts - free.bit_count()) for time, free in free_hosts(schedule)]
    return changes((time, min(value, schedule.hosts)) for time, value in busy_hosts(schedule))


def host_states(schedule: Schedule) -> Mapping[str, Steps]:
    """Count the compute hosts in each state (of HOST_STATES).

    As the machine states were traced; before the first row all are idle. Without a trace the jobs decide: hosts are
    idle or computing.
    """
    rows = schedule.machine_states
    if rows is None:
        computing = computing_hosts(schedule)
        return {"idle": [(time, schedule.hosts - count) for time, count in computing], "computing": computing}
    states = {}
    for name, counts in rows.columns().items():
        before = (0.0, schedule.hosts if name == "idle" else 0)
        states[name] = changes([before, *zip(rows.times, counts, strict=True)])
    return states


def power(schedule: Schedule) -> Steps:
    """Return the watts of all hosts, as means between rows of `_consumed_energy.csv`; empty without that file."""
    rows = schedule.consumed_energy
    if rows is None:
        return []
    readings = [(0.0, 0.0)]
    for time, joules in zip(rows.times, rows.joules, strict=True):
        if time > readings[-1][0]:
            readings.append((time, joules))
    steps = changes((low, (after - before) / (high - low)) for (low, before), (high, after) in pairwise(readings))
    return [*steps, (readings[-1][0], 0.0)] if steps else []


class _Occupancy:
    """The hosts that jobs have, and the number of jobs on each: a few sets, however many hosts are shared."""

    def __init__(self) -> None:
        #: Hosts with a job, as bits.
        self.hosts = 0
        #: Digits of binary numbers, the lowest first: the hosts whose number of jobs beyond the first has a one there.
        self._more: list[int] = []

    def take(self, hosts: int) -> None:
        """Give hosts to one more job: a binary addition for all of them at once."""
        carry = self.hosts & hosts
        self.hosts |= hosts
        for place, digit in enumerate(self._more):
            if not carry:
                return
            self._more[place], carry = digit ^ carry, digit & carry
        if carry:
            self._more.append(carry)

    def give_back(self, hosts: int) -> None:
        """Take hosts back from one job; those that others share stay taken."""
        shared = 0
        for digit in self._more:
            shared |= digit & hosts
        self.hosts ^= hosts ^ shared
        for place, digit in enumerate(self._more):
            if not shared:
                return
            self._more[place], shared = digit ^ shared, without(shared, digit)


def _moves(ran: tuple[JobRecord, ...], every: int) -> Iterator[tuple[float, int, int]]:
    """Yield (time, +1 when hosts are taken and -1 when they are given back, hosts)."""
    for record in ran:
        hosts = record.hosts.bits & every
        if hosts and record.finish > record.start:
            yield record.start, 1, hosts
            yield record.finish, -1, hosts

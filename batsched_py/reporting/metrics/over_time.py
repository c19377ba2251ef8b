"""What a schedule was like over time: hosts in use, the queue, holes between hosts, states of hosts, power."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter

from batsched_py.bits import without
from batsched_py.reporting.metrics.steps import Steps, scaled, stacked
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.simulator.records import JobRecord


def busy_hosts(schedule: Schedule) -> Steps:
    """How many compute hosts jobs have; a host that several jobs share counts once for each."""
    return stacked((record.start, record.finish, schedule.size(record)) for record in schedule.ran)


def utilisation(schedule: Schedule) -> Steps:
    """The part of the compute hosts that jobs have, from 0 to 1; above 1 if jobs share hosts. Empty without hosts."""
    return scaled(busy_hosts(schedule), schedule.hosts) if schedule.hosts else []


def running_jobs(schedule: Schedule) -> Steps:
    """How many jobs run."""
    return stacked((record.start, record.finish, 1) for record in schedule.ran)


def queue_length(schedule: Schedule) -> Steps:
    """How many jobs wait: submitted and not started. Jobs that were rejected are not counted: nothing says when."""
    return stacked((record.job.submit_time, record.start, 1) for record in schedule.ran)


def queued_hosts(schedule: Schedule) -> Steps:
    """How many hosts the jobs that wait ask for; this is what evalys calls the queue."""
    return stacked((record.job.submit_time, record.start, record.job.size) for record in schedule.ran)


def fragmentation(schedule: Schedule) -> Steps:
    """The part of the free hosts that is not in the largest run of free hosts with consecutive numbers, from 0 to 1.

    0 if none is free, and if all that are free form one run. Empty if nothing tells which hosts jobs had. A host is
    free if no job has it, whether it sleeps or not: jobs files do not tell.
    """
    if not schedule.hosts_known:
        return []
    steps: Steps = []
    for time, free in free_hosts(schedule):
        count = free.bit_count()
        value = (count - longest_run(free)) / count if count else 0.0
        if not steps or steps[-1][1] != value:
            steps.append((time, value))
    return steps


def free_hosts(schedule: Schedule) -> Iterator[tuple[float, int]]:
    """(time, the compute hosts that no job has from then on, as bits), from 0 on, each time once."""
    every = (1 << schedule.hosts) - 1
    taken = _Taken()
    changes = sorted(_changes(schedule.ran, every), key=itemgetter(0, 1))  # ends first: less seems to be shared
    if not changes or changes[0][0] > 0:
        yield 0.0, every
    for time, together in groupby(changes, key=itemgetter(0)):
        for _, sign, hosts in together:
            if sign < 0:
                taken.give_back(hosts)
            else:
                taken.take(hosts)
        yield time, every ^ taken.hosts


def longest_run(bits: int) -> int:
    """The length of the longest run of ones, in about log(length) steps.

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
    """How many compute hosts have a job; one that several jobs share counts once.

    Where hosts are unknown: as many as all jobs together had, but never more than there are.
    """
    if schedule.hosts_known:
        return [(time, schedule.hosts - free.bit_count()) for time, free in free_hosts(schedule)]
    return _latest([(time, min(value, schedule.hosts)) for time, value in busy_hosts(schedule)])


def host_states(schedule: Schedule) -> Mapping[str, Steps]:
    """State (of HOST_STATES) -> how many compute hosts are in it.

    As the machine states were traced; before the first row all are idle. Without a trace hosts are idle or computing,
    as the jobs tell.
    """
    rows = schedule.machine_states
    if rows is None:
        computing = computing_hosts(schedule)
        return {"idle": [(time, schedule.hosts - count) for time, count in computing], "computing": computing}
    states = {}
    for name, counts in rows.columns().items():
        before: Steps = [(0.0, schedule.hosts if name == "idle" else 0)]
        states[name] = _latest([*before, *zip(rows.times, counts, strict=True)])
    return states


def power(schedule: Schedule) -> Steps:
    """Watts that all hosts draw, as the mean between two rows of `_consumed_energy.csv`; empty if there is none."""
    rows = schedule.consumed_energy
    if rows is None:
        return []
    steps: Steps = []
    before, joules_before = 0.0, 0.0
    for time, joules in zip(rows.times, rows.joules, strict=True):
        if time > before:
            watts = (joules - joules_before) / (time - before)
            if not steps or steps[-1][1] != watts:
                steps.append((before, watts))
            before, joules_before = time, joules
    return [*steps, (before, 0.0)] if steps else []


class _Taken:
    """The hosts that jobs have, and how many have each: a few sets, however many hosts are shared."""

    def __init__(self) -> None:
        self.hosts = 0
        #: Digits of binary numbers, the lowest first: the hosts whose number of jobs beyond the first has a one there.
        self._more: list[int] = []

    def take(self, hosts: int) -> None:
        """One job more has them."""
        carry = self.hosts & hosts
        self.hosts |= hosts
        for place, digit in enumerate(self._more):
            if not carry:
                return
            self._more[place], carry = digit ^ carry, digit & carry
        if carry:
            self._more.append(carry)

    def give_back(self, hosts: int) -> None:
        """One job fewer has them."""
        shared = 0
        for digit in self._more:
            shared |= digit & hosts
        self.hosts ^= hosts ^ shared
        for place, digit in enumerate(self._more):
            if not shared:
                return
            self._more[place], shared = digit ^ shared, without(shared, digit)


def _changes(ran: tuple[JobRecord, ...], every: int) -> Iterator[tuple[float, int, int]]:
    """(time, +1 when hosts are taken and -1 when they are given back, hosts)."""
    for record in ran:
        hosts = record.hosts.bits & every
        if hosts and record.finish > record.start:
            yield record.start, 1, hosts
            yield record.finish, -1, hosts


def _latest(rows: Steps) -> Steps:
    """Of the rows of one time only the last counts, and only if it changes something."""
    steps: Steps = []
    for position, (time, value) in enumerate(rows):
        final = position + 1 == len(rows) or rows[position + 1][0] > time
        if final and (not steps or steps[-1][1] != value):
            steps.append((time, value))
    return steps

"""What a page carries of its runs: columns of numbers, made small; how they look is said elsewhere (`page/`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from batsched_py.reporting.formatting import FINAL_STATES, STATE_NAMES
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND
from batsched_py.reporting.pictures.colouring import OTHERS, STATE_COLOURS
from batsched_py.reporting.pictures.html.growth import Growth, energy_growth, state_growth
from batsched_py.reporting.pictures.window import number_jobs
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.simulator.outputs.tracing import HOST_STATES
from batsched_py.simulator.records import JobRecord

#: Starts that differ by at most so many seconds are the same: files have six digits, real Batsim adds some.
TOLERANCE: Final = 0.001

Number = int | float


class PackedRun(Struct, frozen=True):
    """The jobs of a run that ran, ordered by start, a column for each property; times in seconds.

    Attributes:
        name: of the run.
        hosts: number of compute hosts.
        job: which job, an index of the content's names.
        submit: submission.
        start: start.
        run: finish - start.
        size: how many compute hosts it had.
        state: its final state, an index of the content's states.
        sets: distinct sets of hosts, as intervals ("0-3 7"); empty if hosts are not known.
        set: the hosts it had, an index of `sets`.
        rejected: jobs that never ran, indices of names.
        strangers: jobs that are others than those of these names in the first run, indices of names.
        power: joules over time; None if they were not traced.
        machines: host seconds in each of HOST_STATES over time; None if hosts only compute and idle.
    """

    name: str
    hosts: int
    job: list[int]
    submit: list[Number]
    start: list[Number]
    run: list[Number]
    size: list[int]
    state: list[int]
    sets: list[str]
    set: list[int]
    rejected: list[int]
    strangers: list[int]
    power: Growth | None
    machines: Growth | None


class Content(Struct, frozen=True):
    """All runs of a page.

    Attributes:
        names: of the jobs of all runs, in order of submission; without `prefix`.
        prefix: the workload, as "w0!", if all jobs are of the same; else empty.
        states: names of the final states that occur.
        state_colours: theirs, as in all pictures.
        machine_states: names of what `machines` of a run has columns of.
        bound: of the bounded slowdown, in seconds.
        tolerance: starts that differ by at most so many seconds are the same.
        runs: in the order they were given.
    """

    names: list[str]
    prefix: str
    states: list[str]
    state_colours: list[str]
    machine_states: tuple[str, ...]
    bound: float
    tolerance: float
    runs: list[PackedRun]


def pack(schedules: Sequence[Schedule], bound: float = SLOWDOWN_BOUND) -> Content:
    """What the page carries of these schedules; the same schedules give the same content."""
    numbers = number_jobs(schedules)
    workloads = {job.partition("!")[0] for job in numbers}
    prefix = f"{workloads.pop()}!" if len(workloads) == 1 else ""
    states = _states(schedules)
    return Content(
        names=[job.removeprefix(prefix) for job in numbers],
        prefix=prefix,
        states=[STATE_NAMES.get(state, state) for state in states],
        state_colours=[STATE_COLOURS.get(state, OTHERS) for state in states],
        machine_states=tuple(HOST_STATES.values()),
        bound=bound,
        tolerance=TOLERANCE,
        runs=[_pack_run(schedule, schedules[0], numbers, states) for schedule in schedules],
    )


def strangers(first: Schedule, other: Schedule) -> frozenset[str]:
    """Ids that mean one job in the first run and another in the other: its submission or its size differs."""
    there = {record.job.id: record.job for record in first.jobs}
    return frozenset(
        job.id
        for job in (record.job for record in other.jobs)
        if (known := there.get(job.id)) is not None
        and (job.size != known.size or abs(job.submit_time - known.submit_time) > TOLERANCE)
    )


def short(number: float) -> Number:
    """To the microsecond, as Batsim's files have it; a whole number without a point."""
    rounded = round(number, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def _states(schedules: Sequence[Schedule]) -> list[str]:
    """The final states that jobs which ran have, Batsim's first and in its order."""
    found = {record.state for schedule in schedules for record in schedule.ran}
    return [state for state in FINAL_STATES if state in found] + sorted(found - set(FINAL_STATES))


def _pack_run(schedule: Schedule, first: Schedule, numbers: dict[str, int], states: list[str]) -> PackedRun:
    ran = sorted(schedule.ran, key=lambda record: (record.start, numbers[record.job.id]))
    numbered = {state: number for number, state in enumerate(states)}
    sets, places = _sets(ran) if schedule.hosts_known else ([], [])
    energy, machines = schedule.consumed_energy, schedule.machine_states
    return PackedRun(
        name=schedule.name,
        hosts=schedule.hosts,
        job=[numbers[record.job.id] for record in ran],
        submit=[short(record.job.submit_time) for record in ran],
        start=[short(record.start) for record in ran],
        run=[short(record.finish - record.start) for record in ran],
        size=[schedule.size(record) for record in ran],
        state=[numbered[record.state] for record in ran],
        sets=sets,
        set=places,
        rejected=[numbers[record.job.id] for record in schedule.jobs if record.rejected],
        strangers=sorted(numbers[job] for job in strangers(first, schedule)),
        power=energy_growth(energy) if energy is not None else None,
        machines=state_growth(machines, schedule.hosts) if machines is not None else None,
    )


def _sets(ran: Iterable[JobRecord]) -> tuple[list[str], list[int]]:
    """The distinct sets of hosts, and which of them each job had."""
    known: dict[int, int] = {}
    spelled: list[str] = []
    places = []
    for record in ran:
        bits = record.hosts.bits
        if bits not in known:
            known[bits] = len(known)
            spelled.append(str(record.hosts))
        places.append(known[bits])
    return spelled, places

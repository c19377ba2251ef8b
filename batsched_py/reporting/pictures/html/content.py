"""The data of a page: compact columns of numbers for each run, which the scripts in `page/` draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.protocol.events import FINAL_STATES
from batsched_py.reporting.formatting import STATE_NAMES
from batsched_py.reporting.metrics.job_metrics import measure_jobs
from batsched_py.reporting.metrics.over_time import busy_hosts
from batsched_py.reporting.metrics.resource_use import resource_curves, resource_title
from batsched_py.reporting.metrics.steps import side_by_side
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND
from batsched_py.reporting.pictures.colouring import LIGHT, OTHERS, STATE_COLOURS
from batsched_py.reporting.pictures.html.differences import TOLERANCE, strangers
from batsched_py.reporting.pictures.html.lease_content import PackedLeases, pack_leases
from batsched_py.reporting.pictures.html.short_numbers import Number, short
from batsched_py.reporting.pictures.lanes import ROWS, Rows, gpus_known, lane_chart
from batsched_py.reporting.pictures.lease_marks import MARK_NAMES
from batsched_py.reporting.pictures.window import number_jobs, shown_numbers, window_on
from batsched_py.reporting.schedules.job_uses import GPUS
from batsched_py.reporting.schedules.outages import Outage
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.results.records import JobRecord
from batsched_py.results.tracing import HOST_STATES, EnergyRows, StateRows

#: Job id -> lines that explain its wait, for some jobs of a run.
Waits: TypeAlias = Mapping[str, list[str]]

#: The approximate largest number of points of a quantity over time: more than the width of a picture.
MOST_POINTS: Final = 4000


class Growth(Struct, frozen=True):
    """Totals since the start of the simulation, at strictly ascending times.

    Attributes:
        time: the times in seconds.
        totals: one column for each quantity, of the same length as `time`.
    """

    time: list[float]
    totals: list[list[float]]


class PackedOutages(Struct, frozen=True):
    """Hosts that were unavailable, a column for each property; times in seconds.

    Attributes:
        start: the start of the outage.
        length: its duration.
        hosts: the hosts, as intervals ("0-3 7").
    """

    start: list[Number]
    length: list[Number]
    hosts: list[str]


class PackedLanes(Struct, frozen=True):
    """Rows of a Gantt chart that jobs share, each divided into lanes.

    Attributes:
        rows: host or gpu.
        names: the name of each row.
        lanes: number of lanes of each row; the first ones are those of the first row.
        sets: the distinct sets of lanes, as intervals.
        set: the lanes of each job, an index into `sets`, -1 for none.
    """

    rows: Rows
    names: tuple[str, ...]
    lanes: int
    sets: list[str]
    set: list[int]


class PackedResources(Struct, frozen=True):
    """The allocated share of each resource: names, and its integral over time; None if there is none."""

    names: list[str]
    growth: Growth | None


class PackedWaits(Struct, frozen=True):
    """The waits of jobs in a run with repeated attempts, each job once, for curves.

    Attributes:
        submit: the first submission.
        wait: the wait as defined by `metrics`, in seconds.
        slowdown: the bounded slowdown.
    """

    submit: list[Number]
    wait: list[Number]
    slowdown: list[Number]


class PackedRun(Struct, frozen=True):
    """The jobs of a run that ran, ordered by start, a column for each property; times in seconds.

    Attributes:
        name: the name of the run.
        hosts: the number of compute hosts.
        job: an index into the content's names.
        submit: submission.
        start: start.
        run: finish - start.
        size: the number of its compute hosts.
        state: its final state, an index into the content's states.
        colour: an index into the content's job colours.
        lost: the delay by other jobs on its links and hosts in seconds, 0 for none; empty if no job was delayed.
        user: its owner, an index into the content's users, -1 if unknown; empty if all are unknown.
        sets: the distinct sets of hosts, as intervals ("0-3 7"); empty if hosts are unknown.
        set: its hosts, an index into `sets`.
        rejected: jobs that never ran, as indices into names.
        strangers: jobs with the id of a different job in the first run, as indices into names.
        power: joules over time; None if energy was not traced.
        machines: host seconds in each of HOST_STATES over time; None if hosts only compute and idle.
        leases: the leases; None if the algorithm has none.
        outages: hosts that were unavailable for a time.
        lanes: the rows that jobs share, of hosts and of GPUs; empty if jobs share none.
        busy: host seconds of hosts in use over time; None if it is the sum over jobs, because they share no hosts.
        resources: the use of each resource; without names if jobs have whole hosts only.
        whole: the waits of jobs with their attempts combined; None if no job has several attempts.
    """

    name: str
    hosts: int
    job: list[int]
    submit: list[Number]
    start: list[Number]
    run: list[Number]
    size: list[int]
    state: list[int]
    colour: list[int]
    lost: list[Number]
    user: list[int]
    sets: list[str]
    set: list[int]
    rejected: list[int]
    strangers: list[int]
    power: Growth | None
    machines: Growth | None
    leases: PackedLeases | None
    outages: PackedOutages
    lanes: list[PackedLanes]
    busy: Growth | None
    resources: PackedResources
    whole: PackedWaits | None


class Content(Struct, frozen=True):
    """All runs of a page.

    Attributes:
        users: the owners of jobs, in the order of their first jobs.
        names: the names of the jobs of all runs, in the order of submission, without `prefix`.
        prefix: the workload, such as "w0!", if all jobs have the same; else empty.
        states: the names of the final states that occur.
        state_colours: the colours of the states, as in all pictures.
        job_colours: the colours of jobs, as in all pictures.
        machine_states: the names of the columns of `machines` of a run.
        mark_kinds: the kinds of marks of leases.
        mark_names: the display names of these kinds.
        bound: the bound of the bounded slowdown, in seconds.
        tolerance: the tolerance for equal starts, in seconds.
        window: begin and end of the measured time; None for whole runs.
        runs: the runs in the given order.
        waits: for each run, index of a job -> lines that explain its wait; for the longest waits only.
    """

    users: list[str]
    names: list[str]
    prefix: str
    states: list[str]
    state_colours: list[str]
    job_colours: tuple[str, ...]
    machine_states: tuple[str, ...]
    mark_kinds: tuple[str, ...]
    mark_names: tuple[str, ...]
    bound: float
    tolerance: float
    window: tuple[float, float] | None
    runs: list[PackedRun]
    waits: list[dict[int, list[str]]]


def pack(
    schedules: Sequence[Schedule],
    bound: float = SLOWDOWN_BOUND,
    window: TimeWindow | None = None,
    waits: Sequence[Waits] = (),
) -> Content:
    """Return the data of a page with a window on whole schedules; the same schedules give the same content."""
    everywhere = number_jobs(schedules)
    tints = [shown_numbers(schedule, everywhere) for schedule in schedules]
    schedules = schedules if window is None else [window.seen(schedule) for schedule in schedules]
    numbers = number_jobs(schedules)
    workloads = {job.partition("!")[0] for job in numbers}
    prefix = f"{workloads.pop()}!" if len(workloads) == 1 else ""
    states, users = _states(schedules), _users(schedules)
    return Content(
        users=list(users),
        names=[job.removeprefix(prefix) for job in numbers],
        prefix=prefix,
        states=[STATE_NAMES.get(state, state) for state in states],
        state_colours=[STATE_COLOURS.get(state, OTHERS) for state in states],
        job_colours=LIGHT,
        machine_states=tuple(HOST_STATES.values()),
        mark_kinds=tuple(MARK_NAMES),
        mark_names=tuple(MARK_NAMES.values()),
        bound=bound,
        tolerance=TOLERANCE,
        window=None if window is None else (window.begin, window.end),
        runs=[
            _pack_run(schedule, schedules[0], numbers, states, users, colours=tint, bound=bound)
            for schedule, tint in zip(schedules, tints, strict=True)
        ],
        waits=[{numbers[job]: lines for job, lines in found.items() if job in numbers} for found in waits],
    )


def energy_growth(rows: EnergyRows, most: int = MOST_POINTS) -> Growth | None:
    """Return the joules of all hosts since 0 over time, even if the first row is later; None if no time passes."""
    late = bool(rows.times) and rows.times[0] > 0
    return _growth([0.0] * late + list(rows.times), [[0.0] * late + list(rows.joules)], most)


def state_growth(rows: StateRows, hosts: int) -> Growth | None:
    """Return the host seconds in each state over time; None if no host ever sleeps or switches, or no time passes.

    Before the first row, all `hosts` are idle.
    """
    if rows.always_awake:
        return None
    late = bool(rows.times) and rows.times[0] > 0
    times = [0.0] * late + list(rows.times)
    totals = [
        _integral(times, [hosts if state == "idle" else 0] * late + list(counts))
        for state, counts in rows.columns().items()
    ]
    return _growth(times, totals, MOST_POINTS)


def _states(schedules: Sequence[Schedule]) -> list[str]:
    """Return the final states of the jobs that ran, Batsim's first, in its order."""
    found = {record.state for schedule in schedules for record in schedule.ran}
    return [state for state in FINAL_STATES if state in found] + sorted(found - set(FINAL_STATES))


def _users(schedules: Sequence[Schedule]) -> dict[str, int]:
    """Number the users of the jobs that ran."""
    found = (record.job.user for schedule in schedules for record in schedule.ran)
    return {user: number for number, user in enumerate(dict.fromkeys(user for user in found if user is not None))}


def _owners(ran: Sequence[JobRecord], users: dict[str, int]) -> list[int]:
    """Return the index of each job's user, -1 if unknown; empty if all are unknown."""
    owners = [-1 if (user := record.job.user) is None else users[user] for record in ran]
    return owners if any(owner >= 0 for owner in owners) else []


def _pack_run(
    schedule: Schedule,
    first: Schedule,
    numbers: dict[str, int],
    states: list[str],
    users: dict[str, int],
    *,
    colours: dict[str, int],
    bound: float,
) -> PackedRun:
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
        colour=[colours[record.job.id] % len(LIGHT) for record in ran],
        lost=_lost(schedule, ran),
        user=_owners(ran, users),
        sets=sets,
        set=places,
        rejected=[numbers[record.job.id] for record in schedule.jobs if record.rejected],
        strangers=sorted(numbers[job] for job in strangers(first, schedule)),
        power=energy_growth(energy) if energy is not None else None,
        machines=state_growth(machines, schedule.hosts) if machines is not None else None,
        leases=pack_leases(schedule, ran, numbers),
        outages=_outages(schedule.outages),
        lanes=_lanes(schedule, ran, numbers),
        busy=_busy(schedule) if schedule.shares_hosts else None,
        resources=_resources(schedule),
        whole=_waits(schedule, bound) if schedule.attempts.firsts else None,
    )


def _lanes(schedule: Schedule, ran: Sequence[JobRecord], numbers: dict[str, int]) -> list[PackedLanes]:
    """Return the rows that jobs share; those of GPUs only if there are some, and it is known which ones jobs had."""
    if schedule.capacity is None or not ran or not schedule.hosts_known:
        return []
    window, found = window_on([schedule]), list[PackedLanes]()
    for rows in ROWS:
        if rows == "gpu" and not gpus_known(schedule):
            continue
        chart = lane_chart(schedule, window, numbers, rows)
        if chart is not None:
            hosts = {record.job.id: str(record.hosts) for record in chart.schedule.jobs}
            sets = dict.fromkeys(hosts.values())
            places = {text: place for place, text in enumerate(sets)}
            of_jobs = [places[hosts[record.job.id]] if record.job.id in hosts else -1 for record in ran]
            found.append(PackedLanes(rows, chart.names, chart.lanes, list(sets), of_jobs))
    return found


def _busy(schedule: Schedule) -> Growth | None:
    steps = busy_hosts(schedule)
    times = [time for time, _ in steps]
    return _growth(times, [_integral(times, [count for _, count in steps])], MOST_POINTS)


def _resources(schedule: Schedule) -> PackedResources:
    curves = [curve for curve in resource_curves(schedule) if curve.resource.kind != GPUS or not curve.resource.name]
    rows = list(side_by_side([curve.allocated for curve in curves]))
    times = [time for time, _ in rows]
    totals = [_integral(times, [values[column] or 0.0 for _, values in rows]) for column in range(len(curves))]
    growth = _growth(times, totals, MOST_POINTS) if rows else None
    return PackedResources([resource_title(curve.resource) for curve in curves] if growth else [], growth)


def _waits(schedule: Schedule, bound: float) -> PackedWaits:
    found = [job for job in measure_jobs(schedule, bound) if job.wait is not None]
    return PackedWaits(
        submit=[short(job.record.job.submit_time) for job in found],
        wait=[short(job.wait) for job in found if job.wait is not None],
        slowdown=[short(job.bounded_slowdown or 1.0) for job in found],
    )


def _lost(schedule: Schedule, ran: Sequence[JobRecord]) -> list[Number]:
    """Return the delay of each job by others in seconds, 0 for none; empty if no job was delayed."""
    alone = schedule.alone or {}
    lost = [max(0.0, record.execution - alone.get(record.job.id, record.execution)) for record in ran]
    return [short(seconds) for seconds in lost] if any(lost) else []


def _outages(outages: Sequence[Outage]) -> PackedOutages:
    return PackedOutages(
        start=[short(outage.start) for outage in outages],
        length=[short(outage.finish - outage.start) for outage in outages],
        hosts=[str(outage.hosts) for outage in outages],
    )


def _sets(ran: Iterable[JobRecord]) -> tuple[list[str], list[int]]:
    """Return the distinct sets of hosts, and the index of each job's set."""
    known: dict[HostSet, int] = {}
    places = [known.setdefault(record.hosts, len(known)) for record in ran]
    return list(map(str, known)), places


def _growth(times: Sequence[float], totals: Iterable[Sequence[float]], most: int) -> Growth | None:
    kept = _kept(times, most)
    if len(kept) < 2:
        return None
    return Growth([times[row] for row in kept], [[total[row] for row in kept] for total in totals])


def _integral(times: Sequence[float], counts: Sequence[float]) -> list[float]:
    """Return the integral of the counts up to each row; a count holds from its row on."""
    total, totals = 0.0, [0.0]
    for (before, after), count in zip(pairwise(times), counts, strict=False):
        total += count * (after - before)
        totals.append(total)
    return totals


def _kept(times: Sequence[float], most: int) -> list[int]:
    """Return the index of the first row, and of the last row of each instant, or of each equal interval if too many.

    Totals do not change during an instant, so that any of its rows suffices.
    """
    if not times:
        return []
    piece = (times[-1] - times[0]) / most if len(times) > most else 0.0
    last = {(int((time - times[0]) / piece) if piece > 0 else time): row for row, time in enumerate(times)}
    return [0, *(row for row in last.values() if times[row] > times[0])]

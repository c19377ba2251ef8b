"""The summary of a run that `simulate` shows: metrics that need only counts and times of ended jobs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import mul
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from rich import box
from rich.table import Table

from batsched_py.model.step_signal import CARBON, StepSignal
from batsched_py.protocol.events import FINAL_STATES, REJECTED
from batsched_py.reporting.formatting import HOUR, STATE_NAMES, clock
from batsched_py.reporting.schedules.attempts import Attempts, put_together
from batsched_py.reporting.schedules.lease_tables import RUN, LeaseTables, lease_tables_of
from batsched_py.results.energy_integrals import energy_span, weighted
from batsched_py.results.records import JobRecord, Result, Tally
from batsched_py.text.wording import JOULES_PER_KWH, NOTHING, aligned

#: Runs shorter than this count as this long in the bounded slowdown, in seconds (Feitelson et al., JSSPP 1997).
SLOWDOWN_BOUND: Final = 10.0
#: The window of a whole run.
_ALWAYS: Final = (-math.inf, math.inf)


class Summary(Struct, frozen=True):
    """The metrics of a schedule that `simulate` shows; `RunMetrics` has these and more, docs/metrics.md defines each.

    A job *ran* if it was not rejected, whatever its final state: means and maxima are over these jobs. A metric is None
    if it is undefined because no job ran. The order of the jobs does not matter.

    Attributes:
        jobs: number of jobs submitted.
        states: final state -> number of jobs; only those that occur, in the order of FINAL_STATES.
        hosts: number of compute hosts.
        makespan: seconds.
        utilisation: from 0 to 1; above 1 only if jobs without demands share hosts.
        throughput: jobs per second.
        mean_wait: seconds, as `max_wait` and `mean_turnaround`.
        max_wait: see above.
        mean_bounded_slowdown: no unit.
        mean_turnaround: see above.
        attempts: how often jobs ran; more than ran if some were submitted again.
        useful_utilisation: from 0 to 1, without lost work and overheads.
        useful_work: allocated host seconds, without lost work and overheads.
        lost_work: host seconds of attempts whose work was discarded.
    """

    jobs: int
    states: Mapping[str, int]
    hosts: int
    makespan: float
    utilisation: float | None
    throughput: float | None
    mean_wait: float | None
    max_wait: float | None
    mean_bounded_slowdown: float | None
    mean_turnaround: float | None
    attempts: int
    useful_utilisation: float | None
    useful_work: float
    lost_work: float


def summarise(result: Result) -> Summary:
    """Return the summary of a simulation, which may have kept its jobs or only counted them."""
    tally, leases = result.counted, lease_tables_of(result.tables)
    summary = _summarise_tally(tally, put_together(tally.attempts, leases), leases, result.host_count, SLOWDOWN_BOUND)
    everything = result.host_count * summary.makespan
    if result.capacity is None or not everything > 0:
        return summary
    # A host that tasks of several jobs share is in use once; which part of this is useful is not known from a tally.
    return replace(summary, utilisation=result.host_seconds["computing"] / everything, useful_utilisation=None)


def summarise_jobs(
    records: Iterable[JobRecord], hosts: int, tau: float = SLOWDOWN_BOUND, leases: LeaseTables | None = None
) -> Summary:
    """Return the summary of a schedule on `hosts` hosts, from the records of its jobs in any order, and its leases.

    Runs shorter than `tau` seconds count as `tau` in the bounded slowdown.
    """
    tally = Tally.of(records, hosts)
    return _summarise_tally(tally, put_together(tally.attempts, leases), leases, hosts, tau)


def bounded_slowdown(wait: float, run: float, bound: float = SLOWDOWN_BOUND) -> float:
    """Return (wait + run) / run of a job, at least 1; runs below `bound` seconds count as `bound`."""
    return max(1.0, (wait + run) / max(run, bound))


def summary_table(result: Result, signals: Sequence[StepSignal] = ()) -> Table:
    """Return a table with a metric in each row; the last two are measured times, which vary between runs.

    For each of the signals it has the emissions or the cost of the energy, if this was traced.
    """
    summary = summarise(result)
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_row("hosts", str(summary.hosts))
    table.add_row("jobs", str(summary.jobs))
    for state, count in summary.states.items():
        table.add_row("  " + STATE_NAMES.get(state, state), str(count))
    again = summary.attempts != summary.jobs - summary.states.get(REJECTED, 0) or summary.lost_work > 0
    if again:
        table.add_row("attempts", str(summary.attempts))
    table.add_section()
    _add_duration(table, "makespan", summary.makespan)
    table.add_row("utilisation", _number(summary.utilisation, 100.0, 2, " %"))
    if again:
        table.add_row("  useful", _number(summary.useful_utilisation, 100.0, 2, " %"))
        table.add_row("work lost", _number(summary.lost_work, 1 / HOUR, 3, " host h"))
    table.add_row("throughput", _number(summary.throughput, HOUR, 2, " jobs/h"))
    _add_duration(table, "mean wait", summary.mean_wait)
    _add_duration(table, "maximum wait", summary.max_wait)
    _add_duration(table, "mean turnaround", summary.mean_turnaround)
    table.add_row("mean bounded slowdown", _number(summary.mean_bounded_slowdown, 1.0, 4, ""))
    if result.joules:
        table.add_row(
            "energy", _number(result.joules, 1 / JOULES_PER_KWH, 3, " kWh"), _number(result.joules, 1.0, 1, " J")
        )
    for signal in signals:
        _add_weighted(table, result, signal)
    table.add_section()
    table.add_row("messages", str(result.messages))
    table.add_row("deciding", "measured", f"{result.deciding_seconds:.3f} s")
    table.add_row("simulating", "measured", f"{result.simulating_seconds:.3f} s")
    return table


def _add_weighted(table: Table, result: Result, signal: StepSignal) -> None:
    rows = None if result.trace is None else result.trace.energy
    tally = result.counted
    if rows is not None and rows.times and tally.jobs:
        amount = weighted(rows, signal, *energy_span([tally.first], tally.finishes))
        title = "carbon emissions" if signal.quantity == CARBON else "cost of energy"
        table.add_row(title, _number(amount, 1.0, 1 if signal.quantity == CARBON else 2, f" {signal.quantity}"))


def lost_work(again: Attempts, leases: LeaseTables | None, hosts: int, window: tuple[float, float] = _ALWAYS) -> float:
    """Return the host seconds of discarded attempts within a window (begin, end) on `hosts` compute hosts.

    Runs that the tables of leases mark as lost are included, whether the lease ran again or not.
    """
    unmarked = (one for job in again.jobs.values() for one in job.unmarked)
    parts = [(one.start, one.finish, one.hosts) for one in unmarked]
    if leases is not None:
        compute = (1 << hosts) - 1
        lost = [span for span in leases.spans if span.kind == RUN and span.lost]
        parts += [(span.start, leases.until(span), (span.hosts.bits & compute).bit_count()) for span in lost]
    return _held(parts, window)


def overhead_time(again: Attempts, window: tuple[float, float] = _ALWAYS) -> float:
    """Return the host seconds within a window (begin, end) of jobs that show suspensions and resumptions."""
    overheads = (one for job in again.jobs.values() for one in job.overheads)
    return _held([(one.start, one.finish, one.hosts) for one in overheads], window)


def _held(parts: Iterable[tuple[float, float, int]], window: tuple[float, float]) -> float:
    """Return the host seconds of parts (start, end, hosts) within a window."""
    begin, end = window
    held = ((max(start, begin), min(finish, end), count) for start, finish, count in parts)
    return math.fsum((last - first) * count for first, last, count in held if first < last)


def _summarise_tally(tally: Tally, again: Attempts, leases: LeaseTables | None, hosts: int, tau: float) -> Summary:
    jobs, makespan = _Jobs.of(tally, again), tally.makespan
    allocated = math.fsum(map(mul, tally.sizes, tally.runs()))
    lost = lost_work(again, leases, hosts)
    useful = allocated - lost - overhead_time(again)
    everything = hosts * makespan
    return Summary(
        jobs=tally.jobs - len(again.firsts),
        states={state: jobs.states[state] for state in sorted(jobs.states, key=_report_order)},
        hosts=hosts,
        makespan=makespan,
        utilisation=allocated / everything if everything > 0 else None,
        throughput=jobs.ran / makespan if makespan > 0 else None,
        mean_wait=_mean(jobs.waits(), jobs.ran),
        max_wait=max(jobs.waits(), default=None),
        mean_bounded_slowdown=_mean(map(partial(bounded_slowdown, bound=tau), jobs.delays(), jobs.runs()), jobs.ran),
        mean_turnaround=_mean(jobs.turnarounds(), jobs.ran),
        attempts=tally.ran - sum(len(job.overheads) for job in again.jobs.values()),
        useful_utilisation=useful / everything if everything > 0 else None,
        useful_work=useful,
        lost_work=lost,
    )


class _Jobs(Struct, frozen=True):
    """The times of jobs that ran, in seconds, with attempts combined; computed on each use to save memory.

    Attributes:
        states: final state -> number of jobs, including rejected ones.
        ran: the number of jobs that were not rejected.
        waits, runs, turnarounds: return an iterable of these times, one for each job that ran.
        delays: returns, for each job, the part of its turnaround without work that was kept.
    """

    states: Counter[str]
    ran: int
    waits: Callable[[], Iterable[float]]
    runs: Callable[[], Iterable[float]]
    turnarounds: Callable[[], Iterable[float]]
    delays: Callable[[], Iterable[float]]

    @classmethod
    def of(cls, tally: Tally, again: Attempts) -> _Jobs:
        """Return the times of the jobs that a tally counts."""
        if not again.jobs:
            return cls(tally.states, tally.ran, tally.waits, tally.runs, tally.turnarounds, tally.waits)
        states = Counter(tally.states)
        waits, runs, turnarounds = (list(times()) for times in (tally.waits, tally.runs, tally.turnarounds))
        delays = list(waits)
        gone = set[int]()
        for job in again.jobs.values():
            for one in (*job.attempts[:-1], *job.overheads):
                states[one.state] -= 1
            gone.update(one.row for one in (*job.later, *([job.first] if job.last.state == REJECTED else ())))
            row = job.first.row
            runs[row], turnarounds[row] = job.run, job.last.finish - job.first.submitted
            delays[row] = turnarounds[row] - job.run
        every = (waits, runs, turnarounds, delays)
        kept = [[time for row, time in enumerate(times) if row not in gone] for times in every]
        found = [partial(iter, times) for times in kept]
        return cls(+states, len(kept[0]), *found)


def _mean(values: Iterable[float], number: int) -> float | None:
    return math.fsum(values) / number if number else None


def _report_order(state: str) -> tuple[int, str]:
    return (FINAL_STATES.index(state) if state in FINAL_STATES else len(FINAL_STATES)), state


def _add_duration(table: Table, name: str, seconds: float | None) -> None:
    if seconds is None:
        table.add_row(name, NOTHING)
    else:
        table.add_row(name, clock(seconds), _number(seconds, 1.0, 3, " s"))


def _number(value: float | None, scale: float, digits: int, unit: str) -> str:
    return NOTHING if value is None else aligned([value * scale], digits)[0] + unit

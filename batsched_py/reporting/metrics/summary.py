"""The summary of a run that `simulate` shows: ten metrics that the numbers of its ended jobs suffice for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from operator import mul
from typing import Final

from msgspec import Struct
from rich import box
from rich.table import Table

from batsched_py.reporting.formatting import FINAL_STATES, HOUR, STATE_NAMES, clock
from batsched_py.simulator.records import JobRecord, Result, Tally
from batsched_py.text.wording import NOTHING, kilowatt_hours

#: Runs shorter than this count as this long in the bounded slowdown, in seconds (Feitelson et al., JSSPP 1997).
SLOWDOWN_BOUND: Final = 10.0


class Summary(Struct, frozen=True):
    """The metrics of a schedule that `simulate` shows; `RunMetrics` has these and more, docs/metrics.md defines each.

    A job *ran* if it was not rejected, whatever its final state: means and maxima are over these jobs. A metric that
    has no meaning, because no job ran, is None. The order of the jobs does not matter.

    Attributes:
        jobs: number of jobs submitted.
        states: final state -> number of jobs; only those that occur, in the order of FINAL_STATES.
        hosts: number of compute hosts.
        makespan: seconds.
        utilisation: from 0 to 1; above 1 only if jobs share hosts.
        throughput: jobs per second.
        mean_wait: seconds, as `max_wait` and `mean_turnaround`.
        max_wait: see above.
        mean_bounded_slowdown: no unit.
        mean_turnaround: see above.
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


def summarise(result: Result) -> Summary:
    """Return the summary of a simulation, whether its jobs were kept or only counted."""
    return _summarise_tally(result.counted, result.host_count, SLOWDOWN_BOUND)


def summarise_jobs(records: Iterable[JobRecord], hosts: int, tau: float = SLOWDOWN_BOUND) -> Summary:
    """Return the summary of a schedule on `hosts` hosts, from the records of its jobs in any order.

    Runs shorter than `tau` seconds count as `tau` in the bounded slowdown.
    """
    return _summarise_tally(Tally.of(records, hosts), hosts, tau)


def bounded_slowdown(wait: float, run: float, bound: float = SLOWDOWN_BOUND) -> float:
    """Return (wait + run) / run of a job, at least 1; runs below `bound` seconds count as `bound`."""
    return max(1.0, (wait + run) / max(run, bound))


def summary_table(result: Result) -> Table:
    """Return a table with a metric in each row; the last two are measured times, which differ from run to run."""
    summary = summarise(result)
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_row("hosts", str(summary.hosts))
    table.add_row("jobs", str(summary.jobs))
    for state, count in summary.states.items():
        table.add_row("  " + STATE_NAMES.get(state, state), str(count))
    table.add_section()
    _add_duration(table, "makespan", summary.makespan)
    table.add_row("utilisation", _number(summary.utilisation, 100.0, ".2f", " %"))
    table.add_row("throughput", _number(summary.throughput, HOUR, ".2f", " jobs/h"))
    _add_duration(table, "mean wait", summary.mean_wait)
    _add_duration(table, "maximum wait", summary.max_wait)
    _add_duration(table, "mean turnaround", summary.mean_turnaround)
    table.add_row("mean bounded slowdown", _number(summary.mean_bounded_slowdown, 1.0, ".4f", ""))
    if result.joules:
        table.add_row("energy", kilowatt_hours(result.joules), f"{result.joules:.1f} J")
    table.add_section()
    table.add_row("messages", str(result.messages))
    table.add_row("deciding", "measured", f"{result.deciding_seconds:.3f} s")
    table.add_row("simulating", "measured", f"{result.simulating_seconds:.3f} s")
    return table


def _summarise_tally(tally: Tally, hosts: int, tau: float) -> Summary:
    makespan = tally.makespan
    allocated = math.fsum(map(mul, tally.sizes, tally.runs()))
    return Summary(
        jobs=tally.jobs,
        states={state: tally.states[state] for state in sorted(tally.states, key=_report_order)},
        hosts=hosts,
        makespan=makespan,
        utilisation=allocated / (hosts * makespan) if hosts and makespan > 0 else None,
        throughput=tally.ran / makespan if makespan > 0 else None,
        mean_wait=_mean(tally.waits(), tally.ran),
        max_wait=max(tally.waits(), default=None),
        mean_bounded_slowdown=_mean(map(partial(bounded_slowdown, bound=tau), tally.waits(), tally.runs()), tally.ran),
        mean_turnaround=_mean(tally.turnarounds(), tally.ran),
    )


def _mean(values: Iterable[float], number: int) -> float | None:
    return math.fsum(values) / number if number else None


def _report_order(state: str) -> tuple[int, str]:
    return (FINAL_STATES.index(state) if state in FINAL_STATES else len(FINAL_STATES)), state


def _add_duration(table: Table, name: str, seconds: float | None) -> None:
    if seconds is None:
        table.add_row(name, NOTHING)
    else:
        table.add_row(name, clock(seconds), f"{seconds:z.3f} s")


def _number(value: float | None, scale: float, spelling: str, unit: str) -> str:
    return NOTHING if value is None else f"{value * scale:z{spelling}}{unit}"

"""The figures that schedules are compared by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from operator import mul
from typing import Final

from msgspec import Struct

from batsched_py.reporting.formatting.final_states import FINAL_STATES
from batsched_py.simulator.records import JobRecord, Result, Tally

#: Runs shorter than this count as this long in the bounded slowdown, in seconds (Feitelson et al., JSSPP 1997).
SLOWDOWN_BOUND: Final = 10.0


class Metrics(Struct, frozen=True):
    """The figures of a schedule that `simulate` shows; docs/metrics.md defines each, `measure_run` has more of them.

    A job *ran* if it was not rejected, whatever its final state: means and maxima are over these jobs. A figure that
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


class Summary(Struct, frozen=True):
    """The figures of a run: those of its schedule, and what it took.

    Attributes:
        metrics: of the schedule; the same input gives the same figures.
        joules: consumed by all hosts from the first submission to the last completion; 0 if energy was not counted.
        messages: number of requests that were answered.
        deciding_seconds: measured time inside the decision process; differs from run to run.
        simulating_seconds: measured time inside the simulator; differs from run to run.
    """

    metrics: Metrics
    joules: float
    messages: int
    deciding_seconds: float
    simulating_seconds: float


def summarise(result: Result) -> Summary:
    """The figures of a simulation."""
    metrics = measure_tally(result.counted(), result.host_count)
    return Summary(metrics, result.joules, result.messages, result.deciding_seconds, result.simulating_seconds)


def measure(records: Iterable[JobRecord], hosts: int, tau: float = SLOWDOWN_BOUND) -> Metrics:
    """The figures of a schedule on `hosts` hosts, from the records of its jobs in any order.

    Runs shorter than `tau` seconds count as `tau` in the bounded slowdown.
    """
    return measure_tally(Tally.of(records, hosts), hosts, tau)


def measure_tally(tally: Tally, hosts: int, tau: float = SLOWDOWN_BOUND) -> Metrics:
    """As `measure`, from the numbers of the jobs."""
    makespan = tally.makespan
    allocated = math.fsum(map(mul, tally.sizes, tally.runs()))
    return Metrics(
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


def bounded_slowdown(wait: float, run: float, bound: float = SLOWDOWN_BOUND) -> float:
    """How many times longer than its run a job was in the system, runs below `bound` seconds counting as `bound`."""
    return max(1.0, (wait + run) / max(run, bound))


def _report_order(state: str) -> tuple[int, str]:
    return (FINAL_STATES.index(state) if state in FINAL_STATES else len(FINAL_STATES)), state

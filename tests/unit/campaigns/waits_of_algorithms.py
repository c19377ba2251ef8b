"""Comparisons whose values are chosen: one job waits on each workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from batsched_py.campaigns.comparison import AlgorithmComparison, compare_algorithms
from batsched_py.campaigns.metrics import find_metrics
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.study import Study
from batsched_py.campaigns.variant import Variant
from batsched_py.reporting.api import Schedule, measure_run
from tests.unit.reporting.records import record


def outcome(workload: str, variant: str, wait: float, *, ran: str = "", succeeded: str = "") -> Outcome:
    """Return the outcome of one job of 10 s that waited, on one of two hosts."""
    ran_once = record("a", submit=0.0, start=wait, finish=wait + 10.0)
    metrics = measure_run(Schedule(variant, (ran_once,), hosts=2, batsim_row={}))
    return Outcome(workload, variant, metrics=metrics, ran=ran, succeeded=succeeded)


def compared(waits: Mapping[str, Sequence[float]], *metrics: str, failed: str = "") -> AlgorithmComparison:
    """Compare algorithms of these waits, one for each workload; `failed` fails on the first workload."""
    workloads = tuple(f"w{number}" for number in range(max(map(len, waits.values()))))
    outcomes = [
        Outcome(workload, name, error="it failed", exit_code=3)
        if name == failed and not number
        else outcome(workload, name, waits[name][number])
        for number, workload in enumerate(workloads)
        for name in waits
    ]
    study = Study(workloads, tuple(Variant(name, "easy", {"order": name}) for name in waits), tuple(outcomes))
    return compare_algorithms(study, find_metrics(metrics or ("mean_wait",)), resamples=200)

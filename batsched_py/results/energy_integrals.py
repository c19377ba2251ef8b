"""Integrals over the trace of a run's energy."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable

from batsched_py.model.step_signal import KWH, StepSignal
from batsched_py.results.tracing import EnergyRows


def energy_span(submissions: Iterable[float], ends: Iterable[float]) -> tuple[float, float]:
    """Return begin and end of the time for which a whole run is measured: its first submission, and its last end.

    `submissions` are those of all jobs, rejected ones included; `ends` are those of the jobs that ran. Without jobs it
    is empty, at 0.
    """
    begin = min(submissions, default=0.0)
    return begin, max(ends, default=begin)


def joules_at(rows: EnergyRows, time: float) -> float:
    """Interpolate the joules at a time: between two rows the power is constant."""
    above = bisect_left(rows.times, time)
    if above == len(rows.times):
        return rows.joules[-1]
    before, joules = (rows.times[above - 1], rows.joules[above - 1]) if above else (0.0, 0.0)
    span = rows.times[above] - before
    return joules + (rows.joules[above] - joules) * ((time - before) / span if span else 0.0)


def weighted(rows: EnergyRows, signal: StepSignal, begin: float, end: float) -> float:
    """Return the integral of power times a signal from `begin` to `end`, in its quantity; of a trace that has rows.

    Between two rows the power is constant; there is one at each start and end of a job and at each change of a power
    state, so that this is exact.
    """
    parts = list[float]()
    for place, (time, value) in enumerate(zip(signal.times, signal.values, strict=True)):
        until = signal.times[place + 1] if place + 1 < len(signal.times) else end
        first, last = max(time, begin), min(until, end)
        if first < last:
            parts.append(value * max(joules_at(rows, last) - joules_at(rows, first), 0.0) / KWH)
    return math.fsum(parts)

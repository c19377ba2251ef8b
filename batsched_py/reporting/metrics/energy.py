"""The energy of all hosts of a run, as Batsim counts it."""

from __future__ import annotations

import math
from bisect import bisect_left

from batsched_py.model.step_signal import KWH, StepSignal
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.tracing import JOB_ENDED, EnergyRows


def consumed_energy(schedule: Schedule) -> float | None:
    """Return the energy of all hosts in joules, from `_schedule.csv`, else from the trace; None if neither has it."""
    if not is_counted(schedule):
        return None
    written = schedule.batsim_row.get("consumed_joules")
    joules = traced_energy(schedule) if written is None else float(written)
    return None if joules is None else max(0.0, joules)


def energy_between(schedule: Schedule, begin: float, end: float) -> float | None:
    """Return the energy of all hosts from `begin` to `end` in joules, from the trace; None without a trace."""
    rows = schedule.consumed_energy
    if rows is None or not rows.times:
        return None
    return max(_joules_at(rows, end) - _joules_at(rows, begin), 0.0)


def weighted_energy(schedule: Schedule, signal: StepSignal, begin: float, end: float) -> float | None:
    """Return the integral of power times a signal from `begin` to `end`, in its quantity; None without a trace.

    Between two rows of the trace the power is constant, as for `energy_between`; a row is at each start and end of a
    job and at each change of a power state, so that this is exact.
    """
    if schedule.consumed_energy is None or not schedule.consumed_energy.times:
        return None
    parts = list[float]()
    for place, (time, value) in enumerate(zip(signal.times, signal.values, strict=True)):
        until = signal.times[place + 1] if place + 1 < len(signal.times) else end
        first, last = max(time, begin), min(until, end)
        if first < last:
            parts.append(value * (energy_between(schedule, first, last) or 0.0) / KWH)
    return math.fsum(parts)


def traced_energy(schedule: Schedule) -> float | None:
    """Return the traced energy from the first submission to the last completion in joules.

    0 if energy was not counted, None if it was counted but not traced. Before the first completion Batsim counts -1 J.
    """
    rows = schedule.consumed_energy
    if rows is None:
        return None if is_counted(schedule) else 0.0
    first = min((record.job.submit_time for record in schedule.jobs), default=0.0)
    if not rows.joules:
        return None if first else -1.0
    ends = [joules for joules, kind in zip(rows.joules, rows.kinds, strict=True) if kind == JOB_ENDED]
    return (ends[-1] if ends else -1.0) - _joules_at(rows, first)


def is_counted(schedule: Schedule) -> bool:
    """Return True if energy was counted."""
    return schedule.consumed_energy is not None or any(record.energy >= 0 for record in schedule.jobs)


def _joules_at(rows: EnergyRows, time: float) -> float:
    """Interpolate the joules at a time: between two rows the power is constant."""
    above = bisect_left(rows.times, time)
    if above == len(rows.times):
        return rows.joules[-1]
    before, joules = (rows.times[above - 1], rows.joules[above - 1]) if above else (0.0, 0.0)
    span = rows.times[above] - before
    return joules + (rows.joules[above] - joules) * ((time - before) / span if span else 0.0)

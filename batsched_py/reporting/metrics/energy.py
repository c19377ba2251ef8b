"""The energy of all hosts of a run, as Batsim counts it."""

from __future__ import annotations

from batsched_py.model.step_signal import StepSignal
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.energy_integrals import joules_at, weighted
from batsched_py.results.tracing import JOB_ENDED


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
    return max(joules_at(rows, end) - joules_at(rows, begin), 0.0)


def weighted_energy(schedule: Schedule, signal: StepSignal, begin: float, end: float) -> float | None:
    """Return the integral of power times a signal from `begin` to `end`, in its quantity; None without a trace.

    The trace is that of `weighted`.
    """
    if schedule.consumed_energy is None or not schedule.consumed_energy.times:
        return None
    return weighted(schedule.consumed_energy, signal, begin, end)


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
    return (ends[-1] if ends else -1.0) - joules_at(rows, first)


def is_counted(schedule: Schedule) -> bool:
    """Return True if energy was counted."""
    return schedule.consumed_energy is not None or any(record.energy >= 0 for record in schedule.jobs)

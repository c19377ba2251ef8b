"""Schedules for tests of pictures."""

from __future__ import annotations

from array import array
from typing import Any

from batsched_py.reporting.api import Schedule
from batsched_py.results.records import JobRecord
from batsched_py.results.tracing import EnergyRows, StateRows
from tests.unit.reporting.records import record, rejected

#: Two jobs at once, one that waits for both on hosts that are not neighbours, one that was rejected.
FOUR = (
    record("a", submit=0, start=0, finish=100, hosts="0-1"),
    record("b", submit=10, start=10, finish=60, hosts="3", state="COMPLETED_WALLTIME_REACHED"),
    record("c", submit=20, start=100, finish=200, hosts="0 2-3", workload="w1"),
    rejected("d", submit=30),
)


def schedule(*jobs: JobRecord, hosts: int = 4, name: str = "run", traced: bool = False) -> Schedule:
    """A schedule of these jobs, by default FOUR; with traces of states and energy if wanted."""
    states = energy = None
    if traced:
        states = StateRows(array("d", [0.0, 50.0, 200.0]), array("L", [1, 0, 0, 1, 2, 0, 0, 0, 1, 3, 4, 0, 0, 0, 0]))
        energy = EnergyRows(array("d", [0.0, 100.0, 200.0]), array("d", [0.0, 1e6, 1.5e6]), ["s", "e", "e"])
    file = f"{name}_jobs.csv"
    return Schedule(name, jobs or FOUR, hosts, {}, machine_states=states, consumed_energy=energy, source=file)


def line(axes: Any, number: int = 0) -> list[tuple[float, float]]:
    """The points of a line that was drawn."""
    return [(float(x), float(y)) for x, y in axes.lines[number].get_xydata()]

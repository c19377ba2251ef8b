"""Batsim's metrics, computed from the jobs, against the `_schedule.csv` that real Batsim wrote beside them."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import asdict, replace

from batsched_py.reporting.api import Schedule, batsim_metrics, read_schedule
from batsched_py.reporting.metrics.energy import consumed_energy, traced_energy
from batsched_py.results.tracing import JOB_ENDED, JOB_STARTED, EnergyRows
from tests.clone import files
from tests.unit.reporting.records import record, rejected

RUNS: Final = [path.parent for path in files("tests/data/batsim/*/out_schedule.csv")]
#: Hosts were unavailable for a time: what they were meanwhile is in no file.
UNKNOWN: Final = {"o19_machine_events": "time_"}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_all_metrics_are_batsims_to_6_digits(run: Path) -> None:
    """Read from the recorded files of Batsim 4.2.1."""
    schedule = read_schedule(run)
    found = asdict(batsim_metrics(schedule))
    told = {name: text for name, text in schedule.batsim_row.items() if name in found}
    assert len(told) == len(found)
    for name, text in told.items():
        if name.startswith(UNKNOWN.get(run.name, "nothing")):
            assert found[name] is None
        else:
            assert found[name] == pytest.approx(float(text), rel=1e-6, abs=1e-6), name


def test_there_are_recordings() -> None:
    """Otherwise the test above shows nothing."""
    assert len(RUNS) >= 18


def test_a_rejected_job_counts_as_0_in_a_mean() -> None:
    """As in Batsim; a job that no row tells of, too."""
    run = Schedule("run", (record(submit=0, start=6, finish=18), rejected()), 4, {}, unlisted=1)
    found = batsim_metrics(run)
    assert (found.mean_waiting_time, found.mean_turnaround_time, found.mean_slowdown) == (2.0, 6.0, 0.5)
    assert (found.nb_jobs, found.nb_jobs_rejected, found.max_waiting_time) == (3, 2, 6.0)


def test_without_jobs_all_is_0() -> None:
    """As Batsim writes it."""
    found = batsim_metrics(Schedule("run", (), 4, {}))
    assert (found.makespan, found.mean_slowdown, found.success_rate, found.time_idle) == (0, 0, 0, 0)


def test_energy_without_jobs_is_from_the_start() -> None:
    """The trace comes with a file of jobs that has no row."""
    rows = EnergyRows(
        array("d", [2.0, 7.0]), array("d", [10.0, 60.0]), [JOB_STARTED, JOB_ENDED], array("d", [0.0, 0.0])
    )
    assert traced_energy(Schedule("run", (), 4, {}, consumed_energy=rows)) == 60.0


def test_energy_without_a_job_that_ran_is_batsims_minus_one() -> None:
    """Counted from the first submission; no file tells what was consumed until then. Nobody consumed less than 0."""
    none = EnergyRows(array("d"), array("d"), [], array("d"))
    run = Schedule("run", (rejected(),), 4, {"consumed_joules": "-1.000000"}, consumed_energy=none)
    assert (traced_energy(run), consumed_energy(run)) == (-1.0, 0.0)
    assert traced_energy(replace(run, jobs=(rejected(submit=3.0),))) is None


def test_energy_that_was_counted_and_not_traced_is_unknown() -> None:
    """It is what the schedule's file says; 0 would be wrong."""
    run = Schedule("run", (replace(record(), energy=5.0),), 4, {})
    assert batsim_metrics(run).consumed_joules is None
    assert (batsim_metrics(run).nb_machine_switches, consumed_energy(run)) == (None, None)
    assert consumed_energy(replace(run, batsim_row={"consumed_joules": "77.5"})) == 77.5


def test_energy_that_was_not_counted_is_none() -> None:
    """Batsim writes 0 for it."""
    run = Schedule("run", (record(),), 4, {"consumed_joules": "0.000000"})
    assert (consumed_energy(run), batsim_metrics(run).consumed_joules) == (None, 0.0)

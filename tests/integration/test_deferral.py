"""Jobs that are deferred by a signal, and the emissions of runs: computed by hand."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from batsched_py.errors import OptionError
from batsched_py.model.step_signal import parse_signal
from batsched_py.plugins import load
from batsched_py.reporting.api import Schedule, measure_run
from batsched_py.reporting.metrics.machine_groups import EnergySignals
from batsched_py.results.tracing import EnergyRows
from batsched_py.session.session import Session
from batsched_py.testing import Case
from tests.drawing import given_once
from tests.integration.test_orders import schedule
from tests.integration.variants import SIGNAL, SPECS, workload
from tests.recorded_run import RecordedRun
from tests.unit.reporting.records import record

GRID = b"time,gCO2/kWh\n0,500\n3600,100\n7200,500\n"


def starts(folder: Path, max_delay: float, *specs: tuple[int, int, int, int], name: str = "easy") -> list[float]:
    """Return the starts of jobs on one host with a threshold of 200 gCO2/kWh."""
    (folder / "grid.csv").write_bytes(GRID)
    options = {"signal": str(folder / "grid.csv"), "signal_threshold": "200", "max_delay": str(max_delay)}
    recorded = RecordedRun(name, options)
    recorded.run([workload(list(specs))], on=Case(hosts=1).platform())
    return [each.start for each in recorded.by_submission()]


@pytest.mark.parametrize("name", ["easy", "conservative", "backfill", "easy_plus_plus"])
def test_jobs_wait_until_the_signal_falls_or_for_the_longest_delay(name: str, tmp_path: Path) -> None:
    """At 0 it is high until 3600, at 4000 low, from 7200 on high for ever."""
    specs = [(0, 1, 10, 10), (4000, 1, 10, 10), (8000, 1, 10, 10)]
    assert starts(tmp_path, 7200, *specs, name=name) == [3600, 4000, 15200]
    assert starts(tmp_path, 600, *specs, name=name) == [600, 4000, 8600]
    assert starts(tmp_path, 0, *specs, name=name) == [0, 4000, 8000]


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_a_released_job_is_served_behind_those_that_were_released_before(name: str, tmp_path: Path) -> None:
    """The first two are released at 2000 and 2200; the third, submitted last, when the signal falls, at 3600."""
    specs = [(1000, 1, 1900, 1900), (1200, 1, 100, 100), (3000, 1, 50, 50)]
    assert starts(tmp_path, 1000, *specs, name=name) == [2000, 3900, 4000]


@pytest.mark.parametrize("name", ["easy", "conservative"])
@given_once(SPECS)
def test_no_job_of_an_empty_machine_waits_longer_than_the_longest_delay(
    name: str, specs: list[tuple[int, int, int, int]]
) -> None:
    """Without the option, the last job ends at most this much earlier."""
    options = {"signal": SIGNAL, "signal_threshold": "200", "max_delay": "5"}
    one = [specs[0]]
    (alone,) = schedule(name, options, workload(one))
    assert alone.start - one[0][0] <= 5
    assert len(schedule(name, options, workload(specs))) == len(specs)


def test_options_are_given_together(tmp_path: Path) -> None:
    """A threshold without a signal would mean nothing."""
    with pytest.raises(OptionError, match="signal, signal_threshold and max_delay are given together"):
        Session(load("easy"), {"max_delay": "5"})
    options = {"signal": SIGNAL, "signal_threshold": "1", "max_delay": "5"}
    with pytest.raises(OptionError, match="signal is not for ar_preempt"):
        Session(load("ar_preempt"), options)


def test_emissions_and_cost_are_integrals_of_power() -> None:
    """360 W from 0 to 5400 s, then 720 W until 9000 s: 0.36 and 0.18 kWh, then 0.36 and 0.36 kWh."""
    rows = EnergyRows(array("d", [0.0, 5400.0, 9000.0]), array("d", [0.0, 1.944e6, 4.536e6]), ["s", "e", "e"])
    first = record("1", submit=0, start=0, finish=5400, hosts="0")
    jobs = (first, record("2", submit=0, start=5400, finish=9000, hosts="0"))
    run = Schedule("run", jobs, 1, {}, consumed_energy=rows)
    price = parse_signal("price.csv", b"time,EUR/kWh\n0,0.5\n")
    found = measure_run(run, signals=EnergySignals(parse_signal("grid.csv", GRID), price))
    assert found.carbon == pytest.approx(0.36 * 500 + (0.18 + 0.36) * 100 + 0.36 * 500)
    assert found.energy_cost == pytest.approx(1.26 * 0.5)
    assert (measure_run(run).carbon, measure_run(run).energy_cost) == (None, None)
    untraced = Schedule("run", jobs, 1, {})
    assert measure_run(untraced, signals=EnergySignals(price=price)).energy_cost is None

"""Jobs that are deferred by a signal, and the emissions of runs: computed by hand."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import pytest

from batsched_py.errors import OptionError
from batsched_py.model.settings import Settings
from batsched_py.model.step_signal import parse_signal
from batsched_py.plugins import load
from batsched_py.reporting.api import Schedule, measure_run
from batsched_py.reporting.metrics.machine_groups import EnergySignals
from batsched_py.results.tracing import EnergyRows
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
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


#: Submission, hosts, run time and start on four hosts of which jobs may have two while the signal is high.
LIMITED = [
    ((0, 2, 1000, 1000), 0),
    ((10, 2, 100, 100), 1000),  # when the first has ended
    ((20, 1, 100, 100), 1100),
    ((30, 3, 10, 10), 1830),  # too large for the limit: after the longest delay
    ((7100, 4, 300, 300), 7100),  # the signal is low, and it continues when that rises
    ((7150, 4, 10, 10), 8950),  # was promised 7400, and is deferred then
    ((7160, 1, 10, 10), 7400),
]


@pytest.mark.parametrize("name", ["easy", "conservative", "backfill", "easy_plus_plus"])
@pytest.mark.parametrize("reserve", ["counts", "hosts"])
def test_jobs_have_few_hosts_while_the_signal_is_high(name: str, reserve: str, tmp_path: Path) -> None:
    """At most two, but for those that have waited for 1800 s."""
    (tmp_path / "grid.csv").write_bytes(GRID)
    options = {"signal": str(tmp_path / "grid.csv"), "signal_threshold": "200", "max_delay": "1800"}
    recorded = RecordedRun(name, {**options, "signal_hosts": "2", "reserve": reserve})
    recorded.run([workload([spec for spec, _ in LIMITED])], on=Case(hosts=4).platform())
    assert [each.start for each in recorded.by_submission()] == [start for _, start in LIMITED]


@given_once(SPECS)
def test_the_limit_of_hosts_holds_for_all_jobs_within_the_longest_delay(specs: list[tuple[int, int, int, int]]) -> None:
    """The signal is high until 8 and from 20 s on: what starts then fits into three hosts with what runs."""
    options = {"signal": SIGNAL, "signal_threshold": "200", "max_delay": "9", "signal_hosts": "3"}
    records = schedule("easy", options, workload(specs))
    assert len(records) == len(specs)
    for each in records:
        high, early = not 8 <= each.start < 20, each.start < each.job.submit_time + 9
        if high and early:
            running = [one for one in records if one.start <= each.start < one.finish or one is each]
            assert sum(one.job.size for one in running) <= 3


def test_hosts_are_not_woken_for_jobs_that_are_deferred(tmp_path: Path) -> None:
    """With wake_for=queue hosts are woken for all that wait, but for the second job not before it is released."""
    (tmp_path / "grid.csv").write_bytes(GRID)
    options = {"signal": str(tmp_path / "grid.csv"), "signal_threshold": "200", "max_delay": "100"}
    session = Session(load("easy_idle_sleeper"), {**options, "wake_for": "queue", "idle_time": "0"})
    woken: list[tuple[float, str]] = []

    def answer(request: bytes) -> bytes:
        reply = session.answer(request)
        states = [event["data"] for event in json.loads(reply)["events"] if event["type"] == "SET_RESOURCE_STATE"]
        woken.extend((session.now, state["resources"]) for state in states if state["state"] == "0")
        return reply

    jobs = workload([(0, 2, 5, 5), (50, 4, 5, 5)])
    Simulation(Case(hosts=8, energy=True).platform(), [jobs], Settings(energy=True)).run(answer)
    assert woken == [(100, "6-7"), (150, "0-3")]


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
    with pytest.raises(OptionError, match="signal_hosts is for a signal"):
        Session(load("easy"), {"signal_hosts": "5"})
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

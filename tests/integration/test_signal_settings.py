"""Carbon intensity and price as settings of `simulate`, `compare`, a campaign and the library: computed by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Final

import pytest

from batsched_py.campaigns import Settings, simulate
from batsched_py.cli.main import run
from batsched_py.errors import ConfigurationError
from batsched_py.model.step_signal import parse_signal
from tests.clone import ROOT
from tests.studies import STUDY, planned

#: One host that draws 360 W whatever it does.
PLATFORM: Final = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<host id="master_host" speed="1Gf"><prop id="wattage_per_state" value="0:0:0"/></host>
<host id="a" speed="1Gf"><prop id="wattage_per_state" value="360:360:360"/></host>
</zone></platform>
"""
#: Runs from 0 to 7200: 0.36 kWh at 500 g, and as much at 100 g.
WORKLOAD: Final = {
    "nb_res": 1,
    "jobs": [{"id": "1", "subtime": 0, "res": 1, "walltime": 9000, "profile": "d"}],
    "profiles": {"d": {"type": "delay", "delay": 7200}},
}
GRID: Final = b"time,gCO2/kWh\n0,500\n3600,100\n"
PRICE: Final = b"time,EUR/kWh\n0,0.5\n"
GRAMS, EUROS = 0.36 * 500 + 0.36 * 100, 0.72 * 0.5
SIGNALS: Final = ["--carbon", "grid.csv", "--price", "price.csv"]
FILES: Final = ["-p", "p.xml", "-w", "w.json", "-s", "fcfs"]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.xml").write_text(PLATFORM)
    Path("w.json").write_text(json.dumps(WORKLOAD))
    Path("grid.csv").write_bytes(GRID)
    Path("price.csv").write_bytes(PRICE)


def test_simulate_shows_emissions_and_cost_and_describes_their_files(capsys: pytest.CaptureFixture[str]) -> None:
    """With the jobs' rows passed to a file as they end, and `metrics` finds the same in these files."""
    assert run(["simulate", *FILES, "-E", *SIGNALS, "-e", "out"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"carbon emissions {GRAMS:.1f} gCO2" in shown
    assert f"cost of energy {EUROS:.2f} EUR" in shown
    described = {file["role"]: file["path"] for file in json.loads(Path("out_run.json").read_text())["files"]}
    assert (described["carbon"], described["price"]) == ("grid.csv", "price.csv")
    assert run(["metrics", "out", *SIGNALS, "--format", "csv"]) == 0
    [measured] = csv.DictReader(capsys.readouterr().out.splitlines())
    assert float(measured["carbon"]) == pytest.approx(GRAMS)
    assert float(measured["energy_cost"]) == pytest.approx(EUROS)


def test_a_signal_is_not_read_because_results_name_it(capsys: pytest.CaptureFixture[str]) -> None:
    """A warning names it, and its metric is undefined: results may come from anybody."""
    assert run(["simulate", *FILES, "-E", *SIGNALS, "-e", "out", "--quiet"]) == 0
    capsys.readouterr()
    assert run(["metrics", "out", "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    [measured] = csv.DictReader(out.splitlines())
    assert (measured["carbon"], measured["energy_cost"]) == ("", "")
    first, second = err.splitlines()
    assert "carbon is not measured: the run had grid.csv, which metrics --carbon takes" in first
    assert "energy_cost is not measured: the run had price.csv, which metrics --price takes" in second
    assert run(["metrics", "out", *SIGNALS, "--format", "csv"]) == 0
    assert capsys.readouterr().err == ""


def test_a_run_is_measured_from_its_first_submission_on(capsys: pytest.CaptureFixture[str]) -> None:
    """Also if that job was rejected: `simulate` and `metrics` say the same."""
    job = {"res": 1, "walltime": 9000, "profile": "d"}
    late, large = {**job, "id": "2", "subtime": 1800}, {**job, "id": "1", "subtime": 0, "res": 2}
    Path("w.json").write_text(json.dumps({**WORKLOAD, "jobs": [large, late]}))
    assert run(["simulate", *FILES, "-E", *SIGNALS, "--allow-oversized-jobs", "-e", "out"]) == 0
    grams = 0.36 * 500 + 0.54 * 100
    assert f"carbon emissions {grams:.1f} gCO2" in " ".join(capsys.readouterr().out.split())
    assert run(["metrics", "out", *SIGNALS, "--format", "csv"]) == 0
    [measured] = csv.DictReader(capsys.readouterr().out.splitlines())
    assert float(measured["carbon"]) == pytest.approx(grams)


def test_compare_shows_the_metrics_of_its_signals(capsys: pytest.CaptureFixture[str]) -> None:
    """By default too, and in its files."""
    assert run(["compare", *FILES, "-s", "easy", "-E", *SIGNALS, "--csv", "runs.csv"]) == 0
    shown = capsys.readouterr().out
    assert "carbon emissions [gCO2]" in shown
    assert "cost of energy" in shown
    with Path("runs.csv").open() as rows:
        for row in csv.DictReader(rows):
            assert float(row["carbon"]) == pytest.approx(GRAMS)
            assert float(row["energy_cost"]) == pytest.approx(EUROS)


def test_the_library_measures_by_the_settings() -> None:
    """Without a trace that was asked for."""
    settings = Settings(energy=True, carbon=parse_signal("grid.csv", GRID))
    measured = simulate("p.xml", "w.json", "fcfs", settings=settings).metrics
    assert measured.carbon == pytest.approx(GRAMS)
    assert measured.energy_cost is None


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["simulate", *FILES, "--carbon", "grid.csv"], "'--carbon' goes with '-E'"),
        (["simulate", *FILES, "-E", "--carbon", "price.csv"], "price.csv: line 1: must be in gCO2/kWh, not in EUR/kWh"),
        (["simulate", *FILES, "-E", "--price", "none.csv"], "none.csv: cannot be read"),
        (["simulate", *FILES, "-E", "--price", "price.csv", "--record", "price.csv"], "price.csv"),
        (["compare", *FILES, "-E", "--csv", "grid.csv", "--carbon", "grid.csv"], "grid.csv"),
        (["compare", *FILES, "--carbon", "grid.csv"], "'--carbon' goes with '-E'"),
        (["compare", *FILES, "-E", "--metrics", "energy_cost"], "'--metrics energy_cost' goes with '--price'"),
    ],
)
def test_what_does_not_go_is_one_line(capsys: pytest.CaptureFixture[str], words: list[str], line: str) -> None:
    """Nothing is simulated, and no input is overwritten."""
    assert run(words) == 2
    [told] = capsys.readouterr().err.splitlines()
    assert line in told
    assert (Path("grid.csv").read_bytes(), Path("price.csv").read_bytes()) == (GRID, PRICE)


def test_a_campaign_reads_signals_which_are_part_of_its_keys(tmp_path: Path) -> None:
    """Another content makes other runs; several files are several settings."""
    (tmp_path / "grid.csv").write_bytes(GRID)
    (tmp_path / "price.csv").write_bytes(PRICE)
    text = STUDY.replace("p.xml", str(ROOT / "platforms" / "energy16.xml"))
    text = text.replace("[[alg", "[settings]\nenergy = true\ncarbon = 'grid.csv'\nprice = 'price.csv'\n[[alg", 1)
    first = planned(tmp_path, text)
    signals = first.settings[0].environment.signals
    assert signals.carbon == parse_signal(str(tmp_path / "grid.csv"), GRID)
    assert signals.price == parse_signal(str(tmp_path / "price.csv"), PRICE)
    (tmp_path / "grid.csv").write_bytes(GRID.replace(b"500", b"400"))
    again = planned(tmp_path, text)
    assert not {run.key for run in first.runs} & {run.key for run in again.runs}
    with pytest.raises(ConfigurationError, match=r"settings\.carbon: goes with energy = true"):
        planned(tmp_path, text.replace("energy = true\n", ""))

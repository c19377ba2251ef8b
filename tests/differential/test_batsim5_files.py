"""The files of recorded runs of Batsim 5: the recorded replies give the same ones, where messages take time."""

from __future__ import annotations

import csv
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from batsched_py.results.records import Result
from batsched_py.results.result_files import write_jobs, write_schedule
from batsched_py.results.trace_files import (
    UNAVAILABLE_COLUMN,
    write_consumed_energy,
    write_machine_states,
    write_pstate_changes,
)
from batsched_py.results.tracing import Trace
from tests.clone import ROOT, files
from tests.differential.recorded5 import Recorded5
from tests.differential.their_side import Prompter

DATA = ROOT / "tests" / "data" / "batsim5"
#: Its walltimes are longer than the clock of the simulator goes.
TOO_LONG = {"numbers"}
RUNS = sorted({path.name.partition(".")[0] for path in files("tests/data/batsim5/*.jobs.csv")} - TOO_LONG)
#: Runs in which the client registers jobs: Batsim 5 writes that they have consumed 0 J, if energy is not counted.
REGISTERING = {run for run in RUNS if run.startswith("dyn_")}
#: Batsim 5.0.0-rc2 never makes a host idle again whose job has ended.
NEVER_IDLE = {"time_computing", "time_idle"}


@cache
def result(run: str) -> Result:
    """The run with the recorded replies."""
    recorded = Recorded5(DATA / f"{run}.jsonl")
    return recorded.simulation(message_latency=True, trace=True).run(Prompter(recorded))


def trace(run: str) -> Trace:
    """Its trace."""
    found = result(run).trace
    assert found is not None
    return found


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("run", RUNS)
def test_the_jobs_file_is_real_batsims(run: str, tmp_path: Path) -> None:
    """Byte by byte, but for the joules of registered jobs, which nobody counted."""
    write_jobs(tmp_path / "jobs.csv", result(run))
    ours, theirs = (tmp_path / "jobs.csv").read_text(), (DATA / f"{run}.jobs.csv").read_text()
    if run in REGISTERING:
        assert ours != theirs
        ours, theirs = (re.sub(r",(-1|0)\.0{6},$", ",,", text, flags=re.MULTILINE) for text in (ours, theirs))
    assert ours == theirs


def schedule(path: Path) -> dict[str, Any]:
    """The metrics of a run; means of no job are no JSON."""
    read: dict[str, Any] = json.loads(re.sub(r"-?nan", "0.0", path.read_text()))
    return {name: value for name, value in read.items() if name != "batsim_version"}


@pytest.mark.parametrize("run", RUNS)
def test_the_schedule_file_is_real_batsims(run: str, tmp_path: Path) -> None:
    """Its members and their order; their values but for the version and the times of busy and idle hosts."""
    write_schedule(tmp_path / "schedule.json", result(run))
    ours, theirs = schedule(tmp_path / "schedule.json"), schedule(DATA / f"{run}.schedule.json")
    assert list(ours) == list(theirs)
    for name in NEVER_IDLE:
        del ours[name], theirs[name]
    assert ours == theirs


def test_power_states_are_traced_as_by_real_batsim(tmp_path: Path) -> None:
    """Byte by byte."""
    write_pstate_changes(tmp_path / "ours.csv", trace("pstates_energy"))
    assert (tmp_path / "ours.csv").read_text() == (DATA / "pstates_energy.pstate_changes.csv").read_text()


@pytest.mark.parametrize("run", ["probes_energy", "pstates_energy"])
def test_energy_is_traced_as_by_real_batsim(run: str, tmp_path: Path) -> None:
    """Byte by byte, but for the mean power of the 8 ns between two rows."""
    energy = trace(run).energy
    assert energy is not None
    write_consumed_energy(tmp_path / "ours.csv", energy)
    ours, theirs = rows(tmp_path / "ours.csv"), rows(DATA / f"{run}.consumed_energy.csv")
    assert len(ours) == len(theirs)
    for our_row, their_row in zip(ours, theirs, strict=True):
        assert float(our_row.pop("epower")) == pytest.approx(float(their_row.pop("epower")), rel=1e-5)
        assert our_row == their_row


def test_machine_states_are_traced_as_by_real_batsim(tmp_path: Path) -> None:
    """Row by row, but for hosts whose job has ended."""
    states = trace("pstates_energy").states
    assert states is not None
    write_machine_states(tmp_path / "ours.csv", states)
    ours, theirs = rows(tmp_path / "ours.csv"), rows(DATA / "pstates_energy.machine_states.csv")
    for our_row, their_row in zip(ours, theirs, strict=True):
        our_row.pop(UNAVAILABLE_COLUMN, None)
        free, busy = (int(our_row.pop(name)) - int(their_row.pop(name)) for name in ("nb_idle", "nb_computing"))
        assert our_row == their_row
        assert (free, busy) == ((1, -1) if float(our_row["time"]) in (20, 70) else (0, 0))

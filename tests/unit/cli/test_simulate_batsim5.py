"""`simulate --protocol v5`: its own output file, and the options that a program on a socket has to ask for itself."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from batsched_py.cli.main import batsched
from batsched_py.simulator.outputs.result_files import STATES
from tests.clone import ROOT


def simulate(*words: str | Path) -> Result:
    """The command as Batsim 5, with what it printed."""
    common = ["simulate", "-p", ROOT / "platforms" / "tiny4.xml", "-w", ROOT / "workloads" / "first.json", "--quiet"]
    return CliRunner().invoke(batsched, [*map(str, common), "--protocol", "v5", *map(str, words)])


def test_the_schedule_is_written_as_batsim_5_does(tmp_path: Path) -> None:
    """The members of a recorded one, in their order, as JSON."""
    assert simulate("-s", "fcfs", "-e", tmp_path / "out").exit_code == 0
    recorded = json.loads((ROOT / "tests" / "data" / "batsim5" / "fcfs_basic.schedule.json").read_text())
    ours = json.loads((tmp_path / "out_schedule.json").read_text())
    assert list(ours) == list(recorded)
    assert {name: type(value) for name, value in ours.items()} == {
        name: type(value) for name, value in recorded.items()
    }
    assert (ours["nb_jobs"], ours["makespan"]) == (8, 170.0)
    assert all(f"time_{state}" in ours for state in STATES)


def test_dynamic_jobs_are_asked_for_by_the_session(tmp_path: Path) -> None:
    """The options of Batsim 4 say what our own algorithm asks for; a program on a socket asks itself."""
    done = simulate("-s", "submitter", "--enable-dynamic-jobs", "-o", "jobs=1", "-e", tmp_path / "out")
    assert done.exit_code == 0, done.output
    refused = simulate("--socket", "tcp://127.0.0.1:9", "--enable-dynamic-jobs")
    assert refused.exit_code == 2
    assert "asks for dynamic jobs and profiles itself" in " ".join(refused.output.split())

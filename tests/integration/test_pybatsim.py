"""A decision process of somebody else, pybatsim 4.0.0b0, against the simulator as Batsim 5."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clone import ROOT
from tests.integration.programs import run

#: The command of pybatsim, if it is in another environment: it needs Python 3.12.
COMMAND = os.environ.get("PYBATSIM") or shutil.which("pybatsim", path=str(Path(sys.executable).parent))
LISTS = [ROOT / "workloads" / "first.json", ROOT / "tests" / "data" / "batsim5" / "inputs" / "w_many.json"]


def starts(path: Path) -> dict[str, str]:
    """Job -> when it started."""
    with path.open(newline="") as file:
        return {row["job_id"]: row["starting_time"] for row in csv.DictReader(file)}


@pytest.mark.skipif(COMMAND is None, reason="pybatsim 4.0.0b0 (Python 3.12) is not there; PYBATSIM names its command")
@pytest.mark.parametrize("workload", LISTS, ids=lambda path: path.stem)
def test_fcfs_of_pybatsim_runs_to_the_end(workload: Path, tmp_path: Path) -> None:
    """It starts all jobs when our own FCFS does."""
    address = f"ipc://{tmp_path}/socket"
    common = ["simulate", "-p", ROOT / "platforms" / "tiny4.xml", "-w", workload, "--protocol", "v5", "--quiet"]
    with subprocess.Popen([str(COMMAND), "fcfs", "-s", address], stdout=subprocess.DEVNULL) as theirs:
        try:
            told = run(tmp_path, *map(str, [*common, "--socket", address, "-e", tmp_path / "theirs"]))
            assert told.returncode == 0, told.stderr
            assert theirs.wait(timeout=60) == 0
        finally:
            theirs.kill()
    assert run(tmp_path, *map(str, [*common, "-s", "fcfs", "-e", tmp_path / "ours"])).returncode == 0
    assert starts(tmp_path / "theirsjobs.csv") == starts(tmp_path / "oursjobs.csv")

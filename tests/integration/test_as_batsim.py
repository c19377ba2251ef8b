"""The command `batsim`: Batsim's options, files and exit codes, on the embedded simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clone import ROOT
from tests.integration.programs import PATIENCE, run_here

PLATFORM, WORKLOAD = ROOT / "platforms" / "tiny4.xml", ROOT / "workloads" / "first.json"


def batsim(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, as its script does."""
    command = [sys.executable, "-P", "-m", "batsched_py.cli.batsim", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_a_run_writes_batsims_files(tmp_path: Path) -> None:
    """The same as `simulate`, with a decision process of any kind; the prefix is Batsim's."""
    serve = [sys.executable, "-m", "batsched_py", "serve", "-s", "easy", "-b", "ipc://socket", "--quiet"]
    with subprocess.Popen(serve, cwd=tmp_path) as deciding:
        try:
            done = batsim(tmp_path, "-qp", PLATFORM, "-w", WORKLOAD, "-s", "ipc://socket", "--mmax-workload")
            assert (done.returncode, done.stdout) == (0, "")
            assert deciding.wait(timeout=PATIENCE) == 0
        finally:
            deciding.kill()
    ours = ("simulate", "-p", PLATFORM, "-w", WORKLOAD, "-s", "easy", "-e", "ours", "--quiet")
    assert run_here(tmp_path, *map(str, ours)) == 0
    assert (tmp_path / "out_jobs.csv").read_bytes() == (tmp_path / "ours_jobs.csv").read_bytes()


def test_nothing_runs_where_the_context_is_wanted(tmp_path: Path) -> None:
    """It is one JSON object, and no decision process is needed."""
    done = batsim(tmp_path, "-p", PLATFORM, "-w", WORKLOAD, "-e", "x/out", "--dump-execution-context")
    assert json.loads(done.stdout)["export_prefix"] == "x/out"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["-p", PLATFORM, "--nope"], 255, "batsim: error: option --nope not recognized (see batsim --help)"),
        (["-p", "no.xml", "-w", "no.json"], 3, "batsim: error: --platform: no.xml cannot be read"),
        (["-p", PLATFORM, "--WS", "no.dax", "0"], 16, "batsim: error: --workflow-start: no.dax cannot be read"),
        (["-p", PLATFORM, "-w", PLATFORM, "--mmax-workload"], 255, f"batsim: error: {PLATFORM}: "),
    ],
)
def test_exit_codes_are_batsims(tmp_path: Path, arguments: list[object], code: int, line: str) -> None:
    """One line for each fault."""
    done = batsim(tmp_path, *arguments)
    assert done.returncode == code
    assert done.stderr.startswith(line)


def test_help_and_version(tmp_path: Path) -> None:
    """On standard output."""
    assert batsim(tmp_path, "--help").stdout.startswith("usage: batsim -p PLATFORM")
    assert batsim(tmp_path, "--version").stdout.endswith("with the options of Batsim 4.2.1\n")


@pytest.mark.parametrize("name", ["batsched", "batsim"])
def test_output_that_cannot_be_written_is_one_line(name: str) -> None:
    """A full disk is an error; a closed pipe is none, and has no line."""
    command = [sys.executable, "-P", "-m", f"batsched_py.cli.{name}", "--help"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    line = "batsched-py: error: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, line)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")

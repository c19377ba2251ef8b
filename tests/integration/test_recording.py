"""A recording survives what ends the process that writes it: a kill, a full disk."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from batsched_py.transcripts.recorder import GATHERED
from batsched_py.transcripts.transcript import Exchange, Transcript
from tests.builders import begins_data, message, submitted_data
from tests.integration.programs import ENVIRONMENT, PATIENCE, ask, batsim, recorded, run, serving

BEGINS = message(0.0, ("SIMULATION_BEGINS", begins_data()))
REQUESTS = [
    BEGINS,
    *(message(float(time), ("JOB_SUBMITTED", submitted_data(str(time), subtime=time))) for time in range(1, 40)),
]

each_format = pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])

#: Decides like nobody and ends its process in the 700th decision.
KILLED = """
import os, signal
from batsched_py.api import *

class Killed(Scheduler[NoOptions]):
    name = "killed"
    decisions = 0

    def decide(self, view, plan):
        self.decisions += 1
        if self.decisions == 700:
            os.kill(os.getpid(), signal.%s)
        for job in view.queue:
            plan.reject(job, "no")
"""


@each_format
def test_each_exchange_that_left_survives_a_kill(tmp_path: Path, name: str) -> None:
    """The process may end at any point; nothing is torn."""
    with serving(tmp_path, "-s", "fcfs", "--record", name, anew=True) as served, batsim(served.address) as client:
        replies = [ask(client, request) for request in REQUESTS]
        client.send(message(50.0))
        served.process.send_signal(signal.SIGKILL)
        assert served.end()[0] == -signal.SIGKILL
    found = recorded(tmp_path / name)
    assert found[: len(REQUESTS)] == [
        Exchange(number, *both) for number, both in enumerate(zip(REQUESTS, replies, strict=True))
    ]
    assert len(found) <= len(REQUESTS) + 1
    assert run(tmp_path, "replay", name).returncode == 0


@each_format
@pytest.mark.parametrize(("number", "lost"), [("SIGKILL", GATHERED), ("SIGTERM", 1)])
def test_a_simulation_that_is_killed_loses_a_bounded_number(tmp_path: Path, name: str, number: str, lost: int) -> None:
    """No reply left its process: it gathers some exchanges before it writes them, and writes them all if it can."""
    made = run(tmp_path, "generate", "--jobs", "400", "--hosts", "4", "-o", "w.json", "--platform", "p.xml")
    assert made.returncode == 0, made.stderr
    files = ["-p", "p.xml", "-w", "w.json", "-s", "killed.py:Killed", "--quiet"]
    (tmp_path / "killed.py").write_text(KILLED.replace("700", "1_000_000") % number)
    assert run(tmp_path, "simulate", *files, "--record", "whole.jsonl").returncode == 0
    whole = recorded(tmp_path / "whole.jsonl")
    (tmp_path / "killed.py").write_text(KILLED.replace("700", "350") % number)
    assert run(tmp_path, "simulate", *files, "--record", name).returncode != 0
    found = recorded(tmp_path / name)
    assert found == whole[: len(found)]
    assert 349 - lost < len(found) <= 349


@each_format
def test_a_disk_that_fills_ends_the_run_before_the_reply_leaves(tmp_path: Path, name: str) -> None:
    """One line, Batsim is told to stop, and what was recorded is there."""
    with serving(tmp_path, "-s", "fcfs", "--record", name, anew=True) as served, batsim(served.address) as client:
        replies = [ask(client, request) for request in REQUESTS[:5]]
        size = (tmp_path / name).stat().st_size + 20
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (size, size))
        stop = json.loads(ask(client, REQUESTS[5]))
        assert [event["type"] for event in stop["events"]] == ["BATSCHED_PY_STOPPED"]
        assert "cannot be written" in stop["events"][0]["data"]["reason"]
        assert served.end() == (2, [f"batsched-py: error: {name}: cannot be written: File too large"])
    assert (tmp_path / name).stat().st_size <= size
    told: list[str] = []
    found = list(Transcript(tmp_path / name, told.append))
    assert [exchange.reply for exchange in found] == replies
    assert run(tmp_path, "replay", name).returncode == 0


def test_a_disk_that_fills_ends_a_simulation(tmp_path: Path) -> None:
    """Exit code 2 and the file; results are marked, and the recording is readable as far as it goes."""
    made = run(tmp_path, "generate", "--jobs", "400", "--hosts", "4", "-o", "w.json", "--platform", "p.xml")
    assert made.returncode == 0, made.stderr
    program = [sys.executable, "-m", "batsched_py.cli", "simulate", "-p", "p.xml", "-w", "w.json", "-s", "fcfs"]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 100; exec "$@"', "bash", *program, "-e", "out/run", "--record", "run.jsonl"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "batsched-py: error: run.jsonl: cannot be written: File too large\n"
    assert json.loads((tmp_path / "out" / "run_run.json").read_bytes())["failure"] == (
        "run.jsonl: cannot be written: File too large"
    )
    assert (tmp_path / "run.jsonl").stat().st_size == 100 * 1024
    told: list[str] = []
    assert len(list(Transcript(tmp_path / "run.jsonl", told.append))) > 50
    assert len(told) == 1
    assert run(tmp_path, "replay", "run.jsonl").returncode == 0

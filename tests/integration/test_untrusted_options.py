"""Options that a peer or a recording names choose among built-in things; nothing is imported or opened for them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import begins_data, message
from tests.integration.programs import ENVIRONMENT, PATIENCE, ROOT, ask, batsim, run, serving

#: A module that leaves a trace when it is imported.
TRACE = "open('executed', 'w').close()\ndef key(job, now): return 0.0\n"


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder with a module that must not be imported."""
    (tmp_path / "trap.py").write_text(TRACE)
    return tmp_path


def test_nothing_that_a_peer_says_is_imported_or_opened(trap: Path) -> None:
    """Files, modules and paths in profiles, jobs and events; and in each option of each algorithm: one clear line."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.hostile_peer"],
        cwd=trap,
        env={**ENVIRONMENT, "PYTHONPATH": str(ROOT)},  # where the tests' own builders are
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert not (trap / "executed").exists()
    found = json.loads(done.stdout)
    assert found["done"] == []
    assert len(found["errors"]) > 500
    for (name, option, value), line in found["errors"]:
        assert line.startswith(f"sched-config: option {option} of "), (name, option, value, line)
        assert len(line) < 1000
        assert line.isprintable()


@pytest.mark.parametrize("value", ["trap.py:key", "trap:key", "./trap.py:key"])
@pytest.mark.parametrize(
    ("algorithm", "option"),
    [
        *(("easy", option) for option in ("order", "selection", "constraint")),
        *(("placer", option) for option in ("place", "policy", "classes", "allowed_users")),
        *(("leases", option) for option in ("policy_admission", "policy_preemption", "policy_host_selection")),
    ],
)
def test_serve_runs_nothing_that_its_peer_names(trap: Path, algorithm: str, option: str, value: str) -> None:
    """One line, exit code 2, and Batsim is told to stop."""
    with serving(trap, "-s", algorithm) as served, batsim(served.address) as socket:
        config = {"sched-config": json.dumps({option: value})}
        reply = ask(socket, message(0.0, ("SIMULATION_BEGINS", begins_data(config=config))))
        assert b"BATSCHED_PY_STOPPED" in reply
        code, lines = served.end()
    assert code == 2
    assert len(lines) == 1
    assert f"sched-config: option {option} of {algorithm}: " in lines[0]
    assert not (trap / "executed").exists()


def recording(folder: Path, header: dict[str, object], sched_config: str = "") -> None:
    """A recording whose header and whose peer say so."""
    request = message(0.0, ("SIMULATION_BEGINS", begins_data(config={"sched-config": sched_config}))).decode()
    lines = [
        {"format": "batsched-py transcript", "version": 1, **header},
        {"seq": 0, "from": "batsim", "bytes": request},
        {"seq": 0, "from": "scheduler", "bytes": '{"now": 0.0, "events": []}'},
    ]
    (folder / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("name", ["trap.py:key", "trap:key", "installed"])
def test_replay_runs_no_algorithm_that_only_a_recording_names(trap: Path, name: str) -> None:
    """One line that says what to do, exit code 2."""
    recording(trap, {"algorithm": name})
    done = run(trap, "replay", "run.jsonl")
    says = f"its header names {name}, which is not built in: if you trust it, name it with -s, or say --trust-header"
    assert (done.returncode, done.stderr) == (2, f"batsched-py: error: run.jsonl: {says}\n")
    assert not (trap / "executed").exists()


def test_replay_runs_no_function_that_only_a_recording_names(trap: Path) -> None:
    """Neither in its header nor in the configuration that its peer sent, whatever -s says."""
    recording(trap, {"algorithm": "easy", "options": {"order": "trap.py:key"}})
    for arguments in ([], ["-s", "easy"]):
        done = run(trap, "replay", "run.jsonl", *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("batsched-py: error: run.jsonl: its header: option order of easy: must be fcfs |")
    recording(trap, {"algorithm": "easy"}, sched_config='{"order": "trap.py:key"}')
    for arguments in (["-s", "easy"], ["--trust-header"]):
        done = run(trap, "replay", "run.jsonl", *arguments)
        assert done.returncode == 1
        assert "sched-config: option order of easy: must be fcfs |" in done.stdout
    assert not (trap / "executed").exists()


@pytest.mark.parametrize("arguments", [["--trust-header"], ["-o", "order=trap.py:key"], ["-o", "order=trap:key"]])
def test_replay_runs_what_the_command_line_names(trap: Path, arguments: list[str]) -> None:
    """The user's word rules over the header's."""
    recording(trap, {"algorithm": "easy", "options": {"order": "trap.py:key"}})
    done = run(trap, "replay", "run.jsonl", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert (trap / "executed").exists()


def test_nothing_is_imported_from_the_folder_of_a_recording(tmp_path: Path) -> None:
    """A module beside it is not taken for a package that we ask for."""
    (tmp_path / "hiredis.py").write_text(TRACE)
    (tmp_path / "redis.py").write_text(TRACE)
    recording(tmp_path, {"algorithm": "easy"})
    code = (
        "import sys; sys.path = [entry for entry in sys.path if entry]; from batsched_py.cli.main import run;"
        " code = run(['replay', 'run.jsonl']); assert '' not in sys.path;"
        " import os; assert os.getcwd() not in sys.path; sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")

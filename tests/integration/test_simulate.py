"""`batsched-py simulate` as a process: against another decision process, and ended by a signal."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import zmq

from tests.integration.programs import PATIENCE, algorithm, batsim, recorded, run, serving, started


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """A generated platform and workload, as options of simulate."""
    made = run(tmp_path, "generate", "--jobs", "50", "--hosts", "8", "-o", "w.json", "--platform", "p.xml")
    assert made.returncode == 0, made.stderr
    return ["-p", "p.xml", "-w", "w.json"]


def test_another_process_decides_as_we_do_here(tmp_path: Path, files: list[str]) -> None:
    """Over the socket and in process: the same jobs file, and recordings of the same decisions."""
    here = run(tmp_path, "simulate", *files, "-s", "easy", "-e", "here", "--record", "here.jsonl")
    assert here.returncode == 0, here.stderr
    with serving(tmp_path, "-s", "easy", "--record", "served.jsonl") as served:
        there = run(tmp_path, "simulate", *files, "--socket", served.address, "-e", "there", "--record", "there.jsonl")
        assert there.returncode == 0, there.stderr
        assert there.stderr == f"asking the decision process on {served.address}\n"
        code, _ = served.end()
    assert code == 0
    assert (tmp_path / "here_jobs.csv").read_bytes() == (tmp_path / "there_jobs.csv").read_bytes()
    recordings = [recorded(tmp_path / f"{name}.jsonl") for name in ("here", "served", "there")]
    assert recordings[0] == recordings[1] == recordings[2]
    replayed = run(tmp_path, "replay", "there.jsonl", "-s", "easy")
    assert replayed.returncode == 0, replayed.stdout


def test_a_decision_process_that_dies_is_noticed(tmp_path: Path, files: list[str]) -> None:
    """Exit code 4, one line; the files have what there was, and why that is not all."""
    name = algorithm(tmp_path, "for job in view.queue: os._exit(1)")
    with serving(tmp_path, "-s", name) as served:
        done = run(tmp_path, "simulate", *files, "--socket", served.address, "-e", "out/run")
    assert done.returncode == 4
    line = f"the decision process on {served.address} closed the connection before it answered"
    assert done.stderr.splitlines()[1:] == [f"batsched-py: error: {line}"]
    assert json.loads((tmp_path / "out/run_run.json").read_text())["failure"] == line


def test_both_sides_end_when_the_algorithm_fails(tmp_path: Path, files: list[str]) -> None:
    """The failing side says why, the simulator refuses what it was sent."""
    name = algorithm(tmp_path, "for job in view.queue: raise RuntimeError('no')")
    with serving(tmp_path, "-s", name) as served:
        done = run(tmp_path, "simulate", *files, "--socket", served.address)
        code, said = served.end()
    assert (code, done.returncode) == (3, 4)
    assert "RuntimeError: no" in said[0]
    assert "BATSCHED_PY_STOPPED" in done.stderr


def test_both_sides_end_when_a_decision_is_refused(tmp_path: Path, files: list[str]) -> None:
    """A decision process of another make starts a job that does not exist; the simulator stops as Batsim does."""
    with zmq.Context() as context, context.socket(zmq.REP) as foreign:
        foreign.bind("tcp://127.0.0.1:*")
        address = foreign.get_string(zmq.LAST_ENDPOINT)
        with started(tmp_path, "simulate", *files, "--socket", address) as simulation:
            foreign.recv()
            foreign.send(
                b'{"now":0,"events":[{"timestamp":0,"type":"EXECUTE_JOB","data":{"job_id":"w0!nobody","alloc":"0"}}]}'
            )
            _, said = simulation.communicate(timeout=PATIENCE)
    assert simulation.returncode == 3
    assert "nobody" in said.splitlines()[-1]


def test_nobody_who_listens_is_told_after_the_connect_time_out(tmp_path: Path, files: list[str]) -> None:
    """Exit code 4 and the address."""
    with zmq.Context() as context, context.socket(zmq.REP) as gone:
        gone.bind("tcp://127.0.0.1:*")
        address = gone.get_string(zmq.LAST_ENDPOINT)
    done = run(tmp_path, "simulate", *files, "--socket", address, "--connect-timeout", "0")
    assert done.returncode == 4
    assert f"no decision process listens on {address} (waited 0 s)" in done.stderr


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_a_run_and_leaves_what_there_is(tmp_path: Path, files: list[str], number: str, code: int) -> None:
    """At once, in the middle of a decision, whose line is told; the recording is whole up to the exchange before."""
    name = algorithm(tmp_path, f"for job in view.queue: os.kill(os.getpid(), signal.{number})")
    done = run(tmp_path, "simulate", *files, "-s", name, "-e", "out/run", "--record", "run.jsonl")
    assert done.returncode == code
    words = {130: "interrupted", 143: "terminated", 129: "hung up"}
    line = f"{words[code]} ({number}) while mine decided (mine.py:8), t=3541, on JobSubmitted w0!01"
    assert done.stderr.startswith(f"batsched-py: {line}")
    assert len(done.stderr.splitlines()) == 1
    assert json.loads((tmp_path / "out/run_run.json").read_text())["failure"].startswith(line)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        f"run_{name}" for name in ("decisions.csv", "jobs.csv", "machine_states.csv", "run.json", "schedule.csv")
    ]
    assert run(tmp_path, "replay", "run.jsonl", "--trust-header").returncode == 0


def test_a_signal_that_the_parent_ignores_stays_ignored(tmp_path: Path) -> None:
    """As for a process that a shell runs in the background, out of Ctrl-C's reach."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with serving(tmp_path, "-s", "fcfs") as served:
            signal.signal(signal.SIGINT, before)
            served.process.send_signal(signal.SIGINT)
            with batsim(served.address) as client:
                client.send(b"still there?")
                assert b"BATSCHED_PY_STOPPED" in client.recv()
            code, _ = served.end()
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 4

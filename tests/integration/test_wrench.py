"""WRENCH as a client: what it said to batsched in recordings is said to us, with a socket for each message."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from batsched_py.cli.shared.batsched_words import serve_words
from tests.integration.programs import Served, ask, batsim, run_here, serving
from tests.wrench_messages import FOLDER, Exchange, answers_of, read_conversation, request

CASES = sorted(path.stem for path in FOLDER.glob("[0-9]*.txt"))
#: Recorded cases in which batsched keeps a cancelled job in its queue, and starts it later.
GHOSTS = {"12-cancel-waiting-conservative", "32-cancel-then-estimate"}


@contextmanager
def decided(folder: Path, arguments: Sequence[str], *more: str) -> Iterator[Served]:
    """A decision process with batsched's arguments, at a free port."""
    words = serve_words(["-s", "tcp://127.0.0.1:*", *_without_port(arguments)])
    heard = [word for word in words[1:] if word != "--quiet"]
    address = heard.index("-b")
    with serving(folder, *heard[:address], *heard[address + 2 :], *more) as served:
        yield served


def _without_port(arguments: Sequence[str]) -> list[str]:
    place = list(arguments).index("-s")
    return [*arguments[:place], *arguments[place + 2 :]]


def played(address: str, exchanges: Sequence[Exchange]) -> Iterator[tuple[str, ...]]:
    """Yield the answers to each request, which has a connection of its own, as WRENCH's have."""
    for exchange in exchanges:
        with batsim(address) as socket:
            reply = ask(socket, exchange.request)
        yield answers_of(reply)


def stops(reply: str) -> bool:
    """True if a reply makes WRENCH's parser fail, and show all of it."""
    return reply.startswith('"batsched-py: ') and reply.count('"') == 1 and "\\" not in reply and reply.isprintable()


def close(answer: str, other: str) -> bool:
    """True if two answers are equal; dates may differ in the last digits."""
    if answer.startswith("date ") and other.startswith("date "):
        return float(answer[5:]) == pytest.approx(float(other[5:]), abs=1e-5)
    return answer == other


@pytest.mark.parametrize("case", [case for case in CASES if case not in GHOSTS])
def test_decisions_are_those_of_batsched(case: str, tmp_path: Path) -> None:
    """Starts at the same instants on the same hosts, and the same estimates."""
    arguments, exchanges = read_conversation(FOLDER / f"{case}.txt")
    with decided(tmp_path, arguments) as served:
        answers = list(played(served.address, exchanges))
        assert served.end()[0] == 0
    for said, exchange in zip(answers, exchanges, strict=True):
        assert len(said) == len(exchange.answers), (exchange, said)
        pairs = zip(sorted(said), sorted(exchange.answers), strict=True)
        assert all(close(ours, theirs) for ours, theirs in pairs), (exchange, said)


@pytest.mark.parametrize("case", sorted(GHOSTS))
def test_cancelled_jobs_leave_the_queue(case: str, tmp_path: Path) -> None:
    """batsched starts them later; here no job that was cancelled is started, and all others are."""
    arguments, exchanges = read_conversation(FOLDER / f"{case}.txt")
    text = (FOLDER / f"{case}.txt").read_text()
    cancelled = {line.split()[2] for line in text.splitlines() if line.split()[1] == "cancel"}
    with decided(tmp_path, arguments) as served:
        answers = []
        for exchange in exchanges:
            said = exchange.request
            if any(f'"job_id":"{job}"'.encode() in said and b"COMPLETED_SUCC" in said for job in cancelled):
                continue  # the end of a job that was started although it had been cancelled
            answers += [*played(served.address, [exchange])]
        assert served.end()[0] == 0
    started = {one.split()[1] for said in answers for one in said if one.startswith("start")}
    expected = {one.split()[1] for exchange in exchanges for one in exchange.answers if one.startswith("start")}
    assert started == expected - cancelled


def test_failures_end_wrench_with_the_reason(tmp_path: Path) -> None:
    """A text without its end: no JSON, in which WRENCH's parser shows all that it has read."""
    arguments = ("-v", "rejecter", "-s", "tcp://*:1")
    begin, submit = request(0.0, "begin 4 1"), request(0.0, "submit 1 2 1 106.0")
    with decided(tmp_path, arguments) as served:
        with batsim(served.address) as socket:
            assert answers_of(ask(socket, begin)) == ()
        with batsim(served.address) as socket:
            reply = ask(socket, submit).decode()
        code, said = served.end()
    assert stops(reply)
    assert code == 3
    assert any("error" in line for line in said)


#: Recorded accidents of batsched, or of algorithms of which WRENCH ignores decisions -> words of the reason, or "" if
#: the run ends well here.
ACCIDENTS = {
    "13-cancel-waiting-easy_bf_fast": "",
    "33-cancel-waiting-fcfs_fast": "",
    "50-query-twice": "",
    "51-query-id-of-job": "",
    "52-query-fcfs_fast": "",
    "53-query-easy": "",
    "55-wait-estimator": "reject",
    "56-other-crasher": "",
    "56-other-energy_watcher": "wattage_per_state",
    "56-other-killer": "WRENCH ignores kills",
    "56-other-killer2": "WRENCH ignores kills",
    "56-other-random": "--enable-compute-sharing",
    "56-other-rejecter": "reject",
    "56-other-sequencer": "",
}


@pytest.mark.parametrize(("accident", "reason"), ACCIDENTS.items(), ids=list(ACCIDENTS))
def test_accidents_end(accident: str, reason: str, tmp_path: Path) -> None:
    """Each request is answered, until all are, or a reply ends WRENCH; never does it wait for a process that died."""
    arguments, exchanges = read_conversation(FOLDER / f"accident-{accident}.txt")
    stopped = ""
    with decided(tmp_path, arguments) as served:
        for exchange in exchanges:
            with batsim(served.address) as socket:
                reply = ask(socket, exchange.request).decode()
            if not reply.startswith("{"):
                assert stops(reply)
                stopped = reply
                break
        if not stopped and b"SIMULATION_ENDS" not in exchanges[-1].request:
            served.process.terminate()  # as WRENCH does at its end
        code = served.end()[0]
    assert bool(stopped) == bool(reason), stopped
    assert reason in stopped
    assert code in ((2, 3) if stopped else (0, 3, 143))


@pytest.fixture
def shim(tmp_path: Path) -> Path:
    """The command `batsched`."""
    assert run_here(tmp_path, "shims", str(tmp_path / "shims")) == 0
    return tmp_path / "shims" / "batsched"


def test_the_command_is_silent_and_plays_a_run(shim: Path, tmp_path: Path) -> None:
    """Started through PATH with WRENCH's own arguments; modules of the current folder are not loaded."""
    (tmp_path / "click.py").write_text("raise SystemExit(9)\n")
    arguments, exchanges = read_conversation(FOLDER / "04-mix-easy_bf.txt")
    address = f"ipc://{tmp_path}/batsched.ipc"
    words = ["batsched", "-s", address, *_without_port(arguments)]
    path = f"{shim.parent}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen(words, cwd=tmp_path, env={**os.environ, "PATH": path}, stderr=subprocess.PIPE, text=True)
    try:
        answers = list(played(address, exchanges))
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, said) == (0, "")
    assert answers == [exchange.answers for exchange in exchanges]


def test_wrong_options_end_the_command(shim: Path) -> None:
    """With an exit code and a line, before anything listens."""
    done = subprocess.run([shim, "-v", "fast_conservative_bf"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("batsched: error: --variant: must be one of ")
    assert done.stderr.count("\n") == 1

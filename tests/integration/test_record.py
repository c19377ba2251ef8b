"""`batsched-py record` between real processes: the simulator, serve, and programs that misbehave."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zmq

from batsched_py.protocol.stopping import STOP_EVENT
from batsched_py.transcripts.transcript import Exchange
from tests.builders import begins_data, message, submitted_data
from tests.integration.programs import PATIENCE, Served, ask, batsim, recorded, run, serving, started

BEGINS = message(0.0, ("SIMULATION_BEGINS", begins_data()))
SUBMITTED = message(1.0, ("JOB_SUBMITTED", submitted_data("1", 2)))
ENDS = message(2.0, ("SIMULATION_ENDS", {}))


@contextmanager
def between(folder: Path, address: str, *arguments: str, anew: bool = False) -> Iterator[Served]:
    """`record` in front of the decision process on this address, once it listens."""
    files = arguments if any("jsonl" in argument for argument in arguments) else (*arguments, "run.jsonl")
    listen = ("--listen", "tcp://127.0.0.1:*")
    with started(folder, "record", *listen, "--connect", address, *files, anew=anew) as process:
        yield Served(process)


@contextmanager
def decision_process() -> Iterator[tuple[zmq.Socket[bytes], str]]:
    """A socket that a test answers by hand, and its address."""
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        socket.linger = 0
        socket.rcvtimeo = 1000 * PATIENCE
        socket.bind("tcp://127.0.0.1:*")
        yield socket, socket.get_string(zmq.LAST_ENDPOINT)


def stop_reason(reply: bytes) -> str:
    (event,) = json.loads(reply)["events"]
    assert event["type"] == STOP_EVENT
    return str(event["data"]["reason"])


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_a_whole_run_is_recorded_as_both_sides_recorded_it(tmp_path: Path, name: str) -> None:
    """Simulator, record and serve are three processes; each has the same exchanges; all exit with 0."""
    made = run(tmp_path, "generate", "--jobs", "30", "--hosts", "8", "-o", "w.json", "--platform", "p.xml")
    assert made.returncode == 0, made.stderr
    with (
        serving(tmp_path, "-s", "easy", "--record", "served.jsonl") as served,
        between(tmp_path, served.address, name) as proxy,
    ):
        files = ["-p", "p.xml", "-w", "w.json", "--record", "asked.jsonl", "--quiet"]
        simulated = run(tmp_path, "simulate", *files, "--socket", proxy.address)
        assert simulated.returncode == 0, simulated.stderr
        code, said = proxy.end()
        assert served.end()[0] == 0
    exchanges = recorded(tmp_path / name)
    assert (code, said) == (0, [f"the simulation ended after {len(exchanges)} messages"])
    assert exchanges == recorded(tmp_path / "served.jsonl") == recorded(tmp_path / "asked.jsonl")
    assert proxy.greeting == f"listens on {proxy.address} for Batsim, asks the decision process on {served.address}\n"
    assert run(tmp_path, "replay", name, "-s", "easy").returncode == 0
    assert run(tmp_path, "diff", name, "served.jsonl").returncode == 0


def test_a_recorder_that_would_talk_to_itself_is_refused(tmp_path: Path) -> None:
    """Both addresses are the same: wrong usage, said at once."""
    here = f"ipc://{tmp_path}/here.ipc"
    done = run(tmp_path, "record", "--listen", here, "--connect", here, "run.jsonl")
    assert done.returncode == 2
    assert "'--listen' and '--connect' are the same address" in done.stderr
    assert not (tmp_path / "run.jsonl").exists()


def test_bytes_that_are_no_messages_are_passed_on(tmp_path: Path) -> None:
    """In both directions, and kept."""
    odd = [b"\xff\x00", b"tea", b"", b'{"now": 0.000000}']
    with decision_process() as (decider, address), between(tmp_path, address) as proxy, batsim(proxy.address) as client:
        for request in [*odd, ENDS]:
            client.send(request)
            assert decider.recv() == request
            decider.send(request[::-1])
            assert client.recv() == request[::-1]
        assert proxy.end()[0] == 0
    assert [(one.request, one.reply) for one in recorded(tmp_path / "run.jsonl")] == [
        (request, request[::-1]) for request in [*odd, ENDS]
    ]


def test_batsim_is_stopped_when_the_decision_process_dies(tmp_path: Path) -> None:
    """At its next request; exit code 4, one line, and the recording has what was said."""
    with (
        serving(tmp_path, "-s", "fcfs", anew=True) as served,
        between(tmp_path, served.address) as proxy,
        batsim(proxy.address) as client,
    ):
        replies = [ask(client, BEGINS), ask(client, SUBMITTED)]
        served.process.kill()
        served.process.wait(PATIENCE)
        replies.append(ask(client, message(2.0)))
        line = f"the decision process on {served.address} closed the connection before it answered"
        assert stop_reason(replies[2]) == line
        assert proxy.end() == (4, [f"batsched-py: error: {line}"])
    assert [one.reply for one in recorded(tmp_path / "run.jsonl")] == replies


def test_batsim_is_stopped_when_nobody_decides(tmp_path: Path) -> None:
    """The decision process was forgotten, or listens elsewhere."""
    with decision_process() as (_, address):
        pass
    with between(tmp_path, address, "--connect-timeout", "0") as proxy, batsim(proxy.address) as client:
        assert "no decision process listens on" in stop_reason(ask(client, BEGINS))
        code, said = proxy.end()
    assert (code, len(said)) == (4, 1)


def test_batsim_is_stopped_when_the_decision_process_is_silent(tmp_path: Path) -> None:
    """If a time-out was asked for."""
    with (
        decision_process() as (decider, address),
        between(tmp_path, address, "--timeout", "10") as proxy,
        batsim(proxy.address) as client,
    ):
        client.send(BEGINS)
        assert decider.recv() == BEGINS
        assert "has not answered for" in stop_reason(client.recv())
        assert proxy.end()[0] == 4


def test_the_decision_process_is_left_when_batsim_dies(tmp_path: Path) -> None:
    """Both end with exit code 4 and a line; no time-out was asked for."""
    with serving(tmp_path, "-s", "fcfs") as served, between(tmp_path, served.address) as proxy:
        with batsim(proxy.address) as client:
            reply = ask(client, BEGINS)
        line = f"Batsim closed the connection to {proxy.address} before SIMULATION_ENDS"
        assert proxy.end() == (4, [f"batsched-py: error: {line}"])
        assert served.end()[0] == 4
    assert recorded(tmp_path / "run.jsonl") == [Exchange(0, BEGINS, reply)]


def test_a_silent_batsim_is_left(tmp_path: Path) -> None:
    """If a time-out was asked for."""
    with between(tmp_path, "tcp://127.0.0.1:1", "--timeout", "0.1") as proxy:
        assert proxy.end() == (4, [f"batsched-py: error: Batsim has said nothing for 0.1 s (on {proxy.address})"])


def test_a_decision_process_that_stops_the_run_ends_all_three(tmp_path: Path) -> None:
    """Its reason is told by each."""
    (tmp_path / "mine.py").write_text(
        "from batsched_py.api import *\n\n"
        "class Mine(Scheduler[NoOptions]):\n"
        '    name = "mine"\n\n'
        "    def decide(self, view, plan):\n"
        "        raise RuntimeError('no luck')\n"
    )
    with serving(tmp_path, "-s", "mine.py:Mine") as served, between(tmp_path, served.address) as proxy:
        with batsim(proxy.address) as client:
            assert "no luck" in stop_reason(ask(client, BEGINS))
            code, said = proxy.end()
        assert (code, len(said)) == (4, 1)
        assert said[0].startswith("batsched-py: error: the decision process stopped: t=0: mine failed on ")
        assert served.end()[0] == 3
    assert len(recorded(tmp_path / "run.jsonl")) == 1


def test_a_disk_that_fills_stops_batsim(tmp_path: Path) -> None:
    """Before the decision reaches it."""
    with serving(tmp_path, "-s", "fcfs") as served, between(tmp_path, served.address, anew=True) as proxy:
        with batsim(proxy.address) as client:
            ask(client, BEGINS)
            size = (tmp_path / "run.jsonl").stat().st_size
            resource.prlimit(proxy.process.pid, resource.RLIMIT_FSIZE, (size, size))
            assert "File too large" in stop_reason(ask(client, SUBMITTED))
            assert proxy.end() == (2, ["batsched-py: error: run.jsonl: cannot be written: File too large"])
        assert served.end()[0] == 4
    assert len(recorded(tmp_path / "run.jsonl")) == 1


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]
)
def test_a_recorder_that_is_ended_leaves_what_was_said(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """The decision process ends, too."""
    with serving(tmp_path, "-s", "fcfs") as served, between(tmp_path, served.address, anew=True) as proxy:
        with batsim(proxy.address) as client:
            replies = [ask(client, BEGINS), ask(client, SUBMITTED)]
            proxy.process.send_signal(number)
            assert proxy.end()[0] == code
        assert served.end()[0] == 4
    assert [one.reply for one in recorded(tmp_path / "run.jsonl")] == replies


def test_an_address_in_use_is_told_and_no_recording_is_touched(tmp_path: Path) -> None:
    """Exit code 4 and one line."""
    (tmp_path / "run.jsonl").write_bytes(b"older")
    with decision_process() as (_, address):
        done = run(tmp_path, "record", "--listen", address, "--connect", "tcp://127.0.0.1:1", "run.jsonl")
    assert done.returncode == 4
    assert done.stderr.startswith(f"batsched-py: error: cannot listen on {address}: the address is in use")
    assert (tmp_path / "run.jsonl").read_bytes() == b"older"

"""When things go wrong: peers that die, messages that are halves, huge or nonsense. docs/faults.md is the table."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen

import pytest
import zmq

from batsched_py.errors import TransportError
from batsched_py.transcripts.transcript import Exchange
from batsched_py.transport.zmq_rep import RepSocket
from tests.builders import begins_data, message, submitted_data
from tests.integration.programs import (
    PATIENCE,
    ROOT,
    Served,
    algorithm,
    ask,
    batsim,
    recorded,
    run,
    serving,
    started,
    types,
)
from tests.integration.raw_peer import accept, raw_batsim, raw_listener
from tests.redis_server import free_port
from tests.redis_server import started as redis_started

BEGINS = message(0.0, ("SIMULATION_BEGINS", begins_data()))
SUBMITTED = message(1.0, ("JOB_SUBMITTED", submitted_data("1", 2, subtime=1)))
ENDS = message(6.0, ("SIMULATION_ENDS", {}))
FILES = ["-p", str(ROOT / "platforms" / "cluster32.xml"), "-w", str(ROOT / "workloads" / "lublin200.json")]
STOPPED = "BATSCHED_PY_STOPPED"

#: First come, first served; from t=1000 on something happens first.
IN_THE_MIDDLE = """\
if view.now >= 1000:
    %s
for job in view.queue:
    hosts = plan.free.first(job.size)
    if hosts is None:
        return
    plan.start(job, hosts)
"""


def one_error(said: list[str]) -> str:
    """The text of the only line, an error."""
    assert len(said) == 1, said
    assert said[0].startswith("batsched-py: error: "), said
    return said[0].removeprefix("batsched-py: error: ")


# A peer is killed in the middle.


def test_a_batsim_killed_in_the_middle_is_told_and_nothing_recorded_is_lost(tmp_path: Path) -> None:
    """kill -9 while the algorithm decides: exit code 4, one line, and every exchange up to that decision."""
    os.mkfifo(tmp_path / "victim")
    name = algorithm(tmp_path, IN_THE_MIDDLE % "os.kill(int(open('victim').read()), signal.SIGKILL)")
    with serving(tmp_path, "-s", name, "--record", "run.jsonl") as served:
        with started(tmp_path, "simulate", *FILES, "--socket", served.address, "-e", "out", anew=True) as victim:
            (tmp_path / "victim").write_text(str(victim.pid))  # waits until the algorithm reads it
            assert victim.wait(PATIENCE) == -signal.SIGKILL
        code, said = served.end()
    assert code == 4
    assert one_error(said) == f"Batsim closed the connection to {served.address} before SIMULATION_ENDS"
    last = json.loads(recorded(tmp_path / "run.jsonl")[-1].request)
    assert last["now"] >= 1000
    assert not list(tmp_path.glob("out*"))


def test_a_decision_process_killed_in_the_middle_is_told_and_nothing_recorded_is_lost(tmp_path: Path) -> None:
    """kill -9 before a reply: exit code 4, one line, partial results; both recordings end with the reply before."""
    name = algorithm(tmp_path, IN_THE_MIDDLE % "os.kill(os.getpid(), signal.SIGKILL)")
    with serving(tmp_path, "-s", name, "--record", "theirs.jsonl") as served:
        done = run(
            tmp_path, "simulate", *FILES, "--socket", served.address, "-e", "out", "--record", "ours.jsonl", "--quiet"
        )
        assert served.process.wait(PATIENCE) == -signal.SIGKILL
    assert done.returncode == 4
    line = f"the decision process on {served.address} closed the connection before it answered"
    assert one_error(done.stderr.splitlines()[1:]) == line
    exchanges = recorded(tmp_path / "ours.jsonl")
    assert exchanges == recorded(tmp_path / "theirs.jsonl")
    assert json.loads(exchanges[-1].request)["now"] < 1000
    assert json.loads((tmp_path / "out_run.json").read_bytes())["failure"].startswith(line)


# Half a message.


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_half_a_request_ends_the_run_on_both_sides(fcfs: Served, tmp_path: Path, share: float) -> None:
    """Its JSON breaks off: Batsim is told to stop, and the half is recorded as it came."""
    half = SUBMITTED[: int(len(SUBMITTED) * share)]
    with batsim(fcfs.address) as client:
        ask(client, BEGINS)
        reply = ask(client, half)
        assert types(reply) == [STOPPED]
        code, said = fcfs.end()
    assert code == 4
    assert one_error(said).startswith("message: must be JSON: ")
    assert recorded(tmp_path / "run.jsonl")[-1] == Exchange(1, half, reply)


@pytest.mark.parametrize("part", [0.001, 0.5, 0.99])
@pytest.mark.parametrize("before", [[], [BEGINS]], ids=["first", "later"])
def test_a_connection_closed_after_half_a_frame_is_told(
    fcfs: Served, tmp_path: Path, before: list[bytes], part: float
) -> None:
    """An incomplete request is not read: exit code 4, and the exchanges before it are recorded."""
    with raw_batsim(fcfs.address) as peer:
        for request in before:
            peer.send(request)
            peer.receive()
        peer.send(SUBMITTED if before else BEGINS, part)
        peer.break_off()
        code, said = fcfs.end()
    assert code == 4
    assert one_error(said) == f"Batsim closed the connection to {fcfs.address} before SIMULATION_ENDS"
    assert [exchange.request for exchange in recorded(tmp_path / "run.jsonl")] == before


def test_half_a_frame_and_then_silence_ends_with_the_time_out() -> None:
    """Without one it is waited for: Batsim may be stopped in a debugger."""
    with RepSocket("tcp://127.0.0.1:*") as served, raw_batsim(served.address) as peer:
        peer.send(BEGINS)
        assert served.receive(timeout=PATIENCE) == BEGINS
        served.send(b"{}")
        peer.receive()
        peer.send(SUBMITTED, 0.5)
        with pytest.raises(TransportError, match=f"^Batsim has said nothing for 0.1 s \\(on {served.address}"):
            served.receive(timeout=0.1)


def test_a_message_that_comes_in_small_pieces_is_a_message(fcfs: Served) -> None:
    """Slow is not broken."""
    with raw_batsim(fcfs.address) as peer:
        for request, expected in ((BEGINS, []), (SUBMITTED, ["EXECUTE_JOB"])):
            peer.connection.sendall(b"\x01\x00\x02" + len(request).to_bytes(8, "big"))
            for position in range(0, len(request), 7):
                peer.connection.sendall(request[position : position + 7])
            assert types(peer.receive()) == expected


@pytest.mark.parametrize("part", [0.001, 0.5, 0.99])
def test_a_decision_process_that_breaks_off_in_a_reply_is_told(tmp_path: Path, part: float) -> None:
    """The simulator's end: exit code 4, one line, no results."""
    with (
        raw_listener() as (address, listener),
        started(tmp_path, "simulate", *FILES, "--socket", address, "-e", "out", "--quiet") as simulation,
    ):
        peer = accept(listener)
        peer.receive()
        peer.send(b'{"now":0.0,"events":[]}', part)
        peer.break_off()
        said = end(simulation)
    assert simulation.returncode == 4
    assert one_error(said[1:]) == f"the decision process on {address} closed the connection before it answered"
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize("reply", [b"", b"{", b'{"now":0.0,"events":[', b'{"now":0.0,"events":[]}}'])
def test_half_a_reply_ends_a_simulation(tmp_path: Path, reply: bytes) -> None:
    """Real Batsim aborts; the simulator says which rule is broken."""
    with zmq.Context() as context, context.socket(zmq.REP) as foreign:
        foreign.rcvtimeo = 1000 * PATIENCE
        foreign.bind("tcp://127.0.0.1:*")
        address = foreign.get_string(zmq.LAST_ENDPOINT)
        with started(tmp_path, "simulate", *FILES, "--socket", address, "--quiet") as simulation:
            foreign.recv()
            foreign.send(reply)
            said = end(simulation)
    assert simulation.returncode == 4
    assert one_error(said[1:]).startswith("message: must be JSON: ")


def end(process: Popen[str]) -> list[str]:
    """Wait for its end; what it said on stderr."""
    _, said = process.communicate(timeout=PATIENCE)
    return said.splitlines()


# Redis is restarted in the middle.


def test_a_redis_that_is_restarted_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    """Both sides wait for it: the same schedule as without Redis."""
    plain = run(tmp_path, "simulate", *FILES, "-s", "fcfs", "-e", "plain", "--quiet")
    assert plain.returncode == 0, plain.stderr
    os.mkfifo(tmp_path / "pause")
    name = algorithm(tmp_path, IN_THE_MIDDLE % "if not hasattr(self, 'paused'): self.paused = open('pause').read()")
    port = free_port()
    with serving(tmp_path, "-s", name) as served, ExitStack() as stack:
        options = ["--socket", served.address, "--enable-redis", "--redis-port", str(port), "-e", "out", "--quiet"]
        with redis_started(tmp_path, port):
            simulation = stack.enter_context(started(tmp_path, "simulate", *FILES, *options))
            pause = (tmp_path / "pause").open("w")  # waits until the algorithm reads it, in the middle of the run
        pause.close()  # Redis is down, and both go on
        with redis_started(tmp_path, port):
            said = end(simulation)
            assert served.end()[0] == 0
    assert simulation.returncode == 0, said
    assert (tmp_path / "out_jobs.csv").read_bytes() == (tmp_path / "plain_jobs.csv").read_bytes()


# A message of 100 MB.

HUGE = 100_000_000


def peak_memory(process: Popen[str]) -> int:
    """The most that a running process ever had in memory, in bytes."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        pytest.skip("only Linux tells the memory of a process in /proc")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
    assert found
    return 1024 * int(found[1])


def huge(request: bytes, place: bytes, with_what: bytes = b'"mine":"%s",') -> bytes:
    """The request with 100 MB more, after the place."""
    assert request.count(place) == 1
    return request.replace(place, place + with_what % (b"x" * HUGE))


def test_a_legal_message_of_100_mb_is_answered(tmp_path: Path) -> None:
    """Members that nobody knows in a job, and in the first message; recorded whole, in less than 1 GB of memory."""
    requests = [huge(BEGINS, b'"config": {'), huge(SUBMITTED, b'"job": {'), ENDS]
    record = ("--record", "run.jsonl")
    with serving(tmp_path, "-s", "fcfs", *record, anew=True) as served, batsim(served.address) as client:
        assert types(ask(client, requests[0])) == []
        assert types(ask(client, requests[1])) == ["EXECUTE_JOB"]
        assert peak_memory(served.process) < 1_000_000_000
        ask(client, requests[2])
        told = "batsched-py: warning: t=0: member mine of config is unknown: nothing reads it"
        assert served.end() == (0, [told, "the simulation ended at t=6 after 3 messages"])
    assert [exchange.request for exchange in recorded(tmp_path / "run.jsonl")] == requests


#: What is wrong -> the message, made when it is needed, and what is said of it.
ILLEGAL: dict[str, tuple[Callable[[], bytes], str]] = {
    "a member of another type": (
        lambda: huge(SUBMITTED, b'"res": ', b'"%s", "was": '),
        "events[0].data.job.res: must be a whole number from 0, not 'xxx",
    ),
    "an id that is none": (
        lambda: huge(SUBMITTED, b'{"job_id": "', b'%s", "was": "'),
        "events[0].data.job_id: must be workload!name, not 'xxx",
    ),
    "torn": (lambda: huge(SUBMITTED, b'"job": {')[:-20], "message: must be JSON: "),
    "nested": (lambda: b"[" * HUGE, "message: must be JSON: "),
    "a list of what are no events": (
        lambda: b'{"now": 1, "events": [%s5]}' % (b"5," * (HUGE // 2)),
        "events[0]: must be an object, not 5",
    ),
}


@pytest.mark.parametrize("wrong", ILLEGAL)
def test_an_illegal_message_of_100_mb_is_one_line(fcfs: Served, wrong: str) -> None:
    """The rule and the beginning of what breaks it; both sides end."""
    make, rule = ILLEGAL[wrong]
    with batsim(fcfs.address) as client:
        ask(client, BEGINS)
        assert types(ask(client, make())) == [STOPPED]
        code, said = fcfs.end()
    assert code == 4
    assert one_error(said).startswith(rule)
    assert len(said[0]) < 400

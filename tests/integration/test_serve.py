"""`batsched-py serve` over a real socket: how a run ends, whatever ends it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
import zmq

from batsched_py.errors import TranscriptError
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import Recorder
from batsched_py.transcripts.transcript import Exchange
from tests.builders import begins_data, completed_data, message, submitted_data
from tests.integration.programs import PATIENCE, Served, algorithm, ask, batsim, recorded, run, serving, types

BEGINS = message(0.0, ("SIMULATION_BEGINS", begins_data()))
SUBMITTED = message(1.0, ("JOB_SUBMITTED", submitted_data("1", 2, subtime=1)))
COMPLETED = message(6.0, ("JOB_COMPLETED", completed_data("1", "0-1")))
ENDS = message(6.0, ("SIMULATION_ENDS", {}))


@pytest.fixture
def client(fcfs: Served) -> Iterator[zmq.Socket[bytes]]:
    with batsim(fcfs.address) as socket:
        yield socket


def test_a_run_ends_when_the_simulation_does(fcfs: Served, client: zmq.Socket[bytes], tmp_path: Path) -> None:
    """The last reply holds nothing and arrives; exit code 0; every exchange is recorded."""
    requests = (BEGINS, SUBMITTED, COMPLETED, ENDS)
    replies = [ask(client, request) for request in requests]
    assert types(replies[1]) == ["EXECUTE_JOB"]
    assert types(replies[3]) == []
    assert fcfs.greeting == f"fcfs listens on {fcfs.address}\n"
    assert fcfs.end() == (0, ["the simulation ended at t=6 after 4 messages"])
    expected = [Exchange(number, *both) for number, both in enumerate(zip(requests, replies, strict=True))]
    assert recorded(tmp_path / "run.jsonl") == expected
    again = run(tmp_path, "replay", "run.jsonl")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == "fcfs: 4 exchanges, all decisions are the same (4 replies byte for byte)\n"


def test_an_order_that_simgrid_may_never_end_is_a_warning(tmp_path: Path) -> None:
    """It is written before the order is sent."""
    name = algorithm(tmp_path, "for job in list(view.queue): plan.start(job, HostSet.of(0), {0: 0, 1: 0})")
    profiles = {"w0": {"p": {"type": "parallel_homogeneous", "cpu": 1, "com": 1}}}
    begins = message(0.0, ("SIMULATION_BEGINS", begins_data(profiles=profiles)))
    completed = message(6.0, ("JOB_COMPLETED", completed_data("1", "0")))
    with serving(tmp_path, "-s", name) as served, batsim(served.address) as client:
        replies = [ask(client, request) for request in (begins, SUBMITTED, completed, ENDS)]
        code, lines = served.end()
    assert types(replies[1]) == ["EXECUTE_JOB"]
    assert code == 0
    assert lines[0].startswith("batsched-py: warning: t=1: w0!1 puts executors that communicate on one host: there")


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "interrupted (SIGINT)"),
        (signal.SIGTERM, 143, "terminated (SIGTERM)"),
        (signal.SIGHUP, 129, "hung up (SIGHUP)"),
    ],
)
def test_a_signal_ends_the_wait_for_batsim(
    fcfs: Served, tmp_path: Path, number: signal.Signals, code: int, words: str
) -> None:
    """Nobody has come yet: one line, the shell's exit code, a recording of nothing."""
    fcfs.process.send_signal(number)
    assert fcfs.end() == (code, [f"batsched-py: {words}"])
    assert recorded(tmp_path / "run.jsonl") == []


def test_a_signal_between_two_requests_leaves_the_recording_whole(
    fcfs: Served, client: zmq.Socket[bytes], tmp_path: Path
) -> None:
    """Batsim computes; what was said is kept."""
    replies = [ask(client, BEGINS), ask(client, SUBMITTED)]
    fcfs.process.send_signal(signal.SIGTERM)
    assert fcfs.end() == (143, ["batsched-py: terminated (SIGTERM)"])
    assert [exchange.reply for exchange in recorded(tmp_path / "run.jsonl")] == replies


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(signal.SIGINT, 130, "interrupted (SIGINT)"), (signal.SIGHUP, 129, "hung up (SIGHUP)")],
)
def test_a_signal_while_the_algorithm_thinks_stops_batsim(
    tmp_path: Path, number: signal.Signals, code: int, words: str
) -> None:
    """Batsim waits for a reply and gets one that ends it."""
    name = algorithm(tmp_path, f"os.kill(os.getpid(), {number:d})\nwhile True: pass")
    with serving(tmp_path, "-s", name, "--record", "run.jsonl") as served, batsim(served.address) as client:
        reply = ask(client, BEGINS)
        assert types(reply) == ["BATSCHED_PY_STOPPED"]
        ended, [line] = served.end()
        assert ended == code
        told = rf"batsched-py: {re.escape(words)} while mine decided \(mine.py:[89]\), t=0, on SimulationBegins"
        assert re.fullmatch(told, line)
    assert recorded(tmp_path / "run.jsonl") == [Exchange(0, BEGINS, reply)]


def test_a_killed_process_leaves_its_recording_whole(tmp_path: Path) -> None:
    """Up to the last exchange."""
    record = ("--record", "run.jsonl")
    with serving(tmp_path, "-s", "fcfs", *record, anew=True) as served, batsim(served.address) as client:
        replies = [ask(client, BEGINS), ask(client, SUBMITTED)]
        served.process.kill()
        assert served.end() == (-signal.SIGKILL, [])
    assert [exchange.reply for exchange in recorded(tmp_path / "run.jsonl")] == replies


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_all_files_are_there_when_batsim_hears_the_last_reply(name: str, tmp_path: Path) -> None:
    """If both are killed then, the recording, the description, decisions and tables of leases are whole."""
    arguments = ("-s", "leases", "-e", "out", "--record", name)
    with serving(tmp_path, *arguments, anew=True) as served, batsim(served.address) as socket:
        for request in (BEGINS, SUBMITTED, COMPLETED, ENDS):
            ask(socket, request)
        served.process.kill()
        served.process.wait(PATIENCE)
    assert len(recorded(tmp_path / name)) == 4
    described = json.loads((tmp_path / "out_run.json").read_text())
    for result in ("out_decisions.csv", "out_leases.csv"):
        content = (tmp_path / result).read_bytes()
        assert sha256(content).hexdigest() in json.dumps(described["results"])


def test_a_batsim_that_dies_is_noticed(fcfs: Served, tmp_path: Path) -> None:
    """Killed outright while it computes, and no time-out was asked for."""
    program = (
        "import sys, zmq\n"
        "socket = zmq.Context().socket(zmq.REQ)\n"
        "socket.connect(sys.argv[1])\n"
        "socket.send(sys.argv[2].encode())\n"
        "print(socket.recv(), flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, fcfs.address, BEGINS.decode()]
    with Popen(command, stdin=PIPE, stdout=PIPE) as victim:
        assert victim.stdout is not None
        victim.stdout.readline()
        victim.kill()
    code, said = fcfs.end()
    assert code == 4
    line = f"batsched-py: Batsim closed the connection to {fcfs.address} before SIMULATION_ENDS"
    assert said == [line.replace("py: ", "py: error: ")]
    assert len(recorded(tmp_path / "run.jsonl")) == 1


def test_another_batsim_is_refused_and_does_not_disturb_the_run(
    fcfs: Served, client: zmq.Socket[bytes], tmp_path: Path
) -> None:
    """Neither its requests, nor that it goes; what it asked is not recorded."""
    replies = [ask(client, BEGINS)]
    with batsim(fcfs.address) as second:
        assert types(ask(second, message(5.0, ("SIMULATION_BEGINS", begins_data())))) == ["BATSCHED_PY_STOPPED"]
        second.send_multipart([BEGINS, SUBMITTED])
        assert types(second.recv()) == ["BATSCHED_PY_STOPPED"]
    replies += [ask(client, request) for request in (SUBMITTED, COMPLETED, ENDS)]
    assert fcfs.end() == (0, ["the simulation ended at t=6 after 4 messages"])
    assert [exchange.reply for exchange in recorded(tmp_path / "run.jsonl")] == replies


def test_a_request_of_several_parts_ends_the_run_on_both_sides(fcfs: Served, client: zmq.Socket[bytes]) -> None:
    """Batsim sends one: a line that says so, exit code 4."""
    ask(client, BEGINS)
    client.send_multipart([SUBMITTED, COMPLETED])
    assert types(client.recv()) == ["BATSCHED_PY_STOPPED"]
    line = f"batsched-py: error: a request of 2 parts; Batsim sends one (on {fcfs.address})"
    assert fcfs.end() == (4, [line])


def test_silence_is_an_error_only_if_a_time_out_was_asked_for(tmp_path: Path) -> None:
    """Exit code 4 and the time-out in the line."""
    with serving(tmp_path, "-s", "fcfs", "--timeout", "0.1") as served:
        code, said = served.end()
    assert code == 4
    assert said == [f"batsched-py: error: Batsim has said nothing for 0.1 s (on {served.address})"]


def test_an_address_in_use_is_told_and_no_recording_is_touched(fcfs: Served, tmp_path: Path) -> None:
    """The second process ends at once, the first lives on."""
    before = (tmp_path / "run.jsonl").read_bytes()
    second = run(tmp_path, "serve", "-s", "easy", "-b", fcfs.address, "--record", "run.jsonl")
    assert second.returncode == 4
    line = f"cannot listen on {fcfs.address}: the address is in use; is another decision process still running?"
    assert second.stderr == f"batsched-py: error: {line}\n"
    assert (tmp_path / "run.jsonl").read_bytes() == before
    assert fcfs.process.poll() is None


@pytest.mark.parametrize("garbage", [b"hello", b"\xff\x00", b"{}", b'{"now": 0, "events": [5]}'])
def test_a_message_that_is_none_ends_the_run_on_both_sides(
    fcfs: Served, client: zmq.Socket[bytes], tmp_path: Path, garbage: bytes
) -> None:
    """One line, exit code 4, a reply that Batsim refuses, and the bytes as they came in the recording."""
    ask(client, BEGINS)
    assert types(ask(client, garbage)) == ["BATSCHED_PY_STOPPED"]
    code, said = fcfs.end()
    assert code == 4
    assert len(said) == 1
    assert said[0].startswith("batsched-py: error: ")
    assert [exchange.request for exchange in recorded(tmp_path / "run.jsonl")] == [BEGINS, garbage]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("for job in view.queue: job.color", "AttributeError: 'Job' object has no attribute 'color'"),
        ("for job in view.queue: plan.start(job, HostSet.of(0))", "w0!1"),
    ],
)
def test_an_algorithm_that_fails_stops_batsim_and_tells_the_story(tmp_path: Path, body: str, why: str) -> None:
    """Time, event, job and rule; the refusal is recorded in the place of the decision; exit code 3."""
    name = algorithm(tmp_path, body)
    with serving(tmp_path, "-s", name, "--record", "run.jsonl") as served, batsim(served.address) as client:
        ask(client, BEGINS)
        reply = ask(client, SUBMITTED)
        assert types(reply) == ["BATSCHED_PY_STOPPED"]
        code, said = served.end()
    assert code == 3
    assert len(said) == 1
    assert said[0].startswith("batsched-py: error: t=1: mine failed on JobSubmitted w0!1: ")
    assert why in said[0]
    assert recorded(tmp_path / "run.jsonl")[-1] == Exchange(1, SUBMITTED, reply)
    again = run(tmp_path, "replay", "run.jsonl", "-s", name)
    assert again.returncode == 0, again.stdout


def test_a_traceback_is_shown_on_request(tmp_path: Path) -> None:
    """--debug, after the command or before it, adds it to the line."""
    name = algorithm(tmp_path, "raise KeyError('w0!1')")
    with serving(tmp_path, "-s", name, "--debug") as served, batsim(served.address) as client:
        ask(client, BEGINS)
        code, said = served.end()
    assert code == 3
    assert "Traceback (most recent call last):" in said
    assert said[-1].startswith("batsched-py: error: t=0: mine failed on SimulationBegins")


def test_options_that_batsim_sends_are_checked_like_others(tmp_path: Path) -> None:
    """A wrong --sched-cfg is wrong input: exit code 2, and Batsim stops."""
    begins = message(0.0, ("SIMULATION_BEGINS", begins_data(config={"sched-config": '{"reserve": "rooms"}'})))
    with serving(tmp_path, "-s", "easy") as served, batsim(served.address) as client:
        assert types(ask(client, begins)) == ["BATSCHED_PY_STOPPED"]
        code, said = served.end()
    assert code == 2
    assert said == ["batsched-py: error: sched-config: option reserve of easy: must be counts | hosts, not 'rooms'"]


def test_unknown_events_never_end_a_run(fcfs: Served, client: zmq.Socket[bytes]) -> None:
    """They are told, and the run goes on."""
    ask(client, BEGINS)
    ask(client, message(1.0, ("ALIENS_LANDED", {"count": 3}), ("NOTIFY", {"type": "tea"})))
    assert types(ask(client, ENDS)) == []
    code, said = fcfs.end()
    assert code == 0
    assert "ALIENS_LANDED" in said[0]


def test_a_recording_that_cannot_go_on_stops_the_run(tmp_path: Path) -> None:
    """A full disk: Batsim is told to stop, the file is named."""
    if not Path("/dev/full").exists():
        pytest.skip("only Linux has a disk that is always full")
    code = run(tmp_path, "serve", "-s", "fcfs", "-b", "tcp://127.0.0.1:*", "--record", "/dev/full")
    assert code.returncode == TranscriptError.exit_code
    assert code.stderr == "batsched-py: error: /dev/full: cannot be written: No space left on device\n"


def test_a_replay_that_misses_redis_says_so(tmp_path: Path) -> None:
    """Exit code 4 and one line, not a decision that differs: the recording has the ids of the jobs only."""
    config = {"redis-enabled": True, "redis-hostname": "a..b", "redis-port": 6379}
    begins = message(0.0, ("SIMULATION_BEGINS", begins_data(config=config)))
    with Recorder(tmp_path / "run.jsonl", Header("fcfs")) as recorder:
        recorder.record(begins, b'{"now":0.0,"events":[]}')
    for arguments, why in (
        ([], "Redis a..b: SIMULATION_BEGINS names another machine: "),
        (["--allow-redis", "a..b"], "Redis a..b:6379: "),
    ):
        again = run(tmp_path, "replay", "run.jsonl", *arguments)
        assert (again.returncode, again.stdout) == (4, "")
        assert again.stderr.startswith(f"batsched-py: error: {why}")
        assert again.stderr.count("\n") == 1


def test_the_program_can_be_stopped_with_a_pipe_closed(tmp_path: Path) -> None:
    """`batsched-py list | head -0` is no crash."""
    pipeline = f"{sys.executable} -m batsched_py.cli list | true"
    done = subprocess.run(
        pipeline,
        shell=True,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "Traceback" not in done.stderr

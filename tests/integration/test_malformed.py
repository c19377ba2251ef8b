"""A thousand malformed messages, each over a real socket: one clear line, a stop, and nothing hangs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest
import zmq

from batsched_py.errors import (
    BatschedError,
    DeadlockError,
    OptionError,
    RefusedError,
    RemoteProtocolError,
    StoreError,
)
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.protocol.stopping import STOP_EVENT
from batsched_py.session.serve import serve
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.transcripts.transcript import Exchange
from batsched_py.transport.zmq_rep import RepSocket
from tests.docs.pages import blocks
from tests.integration.mutations import mutated
from tests.integration.programs import PATIENCE, ROOT, ask, batsim, recorded, serving

GOLDEN = ROOT / "tests" / "data" / "batsim"
#: Runs of real Batsim -> who follows their requests.
SOURCES = {"o01_fcfs_delays": "fcfs", "o05_easy_bf_burst": "easy", "o19_machine_events": "filler"}
#: Exchanges of a run in which something is made wrong: the first ones, with every kind of event but the end.
EARLY = 30
MESSAGES = 1000


RUNS = {name: recorded(GOLDEN / name / "transcript.jsonl") for name in SOURCES}


class Line:
    """A serving end and a Batsim's end, connected for good; one conversation after the other."""

    def __init__(self, socket: RepSocket, client: zmq.Socket[bytes], pool: ThreadPoolExecutor) -> None:
        self._socket, self._client, self._pool = socket, client, pool

    def talk(self, algorithm: str, requests: list[bytes]) -> tuple[list[bytes], BatschedError | None]:
        """A new session's replies; what ended it, if that was an error, else it has heard SIMULATION_ENDS at last."""
        session = Session(load(algorithm))
        ending = self._pool.submit(self._serve, session)
        replies = [ask(self._client, request) for request in requests]
        if STOP_EVENT.encode() not in replies[-1] and not session.over:
            now = json.loads(requests[-1])["now"]
            farewell = {"now": now, "events": [{"timestamp": now, "type": "SIMULATION_ENDS", "data": {}}]}
            ask(self._client, json.dumps(farewell).encode())
        return replies, ending.result(PATIENCE)

    def _serve(self, session: Session) -> BatschedError | None:
        """Anything but an error of ours is raised to whoever asks for the result."""
        try:
            serve(session, self._socket)
        except BatschedError as error:
            return error
        return None


@contextmanager
def connected() -> Iterator[Line]:
    with (
        RepSocket("tcp://127.0.0.1:*") as socket,
        batsim(socket.address) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        yield Line(socket, client, pool)


def check_stop(error: BatschedError, reply: bytes) -> None:
    """One readable line, about what Batsim said, and the same line in what Batsim is told."""
    assert isinstance(error, (RemoteProtocolError, OptionError, StoreError)), repr(error)
    check_line(error)
    [event] = json.loads(reply)["events"]
    assert (event["type"], event["data"]) == (STOP_EVENT, {"reason": str(error)})


def check_line(error: BatschedError) -> None:
    text = str(error)
    assert text.isprintable(), text
    assert 0 < len(text) < 600, text


@pytest.mark.parametrize("seed", range(4))
def test_a_malformed_request_is_one_clear_error_and_a_stop(seed: int) -> None:
    """250 of a thousand; neither the connection nor the next session suffers."""
    chance = random.Random(seed)
    wrong = 0
    with connected() as line:
        for _ in range(MESSAGES // 4):
            name = chance.choice(list(SOURCES))
            requests = [exchange.request for exchange in RUNS[name][: chance.randrange(EARLY) + 1]]
            requests[-1] = mutated(requests[-1], chance)
            replies, error = line.talk(SOURCES[name], requests)
            if error is not None:
                wrong += 1
                check_stop(error, replies[-1])
        whole = RUNS["o05_easy_bf_burst"]
        replies, error = line.talk("easy", [exchange.request for exchange in whole])
    assert (replies, error) == ([exchange.reply for exchange in whole], None)
    assert wrong > MESSAGES // 8


@pytest.mark.parametrize("seed", range(3))
def test_a_process_that_hears_a_malformed_request_ends_cleanly(tmp_path: Path, seed: int) -> None:
    """`serve` itself: exit code 4, one line, and the request in its recording as it came."""
    chance = random.Random(1000 + seed)
    begins = RUNS["o01_fcfs_delays"][0].request
    wrong, error = begins, None
    while error is None:
        wrong = mutated(begins, chance)
        try:
            Session(load("fcfs")).answer(wrong)
        except RemoteProtocolError as refused:
            error = refused
        except BatschedError:
            continue  # options, say, which have an exit code of their own
    with serving(tmp_path, "-s", "fcfs", "--record", "run.jsonl") as served, batsim(served.address) as client:
        reply = ask(client, wrong)
        assert served.end() == (4, [f"batsched-py: error: {error}"])
    check_stop(error, reply)
    assert recorded(tmp_path / "run.jsonl") == [Exchange(0, wrong, reply)]


@pytest.mark.parametrize("seed", range(4))
def test_a_malformed_reply_is_one_clear_error(tmp_path: Path, seed: int) -> None:
    """The simulator's end: 250 of a thousand replies, of an algorithm that starts, kills and registers."""
    [block] = [block for block in blocks(ROOT / "docs" / "dynamic-jobs.md") if block.title == "harvest.py"]
    (tmp_path / block.title).write_text(block.text)
    algorithm = load(f"{tmp_path / block.title}:Harvest")
    platform = read_platform(ROOT / "platforms" / "tiny4.xml")
    workload = read_workload(ROOT / "workloads" / "first.json")
    chance = random.Random(seed)
    wrong = 0
    for _ in range(MESSAGES // 4):
        session, left = Session(algorithm), chance.randrange(EARLY)

        def exchange(request: bytes, session: Session = session) -> bytes:
            nonlocal left
            left -= 1
            if left >= 0:
                return session.answer(request)
            if left == -1:
                return mutated(session.answer(request), chance)
            return orjson.dumps({"now": orjson.loads(request)["now"], "events": []})  # has nothing more to say

        try:
            Simulation(platform, [workload], Settings(dynamic_jobs=True)).run(exchange)
        except (RemoteProtocolError, RefusedError) as error:
            wrong += 1
            check_line(error)
        except DeadlockError as error:  # the reply was right, or told nothing
            check_line(error)
    assert wrong > MESSAGES // 8

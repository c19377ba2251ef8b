"""Redis that is down, slow, lost, restarted, or no Redis at all: bounded tries, one line, and never a hang."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from socket import create_server

import pytest
import redis
from msgspec.structs import replace

from batsched_py.errors import StoreError
from batsched_py.metadata.redis_store import Persistence, RedisStore
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.session.session import Session
from batsched_py.text.display import displayed
from tests.builders import begins_data, message
from tests.redis_server import free_port, started

#: As persistent as a test can wait for.
BRIEF = Persistence(tries=2, first_wait=0.01, longest_wait=0.01, timeout=30.0)
NAMED = message(1, ("JOB_SUBMITTED", {"job_id": "w0!7"}))
JOB = {"id": "w0!7", "res": 3, "walltime": 9, "profile": "p", "subtime": 1}


class Server:
    """A server that can be stopped and started again on its port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options, self.port = folder, options, free_port()
        self._stack = ExitStack()

    def start(self) -> None:
        self._stack.enter_context(started(self.folder, self.port, *self.options))

    def stop(self) -> None:
        self._stack.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """One that forgets everything when it stops."""
    made = Server(tmp_path)
    made.start()
    yield made
    made.stop()


def begun(port: int, persistence: Persistence = BRIEF) -> tuple[Session, RedisStore]:
    """A session with Redis that has read one job."""
    store = RedisStore("127.0.0.1", port, "lab", persistence)
    store.put({"w0!7": JOB})
    session = Session(Fcfs, open_store=lambda _: store)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(config={"redis-enabled": True}))))
    return session, store


def test_nobody_at_the_port_is_asked_six_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five seconds of waiting in all, then one line that names the server."""
    waits: list[float] = []
    monkeypatch.setattr("redis.retry.sleep", waits.append)
    port = free_port()
    with pytest.raises(StoreError, match=rf"^Redis 127\.0\.0\.1:{port}: .*refused.* \(tried 6 times\)$"):
        RedisStore("127.0.0.1", port, "lab")
    assert waits == [0.2, 0.4, 0.8, 1.6, 2.0]


@pytest.mark.parametrize("hostname", ["", "a..b", "x" * 300])
def test_a_name_that_leads_nowhere_is_one_line(hostname: str) -> None:
    """Batsim's configuration may hold any text."""
    with pytest.raises(StoreError, match=rf"^Redis {re.escape(displayed(hostname))}:1: \S[^\n]*$"):
        RedisStore(hostname, 1, "lab", BRIEF)


def test_a_server_that_says_nothing_is_given_up(server: Server) -> None:
    """A real one, told to pause."""
    session, store = begun(server.port, replace(BRIEF, timeout=1.0))
    with redis.Redis("127.0.0.1", server.port) as other:
        other.client_pause(60_000)
    with pytest.raises(StoreError, match=rf"^Redis 127\.0\.0\.1:{server.port}: Timeout.* \(tried 2 times\)$"):
        session.answer(NAMED)
    store.close()


def test_a_server_that_is_lost_is_named(server: Server) -> None:
    """It is, whatever it answered before."""
    session, store = begun(server.port)
    server.stop()
    with pytest.raises(StoreError, match=rf"^Redis 127\.0\.0\.1:{server.port}: .* \(tried 2 times\)$"):
        session.answer(NAMED)
    store.close()


def test_a_server_that_is_restarted_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes back while we wait between two tries, with what it had."""
    server = Server(tmp_path, "--appendonly", "yes", "--appendfsync", "always")
    server.start()
    session, store = begun(server.port)
    server.stop()
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        server.start()

    monkeypatch.setattr("redis.retry.sleep", wait)
    reply = json.loads(session.answer(NAMED))
    assert [event["data"] for event in reply["events"]] == [{"job_id": "w0!7", "alloc": "0-2"}]
    assert waits == [0.01]
    store.close()
    server.stop()


def test_a_key_that_a_restart_lost_is_named(server: Server) -> None:
    """The server is there again, and empty."""
    session, store = begun(server.port)
    server.stop()
    server.start()
    with pytest.raises(StoreError) as caught:
        session.answer(NAMED)
    assert str(caught.value) == (
        f"Redis 127.0.0.1:{server.port}: key lab:job_w0!7: is missing, but Batsim has submitted this job"
    )
    store.close()


def test_a_wrong_password_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays wrong; Batsim has no option for one either."""
    waits: list[float] = []
    port = free_port()
    with started(tmp_path, port, "--requirepass", "x"):
        monkeypatch.setattr("redis.retry.sleep", waits.append)
        with pytest.raises(StoreError) as caught:
            RedisStore("127.0.0.1", port, "lab")
    assert str(caught.value) == f"Redis 127.0.0.1:{port}: Authentication required."
    assert waits == []


def test_a_server_of_another_kind_is_one_line() -> None:
    """The port is that of a web server, say."""
    with create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def answer() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.recv(100)
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                peer.recv(100)

        web = threading.Thread(target=answer)
        web.start()
        with pytest.raises(StoreError, match=rf"^Redis 127\.0\.0\.1:{port}: [^\n]+$"):
            RedisStore("127.0.0.1", port, "lab", Persistence(tries=1, timeout=5.0))
        web.join()

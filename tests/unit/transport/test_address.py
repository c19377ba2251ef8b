"""Addresses of sockets: IPv6 where it is meant, and files of sockets that belong to somebody."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import zmq

from batsched_py.errors import TransportError
from batsched_py.transport.address import connects_by_ipv6, listens_on_ipv6
from batsched_py.transport.zmq_rep import RepSocket
from batsched_py.transport.zmq_req import ReqSocket


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not _has_ipv6(), reason="needs the loopback address of IPv6, ::1")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a short path: that of a socket has at most 107 bytes."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def aside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def answer_once(rep: RepSocket) -> None:
    rep.send(rep.receive().upper())


@pytest.mark.parametrize(
    ("address", "listens", "connects"),
    [
        ("tcp://127.0.0.1:28000", False, False),
        ("tcp://[::1]:28000", True, True),
        ("tcp://[fe80::1%eth0]:28000", True, True),
        ("tcp://*:28000", True, False),
        ("tcp://localhost:28000", False, False),
        ("tcp://eth0:28000", False, False),
        ("ipc://[x]", False, False),
        ("nonsense", False, False),
    ],
)
def test_ipv6_is_for_its_addresses(
    monkeypatch: pytest.MonkeyPatch, address: str, listens: bool, connects: bool
) -> None:
    """A name that has an address of IPv4, too, is connected to as before."""
    both = {"localhost": {socket.AF_INET, socket.AF_INET6}}

    def look_up(host: str, port: object, family: socket.AddressFamily, kind: object) -> list[object]:
        if family not in both.get(host, ()):
            raise OSError("unknown")
        return [host]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert listens_on_ipv6(address) == listens
    assert connects_by_ipv6(address) == connects
    both["eth0"] = {socket.AF_INET6}
    assert connects_by_ipv6("tcp://eth0:28000")


@needs_ipv6
@pytest.mark.parametrize(
    ("listen", "connect"), [("[::1]", "[::1]"), ("*", "[::1]"), ("*", "127.0.0.1"), ("127.0.0.1", "localhost")]
)
def test_both_ends_speak_ipv6(aside: ThreadPoolExecutor, listen: str, connect: str) -> None:
    """`*` are all addresses of the machine."""
    with RepSocket(f"tcp://{listen}:*") as rep:
        port = rep.address.rpartition(":")[2]
        with ReqSocket(f"tcp://{connect}:{port}", connect_timeout=60) as req:
            aside.submit(answer_once, rep)
            assert req.exchange(b"request") == b"REQUEST"


@needs_ipv6
def test_an_address_of_ipv6_in_use_is_one_clear_line() -> None:
    """As of IPv4."""
    with RepSocket("tcp://[::1]:*") as rep, pytest.raises(TransportError, match="the address is in use"):
        RepSocket(rep.address)


def test_the_second_listener_on_a_socket_file_is_refused(here: Path, aside: ThreadPoolExecutor) -> None:
    """The first keeps its clients; ZeroMQ would have taken the file away."""
    with RepSocket("ipc://a.ipc") as rep:
        with pytest.raises(TransportError, match=r"^cannot listen on ipc://a.ipc: the address is in use"):
            RepSocket("ipc://a.ipc")
        with ReqSocket("ipc://a.ipc", connect_timeout=60) as req:
            aside.submit(answer_once, rep)
            assert req.exchange(b"request") == b"REQUEST"


def test_of_listeners_that_start_at_once_one_listens(here: Path) -> None:
    """Any of them may be first."""
    together = threading.Barrier(4)

    def listen() -> RepSocket | None:
        together.wait()
        try:
            return RepSocket("ipc://a.ipc")
        except TransportError:
            return None

    with ThreadPoolExecutor(4) as pool:
        found = [one.result() for one in [pool.submit(listen) for _ in range(4)]]
    [first] = [one for one in found if one is not None]
    first.close()


def test_the_file_of_a_socket_is_removed_at_the_end(here: Path) -> None:
    """As often as somebody listens there."""
    for _ in range(2):
        with RepSocket("ipc://a.ipc"):
            assert (here / "a.ipc").is_socket()
        assert not (here / "a.ipc").exists()


def test_what_has_taken_the_place_of_the_file_stays(here: Path) -> None:
    """It is another's."""
    with RepSocket("ipc://a.ipc"):
        os.replace("a.ipc", "kept")
        Path("a.ipc").write_text("mine")
    assert Path("a.ipc").read_text() == "mine"


def dead_socket(path: Path) -> None:
    """Leave the file of a listener that was killed."""
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(os.fsencode(path))


def write_file(path: Path) -> None:
    path.write_text("results")


def test_the_file_of_a_dead_listener_is_in_nobody_s_way(here: Path) -> None:
    """It is replaced."""
    dead_socket(Path("a.ipc"))
    with RepSocket("ipc://a.ipc") as rep:
        assert rep.address == "ipc://a.ipc"


@pytest.mark.parametrize("make", [write_file, Path.mkdir])
def test_another_file_is_not_overwritten(here: Path, make: Callable[[Path], None]) -> None:
    """ZeroMQ would remove it."""
    make(Path("a.csv"))
    with pytest.raises(TransportError, match=r"^cannot listen on ipc://a.csv: a.csv is there, and no socket$"):
        RepSocket("ipc://a.csv")
    assert Path("a.csv").exists()


@pytest.mark.parametrize("address", ["ipc://@batsched-py-test", "ipc://*"])
def test_an_address_without_a_path_needs_no_file(here: Path, address: str) -> None:
    """A name of Linux, and a file that ZeroMQ chooses and removes."""
    with RepSocket(address) as rep:
        assert rep.address.startswith("ipc://")
    assert list(here.iterdir()) == []


def test_a_folder_that_is_not_there_is_one_clear_line(here: Path) -> None:
    """As of any file."""
    with pytest.raises(TransportError, match=r"^cannot listen on ipc://none/a.ipc: No such file or directory$"):
        RepSocket("ipc://none/a.ipc")


def test_a_reply_of_several_parts_is_one_clear_line(aside: ThreadPoolExecutor) -> None:
    """It does not block the next exchange with an error of ZeroMQ's states."""
    with zmq.Context() as context, context.socket(zmq.REP) as server:
        server.bind("tcp://127.0.0.1:*")
        with ReqSocket(server.get_string(zmq.LAST_ENDPOINT)) as req:
            for parts in ([b"a", b"b"], [b"", b"", b""]):
                aside.submit(lambda parts: (server.recv(), server.send_multipart(parts)), parts)
                with pytest.raises(TransportError, match=f"^a reply of {len(parts)} parts; there must be one"):
                    req.exchange(b"request")


#: What is said of a listener that is no decision process.
NOT_ZEROMQ = r"\(waited \d s; what listens there does not speak as one\)"


@contextmanager
def speaking(aside: ThreadPoolExecutor, words: bytes) -> Iterator[int]:
    """The port of a server that says something to the first connection, and closes it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def speak() -> None:
            with server.accept()[0] as connection:
                connection.sendall(words)

        aside.submit(speak)
        yield server.getsockname()[1]


@pytest.mark.parametrize("words", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" + b"x" * 100, bytes(100)])
def test_what_does_not_speak_zeromq_is_told(aside: ThreadPoolExecutor, words: bytes) -> None:
    """Though somebody listens."""
    with (
        speaking(aside, words) as port,
        ReqSocket(f"tcp://127.0.0.1:{port}", connect_timeout=0.5) as req,
        pytest.raises(TransportError, match=NOT_ZEROMQ),
    ):
        req.exchange(b"request")


@pytest.mark.parametrize("words", [b"\xff" + b"x" * 100, bytes(100)])
def test_a_connection_that_was_given_up_blocks_no_request(aside: ThreadPoolExecutor, words: bytes) -> None:
    """ZeroMQ sends nothing then, and would wait forever for another connection."""
    with speaking(aside, words) as port, ReqSocket(f"tcp://127.0.0.1:{port}", connect_timeout=0.5) as req:
        while req._socket.poll(0, zmq.POLLOUT):
            pass
        with pytest.raises(TransportError, match=NOT_ZEROMQ):
            req.exchange(b"request")

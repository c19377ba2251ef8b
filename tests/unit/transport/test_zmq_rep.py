"""The decision process's socket: what it receives, what it notices, what it says when it cannot."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
import zmq

from batsched_py.errors import TransportError
from batsched_py.protocol.stopping import STOP_EVENT
from batsched_py.transport.zmq_rep import RepSocket

ANY_PORT = "tcp://127.0.0.1:*"


@pytest.fixture
def rep() -> Iterator[RepSocket]:
    with RepSocket(ANY_PORT) as opened:
        yield opened


@pytest.fixture
def batsim(rep: RepSocket) -> Iterator[zmq.Socket[bytes]]:
    with zmq.Context() as context, context.socket(zmq.REQ) as client:
        client.connect(rep.address)
        yield client


def introduced(client: zmq.Socket[bytes], rep: RepSocket) -> zmq.Socket[bytes]:
    """Connected, with the handshake done."""
    news = client.get_monitor_socket(zmq.Event.HANDSHAKE_SUCCEEDED)
    client.connect(rep.address)
    news.recv_multipart()
    client.disable_monitor()
    news.close(linger=0)
    return client


@pytest.fixture
def stranger(rep: RepSocket) -> Iterator[zmq.Socket[bytes]]:
    with zmq.Context() as context, context.socket(zmq.REQ) as client:
        yield introduced(client, rep)


def exchange(rep: RepSocket, batsim: zmq.Socket[bytes]) -> None:
    """A request and its reply."""
    batsim.send(b"request")
    assert rep.receive() == b"request"
    rep.send(b"reply")
    assert batsim.recv() == b"reply"


def receive_nothing_until_answered(rep: RepSocket, client: zmq.Socket[bytes]) -> None:
    """Listen until the client has a reply, however long its request is on its way."""
    while not client.poll(0):
        with pytest.raises(TransportError, match="has said nothing"):
            rep.receive(timeout=0.1)


def why_refused(client: zmq.Socket[bytes]) -> str:
    (event,) = json.loads(client.recv())["events"]
    assert event["type"] == STOP_EVENT
    return str(event["data"]["reason"])


def test_a_request_is_received_and_its_reply_delivered(rep: RepSocket, batsim: zmq.Socket[bytes]) -> None:
    """Bytes come through as they were sent, both ways."""
    batsim.send(b"\x00 request")
    assert rep.receive() == b"\x00 request"
    rep.send(b"reply \xff")
    assert batsim.recv() == b"reply \xff"


def test_the_address_has_the_port_that_was_found(rep: RepSocket) -> None:
    """A port asked for as `*` is a number in `address`."""
    assert rep.address.startswith("tcp://127.0.0.1:")
    assert int(rep.address.rpartition(":")[2]) > 0


def test_the_last_reply_leaves_before_the_socket_closes() -> None:
    """close() right after send() loses nothing, however large the reply."""
    reply = b"x" * 5_000_000
    with zmq.Context() as context, context.socket(zmq.REQ) as client:
        with RepSocket(ANY_PORT) as rep:
            client.connect(rep.address)
            client.send(b"last")
            rep.receive()
            rep.send(reply)
        assert client.recv() == reply


def test_a_peer_that_goes_is_noticed_without_a_time_out(rep: RepSocket, batsim: zmq.Socket[bytes]) -> None:
    """No reply and no request ever comes from a dead Batsim: waiting for it ends with an error."""
    exchange(rep, batsim)
    batsim.close(linger=0)
    with pytest.raises(TransportError, match=r"closed the connection .* before SIMULATION_ENDS"):
        rep.receive()


def test_a_peer_that_goes_while_its_reply_is_made_is_noticed(rep: RepSocket, batsim: zmq.Socket[bytes]) -> None:
    """Sending to nobody is not an error; the next receive() is."""
    batsim.send(b"request")
    rep.receive()
    batsim.close(linger=0)
    rep.send(b"reply")
    with pytest.raises(TransportError, match="closed the connection"):
        rep.receive()


def test_the_last_words_of_a_peer_that_has_gone_are_received(rep: RepSocket, batsim: zmq.Socket[bytes]) -> None:
    """A request that arrived before the connection ended is not lost."""
    batsim.send(b"first")
    rep.receive()
    rep.send(b"reply")
    batsim.recv()
    batsim.send(b"last words")
    batsim.close(linger=1000)
    assert rep.receive() == b"last words"


@pytest.mark.parametrize("words", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\xff" + b"x" * 100])
def test_a_stranger_that_comes_and_goes_is_not_a_peer(rep: RepSocket, batsim: zmq.Socket[bytes], words: bytes) -> None:
    """A peer that does not speak ZeroMQ does not end the wait for Batsim."""
    port = int(rep.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(words)
    batsim.send(b"request")
    assert rep.receive() == b"request"
    rep.send(b"reply")
    with pytest.raises(TransportError, match="has said nothing"):
        rep.receive(timeout=0.0)


def test_a_peer_that_goes_is_noticed_when_a_stranger_was_there_before(
    rep: RepSocket, batsim: zmq.Socket[bytes]
) -> None:
    """A connection that came to nothing is not mistaken for the one that counts."""
    port = int(rep.address.rpartition(":")[2])
    socket.create_connection(("127.0.0.1", port)).close()
    batsim.send(b"request")
    rep.receive()
    rep.send(b"reply")
    batsim.close(linger=0)
    with pytest.raises(TransportError, match="closed the connection"):
        rep.receive()


@pytest.mark.parametrize("kind", [zmq.REQ, zmq.DEALER])
def test_another_peer_that_comes_and_goes_does_not_matter(rep: RepSocket, batsim: zmq.Socket[bytes], kind: int) -> None:
    """Batsim is still there: it is waited for, and answered."""
    exchange(rep, batsim)
    with zmq.Context() as context, context.socket(kind) as other:
        introduced(other, rep)
    with pytest.raises(TransportError, match="has said nothing"):
        rep.receive(timeout=0.5)
    batsim.send(b"another")
    assert rep.receive() == b"another"


def test_a_peer_that_left_before_batsim_spoke_does_not_matter(rep: RepSocket, stranger: zmq.Socket[bytes]) -> None:
    """As long as somebody is left who may be Batsim."""
    with zmq.Context() as context, context.socket(zmq.REQ) as late:
        introduced(late, rep)
        stranger.close(linger=0)
        with pytest.raises(TransportError, match="has said nothing"):
            rep.receive(timeout=0.5)
        late.send(b"request")
        assert rep.receive() == b"request"


def test_nobody_left_before_a_word_was_said_is_an_error(rep: RepSocket, stranger: zmq.Socket[bytes]) -> None:
    """A Batsim that dies before its first request is noticed, too."""
    stranger.close(linger=0)
    with pytest.raises(TransportError, match="closed the connection"):
        rep.receive()


def test_batsim_s_end_is_noticed_though_another_peer_stays(
    rep: RepSocket, stranger: zmq.Socket[bytes], batsim: zmq.Socket[bytes]
) -> None:
    """Batsim is the sender of the first request; a peer that stays connected does not hide its end."""
    exchange(rep, batsim)
    batsim.close(linger=0)
    with pytest.raises(TransportError, match="closed the connection"):
        rep.receive()


def test_a_second_batsim_is_refused_and_the_first_served_on(
    rep: RepSocket, stranger: zmq.Socket[bytes], batsim: zmq.Socket[bytes]
) -> None:
    """Its request is answered by what makes Batsim stop, and never received."""
    batsim.send(b"first")
    assert rep.receive() == b"first"
    stranger.send(b"mine")
    rep.send(b"reply")
    assert batsim.recv() == b"reply"
    receive_nothing_until_answered(rep, stranger)
    assert why_refused(stranger) == "another Batsim is being served"
    batsim.send(b"second")
    assert rep.receive() == b"second"


def test_a_request_of_several_parts_does_not_disturb_the_wait(
    rep: RepSocket, stranger: zmq.Socket[bytes], batsim: zmq.Socket[bytes]
) -> None:
    """Its sender is not Batsim, which sends one part; it gets an answer that says so."""
    stranger.send_multipart([b"a", b"b", b"c"])
    receive_nothing_until_answered(rep, stranger)
    assert why_refused(stranger) == "a request of 3 parts; Batsim sends one"
    batsim.send(b"request")
    assert rep.receive() == b"request"


def test_a_request_of_several_parts_from_batsim_is_an_error(rep: RepSocket, batsim: zmq.Socket[bytes]) -> None:
    """One line that says how many; Batsim is not left waiting."""
    exchange(rep, batsim)
    batsim.send_multipart([b"a", b"b"])
    with pytest.raises(TransportError, match=r"^a request of 2 parts; Batsim sends one \(on tcp://"):
        rep.receive()
    assert why_refused(batsim) == "a request of 2 parts; Batsim sends one"


def test_once_all_are_served_no_connection_is_batsims(
    rep: RepSocket, batsim: zmq.Socket[bytes], stranger: zmq.Socket[bytes]
) -> None:
    """The descriptor of the first one may be another's by then, so that several parts are refused, and no error."""
    exchange(rep, batsim)
    rep.accept_all()
    exchange(rep, stranger)
    batsim.send_multipart([b"one", b"two"])
    receive_nothing_until_answered(rep, batsim)
    assert why_refused(batsim) == "a request of 2 parts; Batsim sends one"
    exchange(rep, stranger)


def test_silence_longer_than_the_time_out_is_an_error(rep: RepSocket) -> None:
    """The error names the time-out and the address."""
    with pytest.raises(TransportError, match=r"has said nothing for 0.1 s \(on tcp://127.0.0.1"):
        rep.receive(timeout=0.1)


def test_an_address_in_use_is_one_clear_line(rep: RepSocket) -> None:
    """The second decision process on an address says so and does not wait."""
    with pytest.raises(TransportError, match=f"cannot listen on {rep.address}: the address is in use"):
        RepSocket(rep.address)


@pytest.mark.parametrize(
    ("address", "rule"),
    [
        ("nonsense", "must be an address like"),
        ("127.0.0.1:28000", "must be an address like"),
        ("tcp://127.0.0.1", "must be an address like"),
        ("smoke://signal", "must be an address like"),
        ("tcp://127.0.0.1:93536", "the port must be at most 65535"),
        ("tcp://no-such-interface:28000", "this machine has no such address"),
    ],
)
def test_a_wrong_address_is_refused(address: str, rule: str) -> None:
    """The error has the address as it was given and the rule it breaks, on one line."""
    with pytest.raises(TransportError) as caught:
        RepSocket(address)
    assert address in str(caught.value)
    assert rule in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_reply_out_of_turn_is_refused(rep: RepSocket) -> None:
    """A reply without a request cannot be sent."""
    with pytest.raises(TransportError, match="cannot send"):
        rep.send(b"reply")

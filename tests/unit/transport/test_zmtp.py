"""ZeroMQ's wire protocol: what bytes mean, however they are cut, and what is answered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.transport.zmtp import DELIMITER, GREETING, Wire, framed, plain_request

READY = b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03REQ"
ROUTER_READY = b"\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06ROUTER"


def heard(*pieces: bytes) -> tuple[list[tuple[bytes, list[bytes]]], bytes, Wire]:
    """The requests and all answers to these pieces."""
    wire, requests, answers = Wire(), [], b""
    for piece in pieces:
        found, answer = wire.feed(piece)
        requests += [(request.envelope, request.parts) for request in found]
        answers += answer
    return requests, answers, wire


def introduced() -> Wire:
    """A peer that has done the handshake."""
    *_, wire = heard(GREETING, READY)
    assert wire.ready
    return wire


def test_the_greeting_is_that_of_the_protocol() -> None:
    """64 bytes: signature, version 3.0, NULL, not a server."""
    assert len(GREETING) == 64
    assert GREETING[:12] == b"\xff\0\0\0\0\0\0\0\0\x7f\x03\0"
    assert GREETING[12:16] == b"NULL"


def test_a_handshake_is_answered_by_what_we_are() -> None:
    """READY with the type of our socket; then both ends may talk."""
    _, answers, wire = heard(GREETING, READY)
    assert answers == b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03REP"
    assert wire.ready
    assert wire.idle


@given(st.binary(max_size=70_000), st.integers(1, 300))
def test_a_request_is_the_same_however_its_bytes_are_cut(body: bytes, size: int) -> None:
    """TCP keeps no boundaries."""
    data = GREETING + READY + DELIMITER + framed(body)
    size = max(size, len(data) // 50)
    requests, _, wire = heard(*(data[start : start + size] for start in range(0, len(data), size)))
    assert requests == [(DELIMITER, [body])]
    assert wire.idle


@given(st.binary(max_size=70_000))
def test_a_plain_request_is_known_at_once(body: bytes) -> None:
    """What REQ sockets send, if all of it has come; never anything else."""
    data = DELIMITER + framed(body)
    assert plain_request(data) == body
    assert plain_request(data + b"\0") is None
    assert all(plain_request(data[:end]) is None for end in (*range(12), len(data) - 1) if end < len(data))


def test_two_requests_in_one_piece_are_two() -> None:
    """In the order of the bytes."""
    wire = introduced()
    found, _ = wire.feed((DELIMITER + framed(b"a")) + (DELIMITER + framed(b"b")))
    assert [request.parts for request in found] == [[b"a"], [b"b"]]


def test_the_envelope_of_a_request_is_kept_for_the_reply() -> None:
    """A DEALER may put parts before the empty one, to know its replies by."""
    wire = introduced()
    ((request,), _) = wire.feed(b"\x01\x03abc" + DELIMITER + framed(b"request"))
    assert (request.envelope, request.parts) == (b"\x01\x03abc" + DELIMITER, [b"request"])


@pytest.mark.parametrize("message", [framed(b"lonely"), b"\x01\x01a" + framed(b"b"), b"\x00\x00"])
def test_a_message_without_an_empty_part_before_its_last_is_no_request(message: bytes) -> None:
    """A REP socket drops it; what comes after it is heard."""
    wire = introduced()
    assert wire.feed(message)[0] == []
    assert [request.parts for request in wire.feed(DELIMITER + framed(b"x"))[0]] == [[b"x"]]


@pytest.mark.parametrize(
    "words",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" + b"x" * 100,
        b"\xff" + bytes(8) + b"\x7f\x01",
        GREETING.replace(b"NULL\0", b"CURVE") + READY,
        GREETING + ROUTER_READY,
        GREETING + b"\x04\x04\x03BAD",
        GREETING + b"\x04\x00",
        GREETING + DELIMITER + framed(b"too early"),
        GREETING + b"\x06" + (1 << 40).to_bytes(8, "big"),
        GREETING + READY + b"\x80\x00",
    ],
)
def test_who_does_not_speak_it_is_foreign(words: bytes) -> None:
    """Web browsers, older versions, other mechanisms, other sockets, commands that are none."""
    requests, _, wire = heard(words)
    assert wire.foreign
    assert requests == []


def test_a_ping_is_answered() -> None:
    """ZMTP 3.1's heartbeat: a time-out in two bytes, and what the answer must hold."""
    assert introduced().feed(b"\x04\x0a\x04PING\x00\x64abc") == ([], b"\x04\x08\x04PONGabc")


def test_names_of_properties_may_be_in_any_letters() -> None:
    """The RFC compares them so."""
    assert heard(GREETING, READY.replace(b"Socket-Type", b"SOCKET-type"))[2].ready

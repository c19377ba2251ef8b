"""The simulator's socket: it waits for a decision process, and notices when there is none any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import zmq

from batsched_py.errors import TransportError
from batsched_py.transport.zmq_req import ReqSocket


@pytest.fixture
def decider() -> Iterator[zmq.Socket[bytes]]:
    with zmq.Context() as context, context.socket(zmq.REP) as server:
        server.bind("tcp://127.0.0.1:*")
        yield server


@pytest.fixture
def aside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def address(decider: zmq.Socket[bytes]) -> str:
    return decider.get_string(zmq.LAST_ENDPOINT)


def answering(decider: zmq.Socket[bytes], reply: Callable[[bytes], bytes]) -> None:
    decider.send(reply(decider.recv()))


def test_an_exchange_sends_and_returns_bytes(decider: zmq.Socket[bytes], aside: ThreadPoolExecutor) -> None:
    """The reply is the peer's, as it was sent."""
    with ReqSocket(address(decider)) as req:
        aside.submit(answering, decider, lambda request: request + b" \xff")
        assert req.exchange(b"request") == b"request \xff"
        aside.submit(answering, decider, bytes.upper)
        assert req.exchange(b"again") == b"AGAIN"


def test_a_decision_process_that_starts_late_is_waited_for(aside: ThreadPoolExecutor) -> None:
    """As Batsim does, the simulator may be started first."""
    with zmq.Context() as context, context.socket(zmq.REP) as first:
        first.bind("tcp://127.0.0.1:*")
        free_address = address(first)
    with ReqSocket(free_address, connect_timeout=60) as req:
        exchange = aside.submit(req.exchange, b"request")
        with zmq.Context() as context, context.socket(zmq.REP) as late:
            late.bind(free_address)
            answering(late, bytes.upper)
            assert exchange.result() == b"REQUEST"


def test_nobody_listening_is_an_error_after_the_connect_time_out() -> None:
    """The error says where nobody listens."""
    with zmq.Context() as context, context.socket(zmq.REP) as gone:
        gone.bind("tcp://127.0.0.1:*")
        free_address = address(gone)
    with (
        ReqSocket(free_address, connect_timeout=0) as req,
        pytest.raises(TransportError, match=f"no decision process listens on {free_address}"),
    ):
        req.exchange(b"request")


def test_a_decision_process_that_dies_before_it_answers_is_noticed(
    decider: zmq.Socket[bytes], aside: ThreadPoolExecutor
) -> None:
    """Without any time-out."""
    with ReqSocket(address(decider)) as req:
        exchange = aside.submit(req.exchange, b"request")
        decider.recv()
        decider.close(linger=0)
        with pytest.raises(TransportError, match="closed the connection before it answered"):
            exchange.result()


def test_a_silent_decision_process_is_an_error_after_the_answer_time_out(decider: zmq.Socket[bytes]) -> None:
    """It listens, but does not answer."""
    with (
        ReqSocket(address(decider), answer_timeout=0.1) as req,
        pytest.raises(TransportError, match="has not answered"),
    ):
        req.exchange(b"request")


def test_a_second_exchange_after_a_failed_one_is_refused(decider: zmq.Socket[bytes]) -> None:
    """A request is still open: ZeroMQ's alternation forbids the next one."""
    with ReqSocket(address(decider), answer_timeout=0) as req:
        with pytest.raises(TransportError, match="has not answered"):
            req.exchange(b"request")
        with pytest.raises(TransportError, match="cannot talk to"):
            req.exchange(b"request")


@pytest.mark.parametrize("wrong", ["nonsense", "smoke://signal", "tcp://127.0.0.1:93536"])
def test_a_wrong_address_is_refused(wrong: str) -> None:
    """The error has the address as it was given."""
    with pytest.raises(TransportError, match=wrong):
        ReqSocket(wrong)

"""The decision process of a simulation: another program over ZeroMQ."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.terminal import say
from batsched_py.protocol.stopping import check_stop
from batsched_py.simulator.wire.scheduler_link import Exchange
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import recording


@contextmanager
def their_decider(address: str, connect_timeout: float, record: Path | None) -> Iterator[Exchange]:
    """Yield the exchange with the process that listens on `address` within `connect_timeout` s. TransportError."""
    transport = importlib.import_module("batsched_py.transport.zmq_req")  # few simulations need ZeroMQ
    with (
        transport.ReqSocket(address, connect_timeout=connect_timeout, limits=current_limits()) as socket,
        recording(record, Header()) as recorder,
    ):
        say(f"asking the decision process on {address}", err=True)

        def exchange(request: bytes) -> bytes:
            reply: bytes = socket.exchange(request)
            if recorder is not None:
                recorder.record(request, reply)
            check_stop(reply)
            return reply

        yield exchange

"""The connection to Batsim, independent of the transport, and the function that makes Batsim stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from batsched_py.errors import TransportError

#: Records an exchange: a request and its reply.
Keep = Callable[[bytes, bytes], None]

#: Seconds that an interrupted process waits for the next request, to refuse it: else Batsim would wait forever.
GRACE: Final = 1.0


class Connection(Protocol):
    """The connection to Batsim; TransportError if it is gone or silent for too long."""

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for the next request."""

    def send(self, reply: bytes) -> None:
        """Answer it."""


def stop_batsim(
    connection: Connection,
    request: bytes | None,
    refuse: Callable[[bytes], bytes],
    record: Keep | None,
    *,
    asks_again: bool,
) -> None:
    """Refuse the request that Batsim waits with, or, if it has its reply and `asks_again`, the next one within GRACE.

    The refusal is recorded as the reply. TransportError if Batsim is gone or does not ask.
    """
    if request is not None:
        refusal = refuse(request)
        try:
            connection.send(refusal)
        except TransportError:
            request = None  # its reply had just been sent at the interruption
    if request is None:
        if not asks_again:
            return
        request = connection.receive(GRACE)
        refusal = refuse(request)
        connection.send(refusal)
    if record is not None:
        record(request, refusal)

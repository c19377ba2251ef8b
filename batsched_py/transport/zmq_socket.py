"""The common part of both ends of the wire: a ZeroMQ socket with the watch over its peers."""

from __future__ import annotations

from typing import ClassVar, Final, Self

import zmq

from batsched_py.reading.limits import Limits
from batsched_py.transport.address import check_port
from batsched_py.transport.peer_watch import PeerWatch

#: Milliseconds between two checks of a silent peer. Messages are not delayed by it, only the detection of a dead peer,
#: and a signal that arrives in the few instructions where Python cannot yet see it.
LOOK_EVERY: Final = 200


class ZmqSocket:
    """A socket of one kind with its own ZeroMQ context; a context manager."""

    __slots__ = ("_context", "_limits", "_peers", "_socket")

    #: Milliseconds that close() waits for the last message to be sent, if the peer is alive but does not read.
    linger: ClassVar[int] = 0

    def __init__(self, kind: int, address: str, limits: Limits) -> None:
        """Open the socket without binding or connecting it; TransportError for an invalid port.

        A connection is closed if it sends a message of more than twice the size that `limits` allow; smaller messages
        are received, so that their reader can report the error.
        """
        check_port(address)
        self._limits = limits
        self._context = zmq.Context()
        self._socket = self._context.socket(kind)
        self._socket.rcvtimeo = LOOK_EVERY
        self._socket.maxmsgsize = 2 * limits.message_size
        self._peers = PeerWatch(self._socket)

    def close(self) -> None:
        """Close, after the last message has been sent or `linger` has passed."""
        self._peers.close()
        self._socket.close(linger=self.linger)
        self._context.term()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

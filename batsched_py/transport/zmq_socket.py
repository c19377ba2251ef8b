"""The common part of both ends of the wire: a ZeroMQ socket with the watch over its peers."""

from __future__ import annotations

from types import TracebackType
from typing import ClassVar, Final, Self

import zmq

from batsched_py.model.limits import Limits
from batsched_py.transport.address import check_port
from batsched_py.transport.peer_watch import PeerWatch

#: Milliseconds between two looks at the peer while it is silent. A message does not wait for the look, only news of a
#: death does, and a signal that arrives in the few instructions where Python cannot yet see it.
LOOK_EVERY: Final = 200


class ZmqSocket:
    """A socket of one kind in a context of its own, which closes it; a context manager."""

    __slots__ = ("_context", "_limits", "_peers", "_socket")

    #: Milliseconds that close() waits for the last message to leave, if the peer lives but does not read.
    linger: ClassVar[int] = 0

    def __init__(self, kind: int, address: str, limits: Limits) -> None:
        """Open it, not yet bound or connected; TransportError for a port that no machine has.

        A connection that sends twice as much in one message as `limits` allow is closed; what is less than that is
        received, so that its reader can name what is wrong.
        """
        check_port(address)
        self._limits = limits
        self._context = zmq.Context()
        self._socket = self._context.socket(kind)
        self._socket.rcvtimeo = LOOK_EVERY
        self._socket.maxmsgsize = 2 * limits.message_size
        self._peers = PeerWatch(self._socket)

    def close(self) -> None:
        """Close, after the last message has left or `linger` has passed."""
        self._peers.close()
        self._socket.close(linger=self.linger)
        self._context.term()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

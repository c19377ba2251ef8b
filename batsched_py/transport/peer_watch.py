"""What a socket's monitor tells about its peers: who has introduced itself, who has gone."""

from __future__ import annotations

from typing import Final

import zmq
from zmq.utils.monitor import recv_monitor_message

_OPENED: Final = (zmq.Event.ACCEPTED, zmq.Event.CONNECTED)
_WATCHED: Final = zmq.Event.ACCEPTED | zmq.Event.CONNECTED | zmq.Event.HANDSHAKE_SUCCEEDED | zmq.Event.DISCONNECTED


class PeerWatch:
    """Follows the connections of one socket; the socket's own messages pay nothing for it.

    A connection that ends before the ZeroMQ handshake (a port scanner, a browser, a socket of the wrong type) was never
    a peer. ZeroMQ numbers connections when they open and close but not when the handshake is done, which takes a round
    trip: it is then that of the newest connection that has not introduced itself yet.
    """

    __slots__ = ("_introduced", "_monitor", "_socket", "_strangers", "lost")

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._socket = socket
        self._monitor = socket.get_monitor_socket(_WATCHED)
        #: Open connections without a handshake yet, by file descriptor, oldest first.
        self._strangers: list[int] = []
        #: Connections that completed the handshake, also those that have ended since.
        self._introduced: list[int] = []
        #: True once a connection has ended that had completed the handshake.
        self.lost = False

    @property
    def greeted(self) -> bool:
        """True once a peer has completed the handshake."""
        return bool(self._introduced)

    def look(self) -> None:
        """Bring `greeted` and `lost` up to date; does not wait."""
        while self._monitor.poll(0):
            news = recv_monitor_message(self._monitor)
            event, connection = zmq.Event(news["event"]), news["value"]
            if event in _OPENED:
                self._strangers.append(connection)
            elif event is zmq.Event.HANDSHAKE_SUCCEEDED:
                self._introduced.append(self._strangers.pop())
            elif connection in self._strangers:
                self._strangers.remove(connection)
            else:
                self.lost = True

    def close(self) -> None:
        """Stop watching; to be called before the socket is closed."""
        self._socket.disable_monitor()
        self._monitor.close(linger=0)

"""The monitor of a socket's peers, which counts completed handshakes and lost peers."""

from __future__ import annotations

import struct
from typing import Final

import zmq

#: First part of a monitor's message: the event's number and its value. pyzmq's own reader would import asyncio.
_NEWS: Final = struct.Struct("=Hi")
_WATCHED: Final = zmq.Event.ACCEPTED | zmq.Event.CONNECTED | zmq.Event.HANDSHAKE_SUCCEEDED | zmq.Event.DISCONNECTED


class PeerWatch:
    """A monitor of one socket's connections, without a cost for the socket's own messages.

    A connection that ends before the ZeroMQ handshake (a port scanner, a browser, a socket of the wrong type) was never
    a peer. ZeroMQ does not identify the connection that has completed the handshake, so they are counted: a peer has
    certainly gone when fewer connections are open than there were peers. While a connection without a handshake is
    open, this may be noticed up to 30 s late, when ZeroMQ closes that connection. A connection that is followed needs
    no counting.
    """

    __slots__ = ("_followed", "_monitor", "_open", "_socket", "departed", "followed_gone", "met", "present")

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._socket = socket
        self._monitor = socket.get_monitor_socket(_WATCHED)
        #: File descriptors of the open connections, whether a peer or not.
        self._open: set[int] = set()
        #: Descriptor of the only connection that counts; None while all do.
        self._followed: int | None = None
        #: True once the connection that is followed has ended; its descriptor may be another's by now.
        self.followed_gone = False
        #: True once there was a connection, of a peer or not.
        self.met = False
        #: Peers connected; at most as many as there are connections.
        self.present = 0
        #: Peers that have gone for certain.
        self.departed = 0

    @property
    def greeted(self) -> bool:
        """True once a peer has completed the handshake."""
        return self.present + self.departed > 0

    @property
    def abandoned(self) -> bool:
        """True if no peer is left: the followed one, or all that had connected, have gone."""
        return self.followed_gone or (self._followed is None and self.departed > 0 and self.present == 0)

    def follow(self, descriptor: int) -> None:
        """Watch only the open connection with this file descriptor."""
        self.look()
        if descriptor in self._open:
            self._followed = descriptor

    def look(self) -> None:
        """Update the counts without waiting."""
        while self._monitor.poll(0):
            event, value = _NEWS.unpack(self._monitor.recv_multipart()[0])
            if event == zmq.Event.HANDSHAKE_SUCCEEDED:
                self.present += 1
            elif event == zmq.Event.DISCONNECTED:
                self._forget(value)
            else:
                self.met = True
                self._open.add(value)

    def _forget(self, descriptor: int) -> None:
        self._open.discard(descriptor)
        self.followed_gone = self.followed_gone or descriptor == self._followed
        gone = max(0, self.present - len(self._open))
        self.present -= gone
        self.departed += gone

    def close(self) -> None:
        """Stop watching; call this before the socket is closed. A second call has no effect."""
        if self._monitor.closed:
            return
        self._socket.disable_monitor()
        self._monitor.close(linger=0)

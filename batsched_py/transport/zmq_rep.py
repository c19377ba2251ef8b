"""The decision process's end of the wire: a ZeroMQ REP socket to which Batsim connects.

It speaks ZeroMQ's protocol itself, over plain sockets, because ZeroMQ's library passes each message through a thread of
its own: that costs more than all the rest of a message, and what happens to a connection is hard to learn from it.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from batsched_py.errors import TransportError
from batsched_py.transport.listener import Listener
from batsched_py.transport.zmtp import DELIMITER, GREETING, Request, Wire, framed, plain_request

#: Milliseconds that Batsim alone is waited for. After such a silence, and after each ROUND of messages, others are
#: looked at. A signal may wait as long if it arrives in the few instructions where Python cannot yet see it.
LOOK_EVERY: Final = 200
ROUND: Final = 1000

#: Seconds that close() waits for the last reply to leave, if the peer lives but does not read.
LINGER: Final = 5.0

#: Seconds of silence after which the kernel asks a remote machine whether it still exists. The kernel answers, not
#: Batsim: a Batsim that computes for hours, or is stopped in a debugger, is not dead.
KEEPALIVE: Final = 60

#: Most bytes that are read at once.
_CHUNK: Final = 1 << 16
#: The kernel's own time-out of a read or write, as a `struct timeval`: one system call for each instead of two.
_TIMEVAL: Final = struct.pack("@ll", LOOK_EVERY // 1000, LOOK_EVERY % 1000 * 1000)

#: The reply to whom we do not serve: Batsim aborts on an event that it does not know, instead of waiting for ever.
_REFUSAL: Final = '{"now":0,"events":[{"timestamp":0,"type":"BATSCHED_PY_STOPPED","data":{"reason":"%s"}}]}'


class Peer:
    """A connection.

    Attributes:
        socket: does not block, but for Batsim's, which waits up to LOOK_EVERY.
        wire: what its bytes mean.
        asked: requests that were read and not received.
        unsent: the rest of a reply that did not fit into the kernel's buffer.
        gone: the connection has ended.
    """

    __slots__ = ("asked", "gone", "socket", "unsent", "wire")

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.wire = Wire()
        self.asked: list[Request] = []
        self.unsent = b""
        self.gone = False

    def read(self) -> None:
        """What has come, if anything has."""
        try:
            data = self.socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.feed(data)
        else:
            self.gone = True

    def feed(self, data: bytes) -> None:
        """These bytes have come."""
        requests, answer = self.wire.feed(data)
        self.asked += requests
        if answer:
            self.write(answer)
        if self.wire.foreign:
            self.gone = True

    def write(self, data: bytes) -> None:
        """Send it after what is still unsent; the rest stays. Whether anybody is there shows when reading."""
        data = self.unsent + data if self.unsent else data
        try:
            sent = self.socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            sent = len(data)
        self.unsent = data[sent:] if sent < len(data) else b""


class RepSocket:
    """Receives requests and sends replies, in strict alternation; a context manager.

    The first peer that sends a request is Batsim, for as long as the socket lives. What others ask is refused here, and
    whether they come or go does not matter any more. Others are heard while receive() waits.

    Attributes:
        address: where it really listens; a port asked for as `*` is a number here.
    """

    __slots__ = ("_batsim", "_departed", "_envelope", "_listener", "_peers", "_poll", "_until_look", "address")

    def __init__(self, address: str) -> None:
        """Listen on `address`, such as "tcp://127.0.0.1:28000". TransportError if that is not possible."""
        self._listener = Listener(address)
        self.address = self._listener.address
        #: File descriptor -> who is connected.
        self._peers: dict[int, Peer] = {}
        #: The listener and the peers.
        self._poll = select.poll()
        self._poll.register(self._listener.socket, select.POLLIN)
        #: The first peer that sent a request; None before.
        self._batsim: Peer | None = None
        #: A peer that had done the handshake has gone, before Batsim spoke.
        self._departed = False
        #: What must stand before the reply that is owed; None if none is.
        self._envelope: bytes | None = None
        #: Messages until others are looked at although Batsim is not silent.
        self._until_look = ROUND

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for Batsim's next request.

        TransportError if Batsim goes away, however long that takes to happen, if nobody is left of those that had
        introduced themselves before Batsim spoke, if Batsim says nothing for `timeout` seconds, or if its request has
        several parts.
        """
        started = time.monotonic()
        request = self._hear_batsim() if self._batsim is not None else None
        while request is None:
            self._check_peer()
            self._look(LOOK_EVERY)
            request = self._next_request()
            if request is None and timeout is not None and time.monotonic() - started >= timeout:
                self._check_peer()
                raise TransportError(f"Batsim has said nothing for {timeout:g} s (on {self.address})")
        return request

    def send(self, reply: bytes) -> None:
        """Answer the request received last. Does not wait; a peer that has gone is found out by the next receive()."""
        envelope = self._envelope
        if envelope is None or self._batsim is None:
            raise TransportError(f"cannot send on {self.address}: no request is to be answered")
        data = envelope + framed(reply)
        self._envelope = None  # before it leaves: who is interrupted right after must not answer again
        self._batsim.write(data)

    def close(self) -> None:
        """Close, after the last reply has left."""
        until = time.monotonic() + LINGER
        batsim = self._batsim
        while batsim is not None and batsim.unsent and time.monotonic() < until:
            batsim.write(b"")
        for peer in self._peers.values():
            peer.socket.close()
        self._peers.clear()
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _hear_batsim(self) -> bytes | None:
        """The way of nearly all messages: one read, and all of it is the request. None if it is not so."""
        batsim = self._batsim
        self._until_look -= 1
        if batsim is None or batsim.unsent or batsim.asked or not batsim.wire.idle or self._until_look <= 0:
            self._until_look = ROUND
            self._look(0)
            return self._next_request()
        try:
            data = batsim.socket.recv(_CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        request = plain_request(data)
        if request is not None:
            self._envelope = DELIMITER
            return request
        if data:
            batsim.feed(data)
        else:
            batsim.gone = True
        return self._next_request()

    def _look(self, milliseconds: int) -> None:
        """Wait so long for anybody, and take in what has come from all."""
        batsim = self._batsim
        if batsim is not None and batsim.unsent:
            batsim.write(b"")
            milliseconds = 0
        for descriptor, _ in self._poll.poll(milliseconds):
            peer = self._peers.get(descriptor)
            if peer is None:
                self._welcome()
                continue
            peer.read()
            if peer is not batsim:
                self._judge(descriptor, peer)

    def _welcome(self) -> None:
        with suppress(OSError):  # gone already
            connected, _ = self._listener.socket.accept()
            connected.setblocking(False)
            if connected.family == socket.AF_INET:
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                if hasattr(socket, "TCP_KEEPIDLE"):
                    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE)
            peer = self._peers[connected.fileno()] = Peer(connected)
            self._poll.register(connected, select.POLLIN)
            peer.write(GREETING)

    def _judge(self, descriptor: int, peer: Peer) -> None:
        """Who asks first is Batsim; other requests are refused, and others that have gone are forgotten."""
        for request in peer.asked:
            if len(request.parts) != 1:
                self._refuse(peer, request, _several(request))
            elif self._batsim is None:
                self._batsim = peer
                peer.asked = [request]
                peer.socket.setblocking(True)
                for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                    peer.socket.setsockopt(socket.SOL_SOCKET, option, _TIMEVAL)
                return
            else:
                self._refuse(peer, request, "another Batsim is being served")
        peer.asked = []
        if peer.gone:
            self._departed = self._departed or peer.wire.ready
            del self._peers[descriptor]
            self._poll.unregister(descriptor)
            peer.socket.close()

    def _next_request(self) -> bytes | None:
        """Batsim's, if one has been read."""
        batsim = self._batsim
        if batsim is None or not batsim.asked:
            return None
        request = batsim.asked.pop(0)
        if len(request.parts) != 1:
            rule = _several(request)
            self._refuse(batsim, request, rule)
            raise TransportError(f"{rule} (on {self.address})")
        self._envelope = request.envelope
        return request.parts[0]

    def _refuse(self, peer: Peer, request: Request, why: str) -> None:
        peer.write(request.envelope + framed((_REFUSAL % why).encode()))

    def _check_peer(self) -> None:
        """What a peer said before its end was received before."""
        if self._batsim is not None:
            forsaken = self._batsim.gone
        else:
            forsaken = self._departed and not any(peer.wire.ready for peer in self._peers.values())
        if forsaken:
            raise TransportError(f"Batsim closed the connection to {self.address} before SIMULATION_ENDS")


def _several(request: Request) -> str:
    return f"a request of {len(request.parts)} parts; Batsim sends one"

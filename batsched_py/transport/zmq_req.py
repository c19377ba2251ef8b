"""Batsim's end of the wire, for the simulator: a ZeroMQ REQ socket that connects to a decision process."""

from __future__ import annotations

import time

import zmq

from batsched_py.errors import TransportError
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.transport.address import FORM, connects_by_ipv6
from batsched_py.transport.zmq_socket import LOOK_EVERY, ZmqSocket


class ReqSocket(ZmqSocket):
    """A socket that sends requests and receives replies, in strict alternation; a context manager."""

    __slots__ = ("address", "answer_timeout", "connect_timeout")

    def __init__(
        self,
        address: str,
        *,
        connect_timeout: float | None = None,
        answer_timeout: float | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        """Connect to `address`, such as "tcp://127.0.0.1:28000", without waiting. TransportError if it is not one.

        Args:
            address: where the decision process listens, now or a little later.
            connect_timeout: seconds that the first exchange waits for a listener; None: forever.
            answer_timeout: seconds that an exchange waits for its reply; None: forever.
            limits: how large a reply may be.
        """
        super().__init__(zmq.REQ, address, limits)
        self.address, self.connect_timeout, self.answer_timeout = address, connect_timeout, answer_timeout
        self._socket.setsockopt(zmq.IPV6, connects_by_ipv6(address))
        self._socket.sndtimeo = LOOK_EVERY
        try:
            self._socket.connect(address)
        except zmq.ZMQError as error:
            self.close()
            raise TransportError(f"cannot connect to {address}: {FORM}") from error

    def exchange(self, request: bytes) -> bytes:
        """Send a request and wait for its reply.

        TransportError if no process listens, if the peer disconnects or exceeds a time-out, or if its reply is too
        large or has several parts.
        """
        started, sent = time.monotonic(), False
        try:
            while True:
                try:
                    if not sent:  # it waits as long as there is no connection, as after a failed handshake
                        self._socket.send(request)
                        sent = True
                    reply = self._socket.recv()
                except zmq.Again:
                    self._check_peer(time.monotonic() - started)
                    continue
                if self._socket.getsockopt(zmq.RCVMORE):
                    raise TransportError(f"a reply of {self._parts()} parts; there must be one (on {self.address})")
                if len(reply) > self._limits.message_size:
                    raise TransportError(f"a reply on {self.address} {self._limits.rule('message_size')}")
                return reply
        except zmq.ZMQError as error:
            raise TransportError(f"cannot talk to {self.address}: {error.strerror}") from error

    def _parts(self) -> int:
        """Receive the other parts of a reply, and return the total number of parts."""
        parts = 1
        while self._socket.getsockopt(zmq.RCVMORE):
            self._socket.recv()
            parts += 1
        return parts

    def _check_peer(self, waited: float) -> None:
        self._peers.look()
        if self._peers.departed and not self._socket.poll(0):
            raise TransportError(f"the decision process on {self.address} closed the connection before it answered")
        if not self._peers.greeted:
            if self.connect_timeout is not None and waited >= self.connect_timeout:
                other = "; what listens there does not speak as one" if self._peers.met else ""
                raise TransportError(f"no decision process listens on {self.address} (waited {waited:.0f} s{other})")
        elif self.answer_timeout is not None and waited >= self.answer_timeout:
            raise TransportError(f"the decision process on {self.address} has not answered for {waited:.0f} s")

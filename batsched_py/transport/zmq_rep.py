"""The decision process's end of the wire: a ZeroMQ REP socket to which Batsim connects."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from typing import Final

import zmq

from batsched_py.errors import TransportError
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.transport.address import FORM, SocketFile, free_to_bind, listens_on_ipv6
from batsched_py.transport.zmq_socket import ZmqSocket

#: Seconds of silence after which the kernel sends keep-alive probes to a remote machine. The remote kernel answers, not
#: Batsim: a Batsim that computes for hours, or is stopped in a debugger, is not dead.
KEEPALIVE: Final = 60

#: The reply to a refused peer: Batsim aborts on an unknown event, instead of waiting forever.
_REFUSAL: Final = '{"now":0,"events":[{"timestamp":0,"type":"BATSCHED_PY_STOPPED","data":{"reason":"%s"}}]}'
#: Errors of socket files, for which pyzmq has long messages.
_OF_FILES: Final = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EACCES)
_SRCFD: Final = int(zmq.SRCFD)


class RepSocket(ZmqSocket):
    """A socket that receives requests and sends replies, in strict alternation; a context manager.

    The first peer that sends a request is Batsim, for the lifetime of the socket. Requests of other peers are refused,
    and their connections are ignored.

    Attributes:
        address: its actual address, in which the port `*` is replaced by a number.
        watch: called several times a second while waiting; an exception from it ends the wait. It is for callers that
            can watch Batsim's process: a Batsim that died before it connected was never a peer.
    """

    __slots__ = ("_batsim", "_file", "_send", "_serves_all", "address", "watch")

    linger = 5000

    def __init__(self, address: str, limits: Limits = LIMITS) -> None:
        """Listen on `address`, such as "tcp://127.0.0.1:28000". TransportError if that is not possible.

        `tcp://*:28000` means all IPv4 and IPv6 addresses of the machine.
        """
        super().__init__(zmq.REP, address, limits)
        self.watch: Callable[[], None] | None = None
        #: Sends bytes without pyzmq's checks of options for other types of sockets.
        self._send = super(zmq.Socket, self._socket).send
        self._socket.setsockopt(zmq.TCP_KEEPALIVE, 1)
        self._socket.setsockopt(zmq.TCP_KEEPALIVE_IDLE, KEEPALIVE)
        #: File descriptor of the first peer's connection; ZeroMQ stamps it on each message. None before the first.
        self._batsim: int | None = None
        #: True if all peers are served, and a lost connection means nothing.
        self._serves_all = False
        self._socket.setsockopt(zmq.IPV6, listens_on_ipv6(address))
        #: The file of the address, to be removed at the end; None for an address without one.
        self._file: SocketFile | None = None
        try:
            with free_to_bind(address):
                self._socket.bind(address)
                self._file = SocketFile.of(address)
        except zmq.ZMQError as error:
            self.close()
            raise TransportError(f"cannot listen on {address}: {_bind_problem(error)}") from error
        except TransportError:
            self.close()
            raise
        # Of all addresses, the one to which Batsim can connect with and without IPv6.
        self.address = self._socket.get_string(zmq.LAST_ENDPOINT).replace("tcp://[::]:", "tcp://0.0.0.0:")

    def close(self) -> None:
        """Close, after the last reply has been sent or some seconds have passed; remove the socket's file."""
        super().close()
        if self._file is not None:
            self._file.remove()

    def accept_all(self) -> None:
        """Serve the requests of all peers from now on: the peer opens a connection for each of its messages.

        Between two messages it has none, so that only `receive`'s time-out can detect that it is gone.
        """
        self._serves_all = True
        self._batsim = None  # another connection may have its descriptor once the first is closed
        self._peers.close()  # its news would not be read

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for Batsim's next request.

        TransportError if Batsim disconnects at any time, if all peers disconnect before the first request, if Batsim is
        silent for `timeout` seconds, or if its request has several parts.
        """
        started = time.monotonic()
        while True:
            try:
                frame = self._socket.recv(copy=False)
                if (frame.get(_SRCFD) == self._batsim and not frame.more) or self._is_batsim(frame):
                    return frame.bytes
            except zmq.Again:
                pass
            except zmq.ZMQError as error:
                raise TransportError(f"cannot receive on {self.address}: {error.strerror}") from error
            self._check_peer()
            if timeout is not None and time.monotonic() - started >= timeout:
                raise TransportError(f"Batsim has said nothing for {timeout:g} s (on {self.address})")

    def send(self, reply: bytes) -> None:
        """Answer the last request. Does not wait; the next receive() detects a lost peer."""
        try:
            self._send(reply)
        except zmq.ZMQError as error:
            raise TransportError(f"cannot send on {self.address}: {error.strerror}") from error

    def _is_batsim(self, frame: zmq.Frame) -> bool:
        """Return whether to serve a request: the first of all, or Batsim's; refuse any other, and several parts."""
        descriptor = int(frame.get(_SRCFD))
        parts = 1
        while frame.more:
            frame = self._socket.recv(copy=False)
            parts += 1
        if parts > 1:
            rule = f"a request of {parts} parts; Batsim sends one"
            self.send((_REFUSAL % rule).encode())
            if descriptor == self._batsim:
                raise TransportError(f"{rule} (on {self.address})")
            return False
        if self._serves_all:
            return True
        if self._batsim is not None:
            self.send((_REFUSAL % "another Batsim is being served").encode())
            return False
        self._batsim = descriptor
        self._peers.follow(descriptor)
        return True

    def _check_peer(self) -> None:
        """Raise TransportError if Batsim has gone, and no earlier message of it is left to be received."""
        if self.watch is not None and not self._socket.poll(0):
            self.watch()
        if self._serves_all:
            return
        self._peers.look()
        if self._peers.abandoned and not self._socket.poll(0):
            raise TransportError(f"Batsim closed the connection to {self.address} before SIMULATION_ENDS")


def _bind_problem(error: zmq.ZMQError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the address is in use; is another decision process still running?"
    if error.errno == errno.EAFNOSUPPORT:
        return "this machine has no IPv6"
    if error.errno in (errno.ENODEV, errno.EADDRNOTAVAIL):
        return "this machine has no such address; give a number (127.0.0.1 or [::1]), an interface, or * for all"
    if error.errno in (errno.EINVAL, errno.EPROTONOSUPPORT):
        return FORM
    return os.strerror(error.errno or 0) if error.errno in _OF_FILES else error.strerror

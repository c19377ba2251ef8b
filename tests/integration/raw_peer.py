"""ZeroMQ's wire protocol (ZMTP 3.0, RFC 23) spoken by hand over TCP, to break off where no ZeroMQ socket would."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from tests.integration.programs import PATIENCE

#: Signature, version 3.0, mechanism NULL, not as a server.
_GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" + bytes(31)
#: Flags of a frame.
_MORE, _LONG, _COMMAND = 1, 2, 4


class RawPeer:
    """One end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def introduce(self, kind: bytes) -> None:
        """The whole handshake, as a socket of this kind (REQ or REP)."""
        self.connection.sendall(_GREETING)
        self._read(len(_GREETING))
        ready = b"\x05READY" + b"\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind
        self.connection.sendall(bytes([_COMMAND, len(ready)]) + ready)
        flags, body = self._frame()
        assert flags == _COMMAND, body
        assert body.startswith(b"\x05READY"), body

    def send(self, message: bytes, part: float = 1.0) -> None:
        """A request or reply of one frame after the empty one; of it only this part of its bytes."""
        self.connection.sendall(bytes([_MORE, 0]))
        frame = bytes([_LONG]) + struct.pack(">Q", len(message)) + message
        self.connection.sendall(frame[: int(len(frame) * part)])

    def receive(self) -> bytes:
        """The other end's next request or reply."""
        flags, empty = self._frame()
        assert (flags, empty) == (_MORE, b"")
        flags, message = self._frame()
        assert not flags & _MORE
        return message

    def break_off(self) -> None:
        """Close in the middle of whatever it was."""
        self.connection.close()

    def _frame(self) -> tuple[int, bytes]:
        flags = self._read(1)[0]
        (size,) = struct.unpack(">Q", self._read(8)) if flags & _LONG else self._read(1)
        return flags & ~_LONG, self._read(size)

    def _read(self, count: int) -> bytes:
        read = b""
        while len(read) < count:
            more = self.connection.recv(count - len(read))
            assert more, "the other end closed"
            read += more
        return read


@contextmanager
def raw_batsim(address: str) -> Iterator[RawPeer]:
    """A Batsim connected to this address, that has introduced itself."""
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        peer = RawPeer(connection)
        peer.introduce(b"REQ")
        yield peer


@contextmanager
def raw_listener() -> Iterator[tuple[str, socket.socket]]:
    """An address, and the socket that listens there for a simulator."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}", listener


def accept(listener: socket.socket) -> RawPeer:
    """The decision process's end of the next connection, introduced."""
    connection, _ = listener.accept()
    connection.settimeout(PATIENCE)
    peer = RawPeer(connection)
    peer.introduce(b"REP")
    return peer

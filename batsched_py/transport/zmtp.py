"""ZeroMQ's wire protocol as a REP socket speaks it, without I/O: the greeting, the handshake and frames of one peer.

ZMTP 3.0 with the mechanism NULL, as all ZeroMQ libraries since 4.0 (2013) speak it: https://rfc.zeromq.org/spec/23.
"""

from __future__ import annotations

from typing import Final

#: What both ends begin with: the signature, the version, the mechanism, no server.
GREETING: Final = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
#: The part of a peer's greeting that holds its mechanism.
_MECHANISM: Final = slice(12, 32)

#: Flags of a frame.
_MORE: Final = 1
_LONG: Final = 2
_COMMAND: Final = 4

#: Sockets that ask a REP socket.
_ASKERS: Final = frozenset({b"REQ", b"DEALER"})
#: The longest command that is read: those of the handshake have some 30 bytes.
_LONGEST_COMMAND: Final = 8192

#: The empty frame between a request's envelope and the request; REQ sockets have no other envelope.
DELIMITER: Final = b"\x01\x00"


def framed(body: bytes) -> bytes:
    """The last frame of a message."""
    size = len(body)
    return (b"\x00" + bytes((size,)) if size < 256 else b"\x02" + size.to_bytes(8, "big")) + body


def plain_request(data: bytes) -> bytes | None:
    """The request, if the bytes are one request of a REQ socket, all of it and nothing else; else None."""
    head = data[:3]
    if head == b"\x01\x00\x00":
        return data[4:] if len(data) > 3 and len(data) == 4 + data[3] else None
    if head == b"\x01\x00\x02" and len(data) == 11 + int.from_bytes(data[3:11], "big"):
        return data[11:]
    return None


class Request:
    """What a peer asks: the envelope, as it must stand before the reply, and the parts of the request."""

    __slots__ = ("envelope", "parts")

    def __init__(self, envelope: bytes, parts: list[bytes]) -> None:
        self.envelope, self.parts = envelope, parts


class Wire:
    """One peer's bytes, understood.

    Attributes:
        ready: True once the handshake is done.
        foreign: True once it is clear that this is no ZeroMQ socket that asks; nothing it says is heard any more.
    """

    __slots__ = ("_buffer", "_greeted", "_parts", "foreign", "ready")

    def __init__(self) -> None:
        #: Bytes not understood yet.
        self._buffer = bytearray()
        self._greeted = False
        #: Frames of a message whose last one is still to come.
        self._parts: list[bytes] = []
        self.ready = False
        self.foreign = False

    @property
    def idle(self) -> bool:
        """True if nothing has been read that is not a whole message."""
        return not self._buffer and not self._parts

    def feed(self, data: bytes) -> tuple[list[Request], bytes]:
        """The requests that are complete with these bytes, and what must be sent back at once."""
        self._buffer += data
        requests: list[Request] = []
        answers = b""
        if not self._greeted:
            answers = self._read_greeting()
        while self._greeted and not self.foreign and (frame := self._next_frame()) is not None:
            flags, body = frame
            if flags & _COMMAND:
                answers += self._obey(body)
            elif not self.ready:
                self.foreign = True
            else:
                self._parts.append(body)
                if not flags & _MORE:
                    requests += _requests(self._parts)
                    self._parts = []
        return requests, answers

    def _read_greeting(self) -> bytes:
        """A peer shows its signature first and waits for ours, which was sent when it came."""
        seen = self._buffer
        if (seen and seen[0] != 0xFF) or (len(seen) > 9 and seen[9] != 0x7F) or (len(seen) > 10 and seen[10] < 3):
            self.foreign = True
        elif len(seen) >= len(GREETING):
            self.foreign = seen[_MECHANISM].rstrip(b"\0") != b"NULL"
            self._greeted = True
            del seen[: len(GREETING)]
            return _command(b"READY", _property(b"Socket-Type", b"REP"))
        return b""

    def _next_frame(self) -> tuple[int, bytes] | None:
        """Its flags and its body, once all of it has come."""
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        flags = buffer[0]
        start = 9 if flags & _LONG else 2
        if len(buffer) < start:
            return None
        size = int.from_bytes(buffer[1:start], "big")
        if flags > 7 or ((flags & _COMMAND or not self.ready) and size > _LONGEST_COMMAND):
            self.foreign = True
            return None
        end = start + size
        if len(buffer) < end:
            return None
        with memoryview(buffer) as view:
            body = bytes(view[start:end])
        del buffer[:end]
        return flags, body

    def _obey(self, command: bytes) -> bytes:
        """Commands that matter to us: READY ends the handshake, PING (of ZMTP 3.1) wants an answer."""
        name, rest = command[1 : 1 + command[0]] if command else b"", command[1 + command[0] :] if command else b""
        if not self.ready:
            self.ready = name == b"READY" and _properties(rest).get(b"socket-type") in _ASKERS
            self.foreign = not self.ready
        elif name == b"PING":
            return _command(b"PONG", rest[2:18])  # without the time-out, 16 bytes at most
        return b""


def _requests(parts: list[bytes]) -> list[Request]:
    """A message without an empty frame is no request: a REP socket drops it."""
    if b"" not in parts[:-1]:
        return []
    end = parts.index(b"") + 1
    return [Request(b"".join(_more(part) for part in parts[:end]), parts[end:])]


def _more(body: bytes) -> bytes:
    """A frame after which others come."""
    frame = framed(body)
    return bytes((frame[0] | _MORE,)) + frame[1:]


def _command(name: bytes, data: bytes) -> bytes:
    body = bytes((len(name),)) + name + data
    return bytes((_COMMAND, len(body))) + body


def _property(name: bytes, value: bytes) -> bytes:
    return bytes((len(name),)) + name + len(value).to_bytes(4, "big") + value


def _properties(data: bytes) -> dict[bytes, bytes]:
    """Those of a handshake; names in small letters, as they are compared without regard to case."""
    found = {}
    while data:
        name, data = data[1 : 1 + data[0]], data[1 + data[0] :]
        size = int.from_bytes(data[:4], "big")
        found[name.lower()], data = data[4 : 4 + size], data[4 + size :]
    return found

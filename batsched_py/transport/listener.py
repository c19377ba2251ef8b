"""Listening at a ZeroMQ address: a TCP port of an address or interface of this machine, or a file."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
import struct
from contextlib import suppress
from typing import Final

from batsched_py.errors import TransportError
from batsched_py.transport.address import FORM, check_address

#: Connections that may wait until somebody looks.
_BACKLOG: Final = 100
#: ioctl that asks for an interface's address; of Linux, as are names of interfaces in addresses.
_SIOCGIFADDR: Final = 0x8915


class Listener:
    """A listening socket that does not block, and its address as others must write it."""

    __slots__ = ("_path", "address", "socket")

    def __init__(self, address: str) -> None:
        """TransportError, with the rule, if one cannot listen there."""
        check_address(address)
        #: The file that is removed at the end.
        self._path: str | None = None
        try:
            self.address, self.socket = self._listen(address)
        except OSError as error:
            raise TransportError(f"cannot listen on {address}: {_problem(error)}") from error
        self.socket.setblocking(False)

    def close(self) -> None:
        """Listen no longer."""
        self.socket.close()
        if self._path is not None and os.path.exists(self._path):
            os.unlink(self._path)

    def _listen(self, address: str) -> tuple[str, socket.socket]:
        scheme, _, place = address.partition("://")
        if scheme == "tcp":
            return _listen_tcp(place)
        if scheme == "ipc" and place not in ("", "*"):
            return self._listen_file(place)
        raise OSError(errno.EINVAL, FORM)

    def _listen_file(self, place: str) -> tuple[str, socket.socket]:
        """`@name` is a name without a file (Linux). The file of an earlier socket is replaced."""
        nameless = place.startswith("@")
        if not nameless and os.path.exists(place) and stat.S_ISSOCK(os.stat(place).st_mode):
            os.unlink(place)
        listening = socket.socket(socket.AF_UNIX)
        try:
            listening.bind("\0" + place[1:] if nameless else place)
            listening.listen(_BACKLOG)
        except OSError:
            listening.close()
            raise
        self._path = None if nameless else place
        return f"ipc://{place}", listening


def _listen_tcp(place: str) -> tuple[str, socket.socket]:
    host, colon, port = place.rpartition(":")
    if not (colon and host and (port == "*" or port.isdecimal())):
        raise OSError(errno.EINVAL, FORM)
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_ipv4(host, listening), 0 if port == "*" else int(port)))
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    number, chosen = listening.getsockname()
    return f"tcp://{number}:{chosen}", listening


def _ipv4(host: str, any_socket: socket.socket) -> str:
    """The address that a number, an interface's name, this machine's name or `*` stands for."""
    if host == "*":
        return "0.0.0.0"  # noqa: S104 - the user's own wish
    with suppress(OSError):
        return socket.inet_ntoa(socket.inet_pton(socket.AF_INET, host))
    with suppress(OSError):
        wanted = struct.pack("256s", host.encode()[:15])
        return socket.inet_ntoa(fcntl.ioctl(any_socket.fileno(), _SIOCGIFADDR, wanted)[20:24])
    try:
        return socket.gethostbyname(host)
    except (OSError, UnicodeError):  # too long or empty parts of a name are no OSError
        raise OSError(errno.ENODEV, "no such device") from None


def _problem(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the address is in use; is another decision process still running?"
    if error.errno in (errno.ENODEV, errno.EADDRNOTAVAIL):
        return "this machine has no such address; give a number (127.0.0.1), an interface, or * for all"
    return error.strerror or str(error)

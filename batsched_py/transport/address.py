"""Addresses of ZeroMQ sockets: their rules, and the handling of IPv6 and socket files, which ZeroMQ lacks."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Final, Self

from msgspec import Struct

from batsched_py.errors import TransportError

#: The rule for addresses, for messages.
FORM: Final = "it must be an address like tcp://127.0.0.1:28000"
_TCP: Final = "tcp://"
_IPC: Final = "ipc://"
#: Prefixes after ipc:// that do not begin a path: a name without a file, and a file that ZeroMQ chooses.
_NO_PATH: Final = ("@", "*")


def check_port(address: str) -> None:
    """Refuse an invalid port: ZeroMQ silently truncates it to 16 bits and uses another port."""
    port = address.rpartition(":")[2]
    if address.startswith(_TCP) and port.isdecimal() and (len(port) > 5 or int(port) > 65535):
        raise TransportError(f"cannot use {address}: the port must be at most 65535")


def listens_on_ipv6(address: str) -> bool:
    """Return whether to bind with IPv6: an IPv6 address, or `*`, which then means all addresses of both kinds."""
    host = _host(address)
    return ":" in host or host == "*"


def connects_by_ipv6(address: str) -> bool:
    """Return whether to connect with IPv6: to an IPv6 address, or to a name that has no other.

    ZeroMQ tries one address of a name, with IPv6 the IPv6 one; "localhost" has both, but most programs listen on
    127.0.0.1.
    """
    host = _host(address)
    return ":" in host or (bool(host) and not _has(host, socket.AF_INET) and _has(host, socket.AF_INET6))


def _host(address: str) -> str:
    """Return the host of a TCP address; "" of any other."""
    return address.removeprefix(_TCP).rpartition(":")[0] if address.startswith(_TCP) else ""


def _has(host: str, family: socket.AddressFamily) -> bool:
    try:
        return bool(socket.getaddrinfo(host, None, family, socket.SOCK_STREAM))
    except (OSError, UnicodeError):  # UnicodeError: for an invalid name of a host
        return False


class SocketFile(Struct, frozen=True):
    """The socket file of an ipc:// address, as its listener created it."""

    path: Path
    identity: tuple[int, int]

    @classmethod
    def of(cls, address: str) -> Self | None:
        """Return the file at an address that was bound just now; None for an address without a file."""
        path = _socket_path(address)
        found = None if path is None else _status(path)
        return None if path is None or found is None else cls(path, (found.st_dev, found.st_ino))

    def remove(self) -> None:
        """Remove the file, unless another has taken its place: ZeroMQ leaves it."""
        found = _status(self.path)
        if found is not None and (found.st_dev, found.st_ino) == self.identity:
            self.path.unlink(missing_ok=True)


@contextmanager
def free_to_bind(address: str) -> Iterator[None]:
    """Lock an address while it is bound. TransportError if another process listens there, or if it is another file.

    ZeroMQ removes any file at the path of an ipc:// address: a regular file, or the socket of another process, which
    clients can then no longer reach. Two processes of batsched-py that start at the same time bind one after the other.
    """
    path = _socket_path(address)
    if path is None:
        yield
        return
    with _locked(path.parent):
        found = _status(path)
        if found is not None and not stat.S_ISSOCK(found.st_mode):
            raise TransportError(f"cannot listen on {address}: {path} is there, and no socket")
        if found is not None and _is_alive(path):
            raise TransportError(
                f"cannot listen on {address}: the address is in use; is another decision process still running?"
            )
        yield


def _socket_path(address: str) -> Path | None:
    name = address.removeprefix(_IPC)
    return Path(name) if address.startswith(_IPC) and name and not name.startswith(_NO_PATH) else None


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:  # binding reports the error
        return None


def _is_alive(path: Path) -> bool:
    """Return whether a process listens at a socket file; that of a dead process refuses connections."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        refused = probe.connect_ex(os.fsencode(path))
    return refused not in (errno.ECONNREFUSED, errno.ENOENT)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, where the file system has locks; a folder that cannot be opened is not locked."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)

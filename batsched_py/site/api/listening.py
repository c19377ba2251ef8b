"""The listening socket of a site: file descriptors limit the number of connections; others are answered with 503.

Some descriptors are reserved for the journal, the transcript and the files of the web page. Without the limit, a
process that has used up its descriptors could not even refuse: the event loop would log each failed attempt to accept.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import resource
import socket
from contextlib import closing, suppress
from typing import Any, Final

import orjson

from batsched_py.errors import OptionError, SiteError
from batsched_py.site.api.error_lines import ErrorLines

#: Descriptors reserved for all other files.
_RESERVE: Final = 32
#: The fewest connections that a site needs, and the most that it accepts.
_FEWEST, _MOST = 16, 10_000
#: Connections that are refused in a row before the event loop continues.
_REFUSED_AT_ONCE: Final = 100
#: The backlog of the socket: connections that wait to be accepted.
_BACKLOG: Final = 1024
#: Bytes of a refused request that are read and dropped: unread ones would reset the connection before the answer.
_UNREAD: Final = 1 << 16
#: Errors of a process or machine whose descriptors or memory are used up.
_USED_UP: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_BODY: Final = orjson.dumps({"problems": [{"path": "", "message": "the site has too many connections"}]})
#: The answer to a connection above the limit.
_TOO_MANY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)


class Listener(socket.socket):
    """A listening socket with a limit on the number of open connections.

    Use it from one event loop, and set `lines` first.

    Attributes:
        most: the limit.
        lines: receives a line when connections are refused.
    """

    most: int
    lines: ErrorLines

    def prepare(self) -> None:
        """Determine the limit. SiteError if the process may open too few files."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        free = _MOST if soft == resource.RLIM_INFINITY else soft - len(os.listdir("/dev/fd")) - _RESERVE
        if free < _FEWEST:
            raise SiteError(
                f"the process may open too few files ({soft}, ulimit -n): allow at least {soft - free + 16}"
            )
        self.most, self._open = min(free, _MOST), 0
        self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection; refuse those above the limit. BlockingIOError if none is left to accept."""
        for _ in range(_REFUSED_AT_ONCE):
            try:
                connection, address = super().accept()
            except OSError as error:
                if error.errno not in _USED_UP:
                    raise
                self._refuse_with_spare(error)
                continue
            if self._open < self.most:
                self._open += 1
                return _Connection(self, connection), address
            self._refuse(connection, f"{self.most} connections are open: others are answered 503")
        raise BlockingIOError  # the event loop has other work first

    def close(self) -> None:
        """Close the socket and the spare descriptor."""
        if self.fileno() != -1 and hasattr(self, "_spare"):
            os.close(self._spare)
        super().close()

    def closed_one(self) -> None:
        """Count one connection less."""
        self._open -= 1

    def _refuse_with_spare(self, error: OSError) -> None:
        """Accept a connection with the spare descriptor and refuse it; raise the given error if that fails."""
        os.close(self._spare)
        try:
            with suppress(BlockingIOError, ConnectionAbortedError):
                connection, _ = super().accept()
                self._refuse(connection, "no file descriptor is left: connections are answered 503")
        except OSError:
            raise error from None
        finally:
            self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def _refuse(self, connection: socket.socket, why: str) -> None:
        self.lines.note(why, why)
        with closing(connection), suppress(OSError):
            connection.setblocking(False)
            connection.send(_TOO_MANY)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(_UNREAD)


class _Connection(socket.socket):
    """A connection that notifies its listener when it is closed."""

    def __init__(self, listener: Listener, accepted: socket.socket) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, accepted.detach())
        self._listener = listener

    def close(self) -> None:
        """Close the connection and notify the listener."""
        if self.fileno() != -1:
            self._listener.closed_one()
        super().close()


def listen(address: str, *, guarded: bool) -> Listener:
    """Return a socket that listens at HOST:PORT; the port may be 0 for a free one.

    OptionError if the address is invalid, or if other machines could reach it and the site is not `guarded` by a token;
    SiteError if the address is in use, or the process may open too few files.
    """
    host, colon, port = address.rpartition(":")
    host = host.strip("[]") if host.startswith("[") else host
    if not (colon and host and port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) < 65536):
        raise OptionError(f"--listen must be HOST:PORT, like 127.0.0.1:8080, not {address!r}")
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise OptionError(f"--listen {address}: {error.strerror or error}") from None
    family, kind, protocol, _, place = found
    if not guarded and not ipaddress.ip_address(place[0]).is_loopback:
        raise OptionError(f"--listen {address}: other machines can reach it: set a token (--token-file)")
    # With the protocol number, which the event loop needs to set TCP_NODELAY: Nagle's algorithm would delay answers.
    listener = Listener(family, kind, protocol)
    try:
        listener.prepare()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise SiteError(f"cannot listen on {address}: {error.strerror or error}") from None
    except SiteError:
        listener.close()
        raise
    return listener

"""The socket of a site: it accepts as many connections as there are file descriptors for, and answers others with 503.

Some descriptors are kept for the journal, the transcript and the files of the page. Without this, a process whose
descriptors are used up cannot even refuse: the event loop would report each attempt to accept a connection.
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
from batsched_py.site.api.notices import Notices

#: Descriptors that connections leave to everything else.
_RESERVE: Final = 32
#: The fewest connections with which a site is of use, and the most that it takes.
_FEWEST, _MOST = 16, 10_000
#: Connections that are refused before others are served.
_REFUSED_AT_ONCE: Final = 100
#: Connections that wait to be accepted.
_BACKLOG: Final = 1024
#: Bytes of a request that are read and forgotten, so that the answer is not lost with them.
_UNREAD: Final = 1 << 16
#: Errors of a process or machine whose descriptors or memory are used up.
_USED_UP: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_BODY: Final = orjson.dumps({"problems": [{"path": "", "message": "the site has too many connections"}]})
#: The answer to a connection that is one too many.
_TOO_MANY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)


class Listener(socket.socket):
    """A listening socket with a limit on the connections that it has accepted and that are not closed.

    Use it from one event loop. Set `notices` before it is used.

    Attributes:
        most: connections at the same time.
        notices: receives a line when connections are refused.
    """

    most: int
    notices: Notices

    def prepare(self) -> None:
        """Find the limit. SiteError if the process may open too few files."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        free = _MOST if soft == resource.RLIM_INFINITY else soft - len(os.listdir("/dev/fd")) - _RESERVE
        if free < _FEWEST:
            raise SiteError(
                f"the process may open too few files ({soft}, ulimit -n): allow at least {soft - free + 16}"
            )
        self.most, self._open = min(free, _MOST), 0
        self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept the next connection that is not one too many. BlockingIOError if there is none."""
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
        raise BlockingIOError  # what else is to be done comes first

    def close(self) -> None:
        """Close it, and the descriptor that it keeps."""
        if self.fileno() != -1 and hasattr(self, "_spare"):
            os.close(self._spare)
        super().close()

    def closed_one(self) -> None:
        """Count a connection as closed."""
        self._open -= 1

    def _refuse_with_spare(self, error: OSError) -> None:
        """Accept a connection with the descriptor that is kept for it, and refuse it; raise the error if that fails."""
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
        self.notices.note(why, why)
        with closing(connection), suppress(OSError):
            connection.setblocking(False)
            connection.send(_TOO_MANY)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(_UNREAD)


class _Connection(socket.socket):
    """A connection that tells its listener when it is closed."""

    def __init__(self, listener: Listener, accepted: socket.socket) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, accepted.detach())
        self._listener = listener

    def close(self) -> None:
        """Close it."""
        if self.fileno() != -1:
            self._listener.closed_one()
        super().close()


def listen(address: str, *, guarded: bool) -> Listener:
    """Return a socket that listens at HOST:PORT; the port may be 0 for a free one.

    OptionError if that is no address, or if other machines could reach it and the site is not `guarded` by a token;
    SiteError if the address is taken, or the process may open too few files.
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
    # With the number of its protocol: otherwise the event loop lets the second part of an answer wait for the first.
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

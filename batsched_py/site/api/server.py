"""The server of a site: uvicorn around the application, until it is told to stop or the site ends."""

from __future__ import annotations

import ipaddress
import socket
import sys
import threading
from collections.abc import Callable

import uvicorn
from litestar import Litestar

from batsched_py.errors import OptionError, SiteError
from batsched_py.site.site import Site

#: Seconds that open connections are given when the site stops.
_GRACE = 2
#: Seconds after which the simulation's thread lets others run. Each answer waits for it several times, because whoever
#: reads from or writes to a socket lets go of the interpreter; the default, 5 ms, is longer than most answers take.
_SWITCH = 0.0002


def listen(address: str, *, guarded: bool) -> socket.socket:
    """Return a socket that listens at HOST:PORT; the port may be 0 for a free one.

    OptionError if that is no address, or if other machines could reach it and the site is not `guarded` by a token;
    SiteError if the address is taken.
    """
    host, colon, port = address.rpartition(":")
    host = host.strip("[]") if host.startswith("[") else host
    if not (colon and host and port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) < 65536):
        raise OptionError(f"--listen must be HOST:PORT, like 127.0.0.1:8080, not {address!r}")
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise OptionError(f"--listen {address}: {error.strerror or error}") from None
    family, kind, _, _, place = found
    if not guarded and not ipaddress.ip_address(place[0]).is_loopback:
        raise OptionError(f"--listen {address}: other machines can reach it: set a token (--token-file)")
    sock = socket.socket(family, kind)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(place)
        sock.listen(1024)
    except OSError as error:
        sock.close()
        raise SiteError(f"cannot listen on {address}: {error.strerror or error}") from None
    return sock


def run(site: Site, app: Litestar, sock: socket.socket, started: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, or until the site has ended; raises what ended it if it failed.

    `started(url)` is called when requests are answered.
    """
    host, port = sock.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        log_level="error",  # what others send is not worth a line
        server_header=False,
        proxy_headers=False,  # nobody says where else a request comes from
        lifespan="on",
        timeout_graceful_shutdown=_GRACE,
        h11_max_incomplete_event_size=1 << 16,
    )
    server = uvicorn.Server(config)
    sys.setswitchinterval(_SWITCH)
    watcher = threading.Thread(target=_watch, args=(site, server), daemon=True)
    site.start()
    watcher.start()
    try:
        started(f"http://{name}:{port}")
        server.run(sockets=[sock])
    finally:
        site.stop()
    if site.failure is not None:
        raise site.failure


def _watch(site: Site, server: uvicorn.Server) -> None:
    """End the server when the site has ended."""
    site.join()
    server.should_exit = True

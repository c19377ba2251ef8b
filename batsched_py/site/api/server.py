"""The HTTP server of a site: uvicorn with the application, until a signal or the end of the site stops it."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable

import uvicorn
from litestar import Litestar

from batsched_py.site.api.connections import REQUEST_TIMEOUT, limited
from batsched_py.site.api.error_lines import ErrorLines, noted_logs
from batsched_py.site.api.listening import Listener
from batsched_py.site.site import Site

#: Seconds after which open connections are closed when the site stops.
_GRACE = 2
#: The switch interval of the interpreter, in seconds. Each read or write of a socket releases the interpreter lock, and
#: the server then waits for the simulation's thread; the default, 5 ms, is longer than most answers take.
_SWITCH = 0.0002


class _Server(uvicorn.Server):
    """A server that ends event streams before it waits for connections to close."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End event streams and plays, and stop."""
        self._site.leave()
        await super().shutdown(sockets)


def run(
    site: Site,
    app: Litestar,
    listener: Listener,
    started: Callable[[str], None],
    write_line: Callable[[str], None],
    *,
    request_timeout: float = REQUEST_TIMEOUT,
) -> None:
    """Serve until SIGINT or SIGTERM, or until the site has ended; raise the site's error if it failed.

    Args:
        site: must not be started yet.
        app: its application.
        listener: the listening socket.
        started: is called with the URL when the server is about to answer requests.
        write_line: writes a line about an error of the server.
        request_timeout: seconds that the headers, and then the body, of a request may take to arrive.
    """
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        app,
        loop="asyncio",  # other loops bypass the `accept` of the listener
        http=limited(request_timeout),
        ws="none",
        log_config=None,
        access_log=False,
        log_level="error",  # no lines about invalid requests
        server_header=False,
        proxy_headers=False,  # headers must not forge the address of the caller
        lifespan="on",
        timeout_graceful_shutdown=_GRACE,
    )
    server = _Server(config, site)
    sys.setswitchinterval(_SWITCH)
    watcher = threading.Thread(target=_watch, args=(site, server), daemon=True)
    lines = listener.lines = ErrorLines(write_line)
    site.start()
    watcher.start()
    try:
        started(f"http://{name}:{port}")
        with noted_logs(lines):
            server.run(sockets=[listener])
    finally:
        site.stop()
    if site.failure is not None:
        raise site.failure


def _watch(site: Site, server: uvicorn.Server) -> None:
    """End the server when the site has ended."""
    site.join()
    server.should_exit = True

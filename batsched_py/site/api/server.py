"""The server of a site: uvicorn around the application, until it is told to stop or the site ends."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable

import uvicorn
from litestar import Litestar

from batsched_py.site.api.connections import REQUEST_TIMEOUT, limited
from batsched_py.site.api.listening import Listener
from batsched_py.site.api.notices import Notices, noted_logs
from batsched_py.site.site import Site

#: Seconds that open connections are given when the site stops.
_GRACE = 2
#: Seconds after which the simulation's thread lets others run. Each answer waits for it several times, because whoever
#: reads from or writes to a socket lets go of the interpreter; the default, 5 ms, is longer than most answers take.
_SWITCH = 0.0002


class _Server(uvicorn.Server):
    """A server that lets followers of a site go before it waits for connections to end."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        self._site.leaving.set()
        await super().shutdown(sockets)


def run(
    site: Site,
    app: Litestar,
    listener: Listener,
    started: Callable[[str], None],
    tell: Callable[[str], None],
    *,
    request_timeout: float = REQUEST_TIMEOUT,
) -> None:
    """Serve until SIGINT or SIGTERM, or until the site has ended; raises what ended it if it failed.

    Args:
        site: not started.
        app: its application.
        listener: where it answers.
        started: is called with the URL when requests are answered.
        tell: writes a line on what goes wrong at the doors.
        request_timeout: seconds that the headers, and the body, of a request may take to arrive.
    """
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        app,
        loop="asyncio",  # others accept connections without asking the listener
        http=limited(request_timeout),
        ws="none",
        log_config=None,
        access_log=False,
        log_level="error",  # what others send is not worth a line
        server_header=False,
        proxy_headers=False,  # nobody says where else a request comes from
        lifespan="on",
        timeout_graceful_shutdown=_GRACE,
    )
    server = _Server(config, site)
    sys.setswitchinterval(_SWITCH)
    watcher = threading.Thread(target=_watch, args=(site, server), daemon=True)
    notices = listener.notices = Notices(tell)
    site.start()
    watcher.start()
    try:
        started(f"http://{name}:{port}")
        with noted_logs(notices):
            server.run(sockets=[listener])
    finally:
        site.stop()
    if site.failure is not None:
        raise site.failure


def _watch(site: Site, server: uvicorn.Server) -> None:
    """End the server when the site has ended."""
    site.join()
    server.should_exit = True

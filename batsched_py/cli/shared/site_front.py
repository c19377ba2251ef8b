"""The HTTP server of a live site, for the commands that open one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from batsched_py.cli.shared.site_callers import QuotaOptions, read_token
from batsched_py.cli.shared.terminal import say, warn
from batsched_py.loading import require
from batsched_py.session.decision_log import PassOn
from batsched_py.session.session import Session
from batsched_py.site.served import ServedSite
from batsched_py.site.site import Site, SiteSettings
from batsched_py.transport.zmq_rep import RepSocket

for _package in ("litestar", "uvicorn"):
    require(_package, "a live site", "site")

from batsched_py.site.api.app import DoorSettings, make_app  # noqa: E402  (without the extra there is a clear line)
from batsched_py.site.api.connections import REQUEST_TIMEOUT  # noqa: E402
from batsched_py.site.api.listening import listen  # noqa: E402
from batsched_py.site.api.quotas import Quotas  # noqa: E402
from batsched_py.site.api.server import run  # noqa: E402

__all__ = ["Doors", "SiteSettings", "open_doors", "serve_at"]


class Doors(Struct, frozen=True):
    """The user's options for a site's address and its access control."""

    address: str
    token_file: Path | None
    rate: float
    request_timeout: float = REQUEST_TIMEOUT
    quota: QuotaOptions = QuotaOptions()


def open_doors(doors: Doors, make_site: Callable[[], Site], opened: Callable[[], None] | None = None) -> Site:
    """Open a site, answer requests until it ends or is interrupted, and return it. OptionError, SiteError; its failure.

    `opened` is called after its address has been printed.
    """

    def say_begin(url: str) -> None:
        say(f"the site answers at {url}", err=True)
        if opened is not None:
            opened()

    token = read_token(doors.token_file)
    given = doors.quota
    quotas = Quotas(given.quota_leases, given.quota_experiments, given.quota_megabytes)
    settings = DoorSettings(token, doors.rate, 10 * doors.rate, quotas)
    with closing(listen(doors.address, guarded=bool(token))) as sock:
        site = make_site()
        app = make_app(site, settings)
        run(site, app, sock, say_begin, warn, request_timeout=doors.request_timeout)
    return site


def serve_at(
    doors: Doors,
    settings: SiteSettings,
    socket: RepSocket,
    timeout: float | None,
    *,
    log: PassOn | None = None,
    finish: Callable[[Session], None] | None = None,
) -> Site:
    """Open a site together with the Batsim that connects to the socket; otherwise as `open_doors`.

    `log` receives its decisions. `finish` is called with its session before the last reply is sent to Batsim.
    """

    def make() -> Site:
        site = ServedSite(settings, socket, timeout, log, finish)
        socket.watch = site.inbox.check_open
        return site

    return open_doors(doors, make)

"""The HTTP server of a live site, for the commands that open one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from batsched_py.cli.shared.site_callers import CallerOptions, read_token
from batsched_py.cli.shared.terminal import say, warn
from batsched_py.errors import OptionError
from batsched_py.loading import require
from batsched_py.session.decision_log import PassOn
from batsched_py.session.session import Session
from batsched_py.site.served import ServedSite
from batsched_py.site.site import Site, SiteSettings
from batsched_py.site.users import SiteUsers
from batsched_py.transport.zmq_rep import RepSocket

for _package in ("litestar", "uvicorn", "prometheus_client"):
    require(_package, "a live site", "site")

from batsched_py.site.api.app import DoorSettings, make_app  # noqa: E402  (without the extra there is a clear line)
from batsched_py.site.api.listening import listen  # noqa: E402
from batsched_py.site.api.quotas import Quotas  # noqa: E402
from batsched_py.site.api.server import run  # noqa: E402

__all__ = ["SiteSettings", "open_doors", "serve_at"]


def open_doors(
    address: str, callers: CallerOptions, make_site: Callable[[], Site], opened: Callable[[], None] | None = None
) -> Site:
    """Open a site, answer requests until it ends or is interrupted, and return it. OptionError, SiteError; its failure.

    `opened` is called after its address has been printed.
    """

    def say_begin(url: str) -> None:
        say(f"the site answers at {url}", err=True)
        if opened is not None:
            opened()

    if callers.users is not None and callers.token_file is not None:
        raise OptionError("--users and --token-file exclude each other: each user has a token")
    users = None if callers.users is None else SiteUsers(callers.users)
    token = read_token(callers.token_file) if users is None else ""
    quotas = Quotas(callers.quota_leases, callers.quota_experiments, callers.quota_megabytes)
    settings = DoorSettings(token, callers.rate, 10 * callers.rate, quotas, users)
    with closing(listen(address, guarded=bool(token) or users is not None)) as sock:
        site = make_site()
        app = make_app(site, settings)
        run(site, app, sock, say_begin, warn, request_timeout=callers.request_timeout)
    return site


def serve_at(
    address: str,
    callers: CallerOptions,
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
        site = ServedSite(settings, socket, timeout, log, finish=finish, warn=warn)
        socket.watch = site.inbox.check_open
        return site

    return open_doors(address, callers, make)

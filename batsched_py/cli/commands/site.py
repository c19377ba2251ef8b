"""`batsched-py site`: a live site, to which people hand in leases and jobs while time passes."""

from __future__ import annotations

import importlib
import math
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct

from batsched_py.bounded_file import read_file
from batsched_py.cli.shared.algorithm import AlgorithmChoice, load_from_here
from batsched_py.cli.shared.command import current_limits, require, takes
from batsched_py.cli.shared.parameters import PATH, Number, algorithm_options, flag, option
from batsched_py.cli.shared.simulation_options import machine_options, platform_option
from batsched_py.cli.shared.site_options import read_token
from batsched_py.cli.shared.terminal import say
from batsched_py.simulator.settings import Settings
from batsched_py.site.site import Site, SiteSettings
from batsched_py.traces.simgrid_xml import read_platform

#: The algorithm that stands behind a site unless another is named.
DEFAULT: Final = "leases"


class Pace(Number):
    """A pace: simulated seconds in one second, or max."""

    name = "pace"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the number; "max" is infinite."""
        return math.inf if value in ("max", math.inf) else super().convert(value, param, ctx)


class SiteRequest(Struct, frozen=True):
    """The options of `site`."""

    platform: Path
    choice: AlgorithmChoice
    settings: Settings
    pace: float
    listen: str
    data: Path
    token_file: Path | None
    rate: float


@takes(SiteRequest)
@platform_option
@algorithm_options
@machine_options
@flag("-E energy", "Count energy and allow power states to be changed.")
@flag("--enable-compute-sharing compute_sharing", "Several jobs may run on one host.")
@option(
    "--pace",
    "N|max",
    "Simulated seconds in one second, or as fast as it can.",
    type=Pace(min=0, min_open=True),
    default=1,
)
@option("--listen", "HOST:PORT", "Where to answer; the port may be 0 for a free one.", default="127.0.0.1:8080")
@option(
    "--data", "DIR", "What the site keeps: it goes on there when it is started again.", type=PATH, default="site-data"
)
@option(
    "--token-file", "FILE", "A secret that callers must show; needed if other machines can reach the site.", type=PATH
)
@option("--rate", "N", "Requests a second that each user may hand in.", type=Number(min=1), default=100.0)
def command(request: SiteRequest) -> None:
    """Run a live site: an HTTP API for leases and jobs, in front of a simulated platform whose time passes.

    What was accepted is kept in the folder DIR. When the site is started again, even after it was killed, it goes on
    with the same leases, queue and clock.
    """
    for package in ("litestar", "uvicorn"):
        require(package, "a live site", "site")
    token = "" if request.token_file is None else read_token(request.token_file)
    app, server = (importlib.import_module(f"batsched_py.site.api.{name}") for name in ("app", "server"))
    settings, doors = _settings(request), app.DoorSettings(token, request.rate, 10 * request.rate)
    with closing(server.listen(request.listen, guarded=bool(token))) as sock:
        site = Site(settings)
        server.run(site, app.make_app(site, doors), sock, lambda url: say(f"the site answers at {url}", err=True))


def _settings(request: SiteRequest) -> SiteSettings:
    choice, name = request.choice, request.choice.algorithm or DEFAULT
    options = choice.options
    return SiteSettings(
        platform=read_platform(request.platform, limits=current_limits()),
        platform_bytes=read_file(request.platform, current_limits()),
        scheduler=load_from_here(name, options),
        algorithm=name,
        options=options,
        simulation=request.settings,
        folder=request.data,
        pace=request.pace,
    )

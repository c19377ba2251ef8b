"""A live site of a Haizea configuration with the real clock (H105); it needs the extra `site`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from batsched_py.cli.shared.terminal import say
from batsched_py.haizea.config import HaizeaConfig
from batsched_py.haizea.live_log import LiveLog
from batsched_py.haizea.live_options import live_options
from batsched_py.model.settings import Settings
from batsched_py.runs.choice import Choice
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import Site, SiteSettings
from batsched_py.traces.lease_workload import site_platform

#: Opens a site, calls the second function then, and answers requests until the site ends.
Open = Callable[[Callable[[], Site], Callable[[], None]], object]


def open_site(config: HaizeaConfig, open_doors: Open, folder: Path) -> None:
    """Open a site with the hosts and rules of a configuration, at pace 1, until it is interrupted or closed.

    Haizea's log is written to standard output, without events before a restart of the site.
    """
    assert config.site is not None  # noqa: S101  # the reader refuses a real clock without resources
    opened = list[Site]()
    lines = LogLines()
    live = LiveLog(
        config.log_level,
        lines.write,
        lambda: opened[0].begun,
        lambda: opened[0].inbox.starting,
        config.status_interval,
    )
    settings = SiteSettings(
        name=config.file.name,
        scheduler=live.algorithm(),
        choice=Choice("leases", live_options(config), call_every=float(config.wakeup_interval)),
        folder=folder,
    )
    platform, content = site_platform(str(config.file), config.site), repr(config.site).encode()

    def make_site() -> Site:
        opened.append(SimulatedSite(settings, platform, content, Settings()))
        return opened[0]

    def say_begin() -> None:
        live.opened(opened[0].inbox.now)

    try:
        open_doors(make_site, say_begin)
    finally:
        if lines.begun:
            live.stopped(opened[0].inbox.now)


class LogLines:
    """The lines of a log on standard output, until its reader closes it.

    Attributes:
        begun: whether a line has been written.
    """

    def __init__(self) -> None:
        self.begun, self._read = False, True

    def write(self, line: str) -> None:
        """Write a line; a closed output ends the log, but not the site."""
        self.begun = True
        try:
            if self._read:
                say(line)
        except OSError:
            self._read = False

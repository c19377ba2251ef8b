"""A live site of a Haizea configuration with the real clock (H105); it needs the extra `site`."""

from __future__ import annotations

from pathlib import Path

from batsched_py.cli.shared.site_front import Doors, open_doors
from batsched_py.haizea.config import HaizeaConfig
from batsched_py.haizea.live import live_options
from batsched_py.plugins import load
from batsched_py.simulator.settings import Settings
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import SiteSettings
from batsched_py.traces.lease_workload import site_platform

#: Requests a second of each user.
_RATE = 100.0


def open_site(config: HaizeaConfig, address: str, folder: Path) -> None:
    """Open a site with the hosts and rules of a configuration, at pace 1; it ends when it is interrupted or closed."""
    assert config.site is not None  # noqa: S101  # the reader refuses a real clock without resources
    settings = SiteSettings(
        name=config.file.name,
        scheduler=load("leases"),
        algorithm="leases",
        options=live_options(config),
        folder=folder,
        call_every=float(config.wakeup_interval),
    )
    platform, content = site_platform(str(config.file), config.site), repr(config.site).encode()
    open_doors(Doors(address, None, _RATE), lambda: SimulatedSite(settings, platform, content, Settings()))

"""A site on a simulated platform: the embedded simulator in paced time."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import orjson
from msgspec.structs import asdict, replace

from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.protocol.dialects import V5
from batsched_py.results.records import JobRecord
from batsched_py.runs.choice import settings_of
from batsched_py.simulator.simulation import Simulation
from batsched_py.site.board import ended_job
from batsched_py.site.site import Site, SiteSettings
from batsched_py.site.snapshot import JobNow
from batsched_py.site.what_if.future import PlayedAhead, PlayFailure, SitePlan
from batsched_py.site.what_if.process import play_apart, stop_plays
from batsched_py.site.what_if.task import SiteSetup, WhatIfTask


class SimulatedSite(Site):
    """A site with an embedded simulation that begins without jobs.

    Args:
        settings: the settings of the site.
        platform: the hosts.
        content: the content of the platform file, to detect a change between two starts.
        simulation: the settings of the simulation.
        warn: receives warnings, in the site's thread; None to discard them.
    """

    def __init__(
        self,
        settings: SiteSettings,
        platform: Platform,
        content: bytes,
        simulation: Settings,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        about = {"platform": sha256(content).hexdigest()[:16], "settings": _text(simulation)}
        simulated = settings_of(replace(settings.choice, requests=True), simulation)
        #: Batsim 5 has no failures of hosts.
        self._fails_hosts = simulated.protocol != V5.name
        super().__init__(replace(settings, about=about), warn=warn)
        kind, folder = type(self.session.scheduler), self._folder
        self._setup = SiteSetup(platform, simulation, self.settings.choice, kind, folder.journal, folder.transcript)
        try:
            self._simulation = Simulation(
                platform, [Workload("site", 0, (), {})], simulated, live=self.inbox, warn=self.warn
            )
        except BaseException:
            self.stop()
            raise
        self.board.follow(lambda number: map(self._ended, self._simulation.records_from(number)))

    @property
    def fails_hosts(self) -> bool:
        """True unless the simulation follows Batsim 5, which has no failures of hosts."""
        return self._fails_hosts

    def play_ahead(self, plan: SitePlan) -> PlayedAhead | PlayFailure:
        """Play the site ahead in a process of its own."""
        return play_apart(self.task(plan))

    def task(self, plan: SitePlan) -> WhatIfTask:
        """Return the task to play the site ahead."""
        return WhatIfTask(self._setup, plan)

    def stop_plays(self) -> None:
        """End the processes of plays under way."""
        stop_plays()

    def leave(self) -> None:
        """End event streams, and plays under way: the site is about to stop."""
        super().leave()
        stop_plays()

    def run(self) -> None:
        """Run until the site is stopped, or closed and all its requests are done."""
        self._simulation.run(self.exchange)

    def _ended(self, record: JobRecord) -> JobNow:
        return ended_job(record, self.session.rejections.get(record.job.id, ""))


def _text(settings: Settings) -> str:
    """Return the settings that differ from their defaults, as text."""
    given, default = asdict(settings), asdict(Settings())
    changed = {name: str(value) for name, value in given.items() if value != default[name]}
    return orjson.dumps(changed, option=orjson.OPT_SORT_KEYS).decode()

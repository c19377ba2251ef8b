"""A site on a simulated platform: the embedded simulator in paced time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from multiprocessing import active_children
from typing import Any

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
from batsched_py.site.image.api import ImageKeeper, Past, SpoiledStateError
from batsched_py.site.inbox import SiteStoppedError
from batsched_py.site.site import Site, SiteSettings
from batsched_py.site.snapshot import JobNow
from batsched_py.site.what_if.future import PlayedAhead, PlayFailure, SitePlan
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
        make = partial(Simulation, platform, [Workload("site", 0, (), {})], simulated, live=self.inbox, warn=self.warn)
        self._make_simulation: Callable[[], Simulation] = make
        try:
            self._simulation = make()
        except BaseException:
            self.stop()
            raise
        every = settings.image_every
        self._images = ImageKeeper(self._folder.image, self._about, self, self.say, every)
        self.inbox.at_begin = self._images.begin
        self.board.follow(lambda number: map(self._ended, self._simulation.records_from(number)))

    @property
    def fails_hosts(self) -> bool:
        """True unless the simulation follows Batsim 5, which has no failures of hosts."""
        return self._fails_hosts

    def play_ahead(self, plan: SitePlan) -> PlayedAhead | PlayFailure:
        """Play the site ahead in a process of its own."""
        from batsched_py.site.what_if.process import play_apart  # noqa: PLC0415  # half a second, which a start would take

        return play_apart(self.task(plan))

    def task(self, plan: SitePlan) -> WhatIfTask:
        """Return the task to play the site ahead."""
        return WhatIfTask(self._setup, plan)

    def stop_plays(self) -> None:
        """End the processes of plays under way."""
        for process in active_children():
            process.terminate()

    def leave(self) -> None:
        """End event streams, and plays under way: the site is about to stop."""
        super().leave()
        self.stop_plays()

    def run(self) -> None:
        """Run until the site is stopped, or closed and all its requests are done."""
        try:
            self._simulation.run(self.exchange)
        except SiteStoppedError:
            raise
        except SpoiledStateError:
            self._run_anew()
        except Exception as error:
            if not (self.inbox.starting and self._images.used):
                raise
            self._images.blame(error)
            self._run_anew()

    def _run_anew(self) -> None:
        """Run from the beginning of the journal, with a session and a simulation that no image has touched."""
        self.session = self.make_session()
        self.board.follow_session(self.session)
        self._recorder.rewind()
        self.inbox.rewind()
        self._simulation = self._make_simulation()
        self._simulation.run(self.exchange)

    def look(self, idle: bool) -> float:
        """Make the current state visible, and write an image of it if it is time for one."""
        self._images.note()
        return super().look(idle)

    def end(self) -> None:
        """Write an image of the state at the end."""
        self._images.end()

    def state(self) -> Sequence[object]:
        """Return the objects that have all of the state, with nothing left of the message before."""
        self.session.forget_message()
        return self._simulation, self.session

    def borders(self) -> Sequence[object]:
        """Return objects that refer to files, threads and callers."""
        return self, self.inbox

    def past(self) -> Past:
        """Return what the state follows from."""
        taken = self.inbox.outcomes.taken
        return Past(taken, self.inbox.hash_of(taken), *self._recorder.position)

    def messages(self) -> int:
        """Return the number of messages so far."""
        return self.session.messages

    def notes(self) -> Mapping[str, Any]:
        """Return which requests were ignored, and why."""
        return {"ignored": [[number, why] for number, why in self.inbox.outcomes.ignored.items()]}

    def is_past(self, past: Past) -> bool:
        """Return whether journal and transcript begin with this past."""
        known = past.requests >= 0 and self.inbox.hash_of(past.requests) == past.journal
        return known and self._recorder.begins_with(past.size, past.transcript)

    def skip(self, past: Past, notes: Mapping[str, Any]) -> None:
        """Take the requests of this past as done. Exception if the notes do not belong to it."""
        self.inbox.skip(past.requests, {int(number): str(why) for number, why in notes["ignored"]})

    def resume(self, past: Past) -> None:
        """Go on after this past, if the state is consistent and has come as far. ValueError, InvariantError."""
        if self.session.messages != past.exchanges:
            raise ValueError(f"{self.session.messages} messages, not {past.exchanges}")
        self.session.check()
        self._recorder.resume(past.exchanges, past.size)

    def _ended(self, record: JobRecord) -> JobNow:
        return ended_job(record, self.session.rejections.get(record.job.id, ""))


def _text(settings: Settings) -> str:
    """Return the settings that differ from their defaults, as text."""
    given, default = asdict(settings), asdict(Settings())
    changed = {name: str(value) for name, value in given.items() if value != default[name]}
    return orjson.dumps(changed, option=orjson.OPT_SORT_KEYS).decode()

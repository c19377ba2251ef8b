"""A live site: a paced simulation and the process that decides for it, in a thread; requests from all others."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import SiteError
from batsched_py.model.platform import Platform
from batsched_py.model.workload import Workload
from batsched_py.scheduling.base import Scheduler
from batsched_py.session.session import Session
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.simulation import Simulation
from batsched_py.site.board import Board
from batsched_py.site.inbox import Inbox, StoppedError
from batsched_py.site.journal import Journal
from batsched_py.site.pacing import PacedClock
from batsched_py.site.recording import SiteRecorder
from batsched_py.transcripts.lines import Header

JOURNAL: Final = "site.sqlite"
TRANSCRIPT: Final = "transcript.jsonl"


class SiteSettings(Struct, frozen=True, kw_only=True):
    """What a site is; all but its pace stays the same as long as it exists.

    Attributes:
        platform: its hosts.
        platform_bytes: the file that was read, to recognise it.
        scheduler: the algorithm.
        algorithm: its name as it was given.
        options: of the algorithm, as they were given.
        simulation: settings of the simulation.
        folder: of its files.
        pace: simulated seconds in one second; infinite for as fast as it can.
    """

    platform: Platform
    platform_bytes: bytes
    scheduler: type[Scheduler[Any]]
    algorithm: str
    options: Mapping[str, Any]
    simulation: Settings
    folder: Path
    pace: float = 1.0

    def about(self) -> dict[str, str]:
        """Return what must not change between two starts, as text."""
        return {
            "platform": sha256(self.platform_bytes).hexdigest()[:16],
            "algorithm": self.algorithm,
            "options": orjson.dumps(dict(self.options), option=orjson.OPT_SORT_KEYS).decode(),
            "settings": orjson.dumps(_plain(self.simulation), option=orjson.OPT_SORT_KEYS).decode(),
        }


class Site:
    """An open site. Make it, `start` it, let others ask, `stop` it.

    SiteError, PlatformError, OptionError or PluginError if it cannot be opened; its folder is made if it is not there.

    Attributes:
        settings: what it is.
        inbox: where requests are left.
        board: how things are.
        clock: simulated time; change it through the inbox.
        hosts: that run jobs, in the order of their numbers.
    """

    def __init__(self, settings: SiteSettings) -> None:
        self.settings = settings
        #: What ended the run; None unless it failed.
        self.failure: BaseException | None = None
        simulated = replace(settings.simulation, dynamic_jobs=True, forward_unknown_events=True)
        session = Session(settings.scheduler, settings.options, requests=True)
        self.board = Board()
        self._session = session
        try:
            settings.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SiteError(f"{settings.folder}: {error.strerror or error}") from error
        self._journal = Journal(settings.folder / JOURNAL, settings.about())
        try:
            self.clock = PacedClock(settings.pace)
            self.inbox = Inbox(self._journal, self.clock, self.board.look)
            self._simulation = Simulation(
                settings.platform,
                [Workload("site", 0, (), {})],
                simulated,
                live=self.inbox,
            )
            self.board.follow(session, self._simulation)
            header = Header(settings.algorithm, settings.options, requests=True)
            self._recorder = SiteRecorder(settings.folder / TRANSCRIPT, header)
        except BaseException:
            self._journal.close()
            raise
        self.hosts = settings.platform.compute_hosts(simulated.master_host)[: simulated.machines]
        self._thread = threading.Thread(target=self._play, name="simulation", daemon=True)

    def start(self) -> None:
        """Begin, or go on where the site was left; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End the run where it is, and close all files."""
        self.inbox.stop()
        if self._thread.ident is not None:
            self._thread.join()
        else:
            self._close()

    def join(self) -> None:
        """Wait until the site was stopped, or has failed."""
        self._thread.join()

    @property
    def host_count(self) -> int:
        """The number of hosts that run jobs."""
        return len(self.hosts)

    @property
    def begun(self) -> float:
        """When the site began, in seconds since 1970: its simulated second 0."""
        return self._journal.begun

    @property
    def alive(self) -> bool:
        """True until the site was stopped, or has failed."""
        return self._thread.is_alive()

    def _play(self) -> None:
        try:
            self._simulation.run(self._exchange)
        except StoppedError:
            pass
        except BaseException as error:  # noqa: BLE001  # the thread that waits for this one tells it
            self.failure = error
            self.inbox.stop(f"the site has ended: {error}")
        finally:
            self._close()

    def _exchange(self, request: bytes) -> bytes:
        reply = self._session.answer(request)
        self._recorder.record(request, reply)
        return reply

    def _close(self) -> None:
        self._recorder.close()
        self._journal.close()


def _plain(settings: Settings) -> dict[str, Any]:
    """Return those settings that are not the default, as JSON can have them."""
    default = Settings()
    return {
        name: str(getattr(settings, name))
        for name in settings.__struct_fields__
        if getattr(settings, name) != getattr(default, name)
    }

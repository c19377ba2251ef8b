"""A live site: a run whose time passes by itself, and the process that decides in it; requests from all others."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
from msgspec import Struct

from batsched_py.errors import SiteError
from batsched_py.scheduling.base import Scheduler
from batsched_py.session.decision_log import PassOn
from batsched_py.session.session import Session
from batsched_py.site.board import Board
from batsched_py.site.folder import JOURNAL, TRANSCRIPT, SiteFolder
from batsched_py.site.inbox import FAILED, UNKEPT, Inbox, StoppedError
from batsched_py.site.journal import Journal
from batsched_py.site.pacing import PacedClock
from batsched_py.site.recording import SiteRecorder
from batsched_py.state.host import Host
from batsched_py.transcripts.lines import Header

__all__ = ["JOURNAL", "TRANSCRIPT", "Site", "SiteSettings"]


class SiteSettings(Struct, frozen=True, kw_only=True):
    """The facts of a site; all but its pace stays the same as long as it exists.

    Attributes:
        name: of the platform, for its page.
        scheduler: the algorithm.
        algorithm: its name as it was given.
        options: of the algorithm, as they were given.
        folder: of its files.
        pace: simulated seconds in one second; infinite for as fast as it can.
        about: what else must not change between two starts, by name.
        call_every: simulated seconds after which the algorithm is called at the latest; None if the site itself can
            wake it.
        compute_sharing: several jobs may run on one host of a Batsim 5 that connects; others decide it themselves.
    """

    name: str
    scheduler: type[Scheduler[Any]]
    algorithm: str
    options: Mapping[str, Any]
    folder: Path
    pace: float = 1.0
    about: Mapping[str, str] = MappingProxyType({})
    call_every: float | None = None
    compute_sharing: bool = False


class Site(ABC):
    """An open site. Make it, `start` it, let others ask, `stop` it.

    SiteError, PlatformError, OptionError or PluginError if it cannot be opened; its folder is made if it is not there.

    Attributes:
        settings: what it is.
        session: that decides; used by the site's thread alone.
        inbox: where requests are left.
        board: how things are.
        clock: simulated time; change it through the inbox.
        leaving: is set when those who follow the site are to go, because it stops.
    """

    def __init__(self, settings: SiteSettings, log: PassOn | None = None) -> None:
        """`log` receives rows of holds and promises, in the site's thread; None if nobody wants them."""
        self.settings = settings
        #: What ended the run; None unless it failed.
        self.failure: BaseException | None = None
        self.session = Session(
            settings.scheduler,
            settings.options,
            requests=True,
            call_every=settings.call_every,
            log=log,
            compute_sharing=settings.compute_sharing,
        )
        self.board = Board(self.session)
        self.leaving = threading.Event()
        self._folder = SiteFolder(settings.folder)
        options = orjson.dumps(dict(settings.options), option=orjson.OPT_SORT_KEYS).decode()
        about = {"algorithm": settings.algorithm, "options": options, **settings.about}
        try:
            self._journal = Journal(self._folder.journal, about)
        except BaseException:
            self._folder.close()
            raise
        try:
            self.clock = PacedClock(settings.pace)
            self.inbox = Inbox(self._journal, self.clock, self.board.look, self._see_all)
            header = Header(
                settings.algorithm,
                settings.options,
                requests=True,
                call_every=settings.call_every or 0.0,
                compute_sharing=settings.compute_sharing,
            )
            self._recorder = SiteRecorder(self._folder.transcript, header, self.inbox.requests)
            self.inbox.play_until(self._recorder.last)
        except BaseException:
            self._journal.close()
            self._folder.close()
            raise
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
        """Wait until the site was stopped, or has ended."""
        self._thread.join()

    @property
    def hosts(self) -> Sequence[Host]:
        """The hosts that run jobs, in the order of their numbers; none before the run has begun."""
        return tuple(self.session.view.hosts.values())

    @property
    def begun(self) -> float:
        """When the site began, in seconds since 1970: its simulated second 0."""
        return self._journal.begun

    @property
    def alive(self) -> bool:
        """True until the site was stopped, or has ended."""
        return self._thread.is_alive()

    @abstractmethod
    def run(self) -> None:
        """Run to the end, in the site's thread; StoppedError when the inbox says so."""

    def exchange(self, request: bytes) -> bytes:
        """Answer a request of the simulation, and record the exchange."""
        reply = self.session.answer(request)
        self.record(request, reply)
        return reply

    def record(self, request: bytes, reply: bytes) -> None:
        """Keep an exchange in the transcript. SiteError if the transcript has another one there."""
        self._recorder.record(request, reply)

    def _play(self) -> None:
        try:
            self.run()
            self.board.see()
            self.inbox.stop("the site was closed, and all requests are done")
        except StoppedError:
            self.inbox.leave()
        except BaseException as error:  # noqa: BLE001  # the thread that waits for this one tells it
            self.failure = error
            self.inbox.stop(UNKEPT if isinstance(error, SiteError) else FAILED)
        finally:
            self._close()

    def _see_all(self) -> None:
        """Look at what the journal has made of the site, before it is ready. SiteError if the transcript has more."""
        self._recorder.check_end()
        self.board.see()

    def _close(self) -> None:
        self._recorder.close()
        self._journal.close()
        self._folder.close()

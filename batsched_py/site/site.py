"""A live site: a run in paced time and its decision process, which accepts requests from other threads."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import SiteError
from batsched_py.runs.choice import Choice, make_session
from batsched_py.scheduling.base import Scheduler
from batsched_py.session.decision_log import PassOn
from batsched_py.session.session import Session
from batsched_py.site.audit import AuditLog
from batsched_py.site.board import Board
from batsched_py.site.folder import IMAGE, JOURNAL, TRANSCRIPT, SiteFolder
from batsched_py.site.image.api import EVERY
from batsched_py.site.inbox import FAILED, UNKEPT, Inbox, SiteStoppedError
from batsched_py.site.journal import Journal
from batsched_py.site.notices import Notices
from batsched_py.site.pacing import PacedClock
from batsched_py.site.recent_warnings import RecentWarnings
from batsched_py.site.recording import SiteRecorder
from batsched_py.site.what_if.future import PlayedAhead, PlayFailure, SitePlan
from batsched_py.state.host import Host

__all__ = ["IMAGE", "JOURNAL", "TRANSCRIPT", "Site", "SiteSettings"]


class SiteSettings(Struct, frozen=True, kw_only=True):
    """The settings of a site; only the pace may change between two starts.

    Attributes:
        name: the name of the platform, for the web page.
        choice: the algorithm and its options, as given, and the longest time between two calls; requests are allowed.
        folder: the folder of the site's files.
        pace: simulated seconds per second; infinite for as fast as possible.
        scheduler: the class of the algorithm; None to load it.
        about: further properties that must not change between two starts, by name.
        image_every: the number of messages after which another image of the state is written.
    """

    name: str
    choice: Choice
    folder: Path
    pace: float = 1.0
    scheduler: type[Scheduler[Any]] | None = None
    about: Mapping[str, str] = MappingProxyType({})
    image_every: int = EVERY


class Site(ABC):
    """An open site: create it, `start` it, serve requests, `stop` it.

    SiteError, PlatformError, OptionError or PluginError if it cannot be opened; its folder is created if missing.

    Attributes:
        settings: the settings of the site.
        session: the decision process; used by the site's thread alone.
        inbox: accepts requests.
        board: has the current snapshot.
        clock: simulated time; change it through the inbox.
        audit: the log of who did what.
        notices: texts of operators to all users.
        leaving: is set when the site stops: event streams must end.
    """

    def __init__(
        self, settings: SiteSettings, log: PassOn | None = None, warn: Callable[[str], None] | None = None
    ) -> None:
        """`log` receives rows of holds and promises, `warn` warnings, in the site's thread; None discards them."""
        self.settings = settings
        #: The error that ended the run; None unless it failed.
        self.failure: BaseException | None = None
        choice = replace(settings.choice, requests=True)
        self._warnings = RecentWarnings(warn) if warn is not None else None
        self._log = log
        self.session = self.make_session()
        self.board = Board(self.session)
        self.leaving = threading.Event()
        self._folder = SiteFolder(settings.folder)
        options = orjson.dumps(dict(choice.options), option=orjson.OPT_SORT_KEYS).decode()
        self._about = about = {"algorithm": choice.algorithm, "options": options, **settings.about}
        try:
            self._journal = Journal(self._folder.journal, about)
        except BaseException:
            self._folder.close()
            raise
        try:
            self.notices = Notices(self._folder.notices)
            self.audit = AuditLog(self._folder.audit)
            self.clock = PacedClock(settings.pace)
            self.inbox = Inbox(self._journal, self.clock, self.look, self._see_all)
            self._recorder = SiteRecorder(
                self._folder.transcript, choice.header(), self.inbox.requests, fails_hosts=self.fails_hosts
            )
            self.inbox.play_until(self._recorder.last)
        except BaseException:
            self._journal.close()
            self._folder.close()
            raise
        self._thread = threading.Thread(target=self._play, name="simulation", daemon=True)

    def make_session(self) -> Session:
        """Return the decision process at its beginning."""
        choice = replace(self.settings.choice, requests=True)
        return make_session(choice, self.settings.scheduler, log=self._log, warn=self.warn)

    def look(self, idle: bool) -> float:
        """Make the current state visible; see `Board.look`."""
        return self.board.look(idle)

    def say(self, line: str) -> None:
        """Pass on a warning about the site itself."""
        if self._warnings is not None:
            self._warnings(line)

    def end(self) -> None:  # noqa: B027  (a hook)
        """Do what is left to do when the run was stopped, in the site's thread."""

    def start(self) -> None:
        """Start the site, or continue where it ended; return at once."""
        self._thread.start()

    def stop(self) -> None:
        """End the run at its current instant, and close all files."""
        self.inbox.stop()
        if self._thread.ident is not None:
            self._thread.join()
        else:
            self._close()
        self.audit.close()

    def join(self) -> None:
        """Wait until the site has stopped or ended."""
        self._thread.join()

    @property
    def hosts(self) -> Sequence[Host]:
        """The compute hosts, ordered by number; none before the run has begun."""
        return tuple(self.session.view.hosts.values())

    @property
    def fails_hosts(self) -> bool:
        """True if requests may make hosts unavailable, and available again."""
        return False

    @property
    def begun(self) -> float:
        """The wall-clock time of the simulated second 0, in seconds since 1970."""
        return self._journal.begun

    @property
    def alive(self) -> bool:
        """True from the start until the site has stopped or ended."""
        return self._thread.is_alive()

    def play_ahead(self, plan: SitePlan) -> PlayedAhead | PlayFailure:  # noqa: ARG002  (simulated sites read it)
        """Play the site ahead elsewhere, without and with a change; this may take a minute."""
        return PlayFailure(refused=True, text="a site with Batsim cannot be played ahead: only Batsim knows its jobs")

    def stop_plays(self) -> None:  # noqa: B027  (simulated sites have some)
        """End plays under way, of which only a simulated site has any."""

    def leave(self) -> None:
        """End event streams, and plays under way: the site is about to stop."""
        self.leaving.set()

    @abstractmethod
    def run(self) -> None:
        """Run to the end, in the site's thread; SiteStoppedError when the inbox is stopped."""

    def exchange(self, request: bytes) -> bytes:
        """Answer a request of the simulation, and record the exchange."""
        reply = self.session.answer(request)
        self.record(request, reply)
        return reply

    def record(self, request: bytes, reply: bytes) -> None:
        """Record an exchange in the transcript. SiteError if it differs from the one recorded earlier."""
        self._recorder.record(request, reply)
        self.inbox.outcomes.decide(self.session.plan.ignored, self.session.postponed)

    def warn(self, line: str) -> None:
        """Pass on a warning of the run, unless it is one of the past: what it says of the beginning is still of use."""
        if self._warnings is not None and not (self.inbox.starting and self.session.now > 0):
            self._warnings(line)

    def _play(self) -> None:
        try:
            self.run()
            self.board.see()
            self.inbox.stop("the site was closed, and all requests are done")
        except SiteStoppedError:
            self.inbox.leave()
            self.end()
        except BaseException as error:  # noqa: BLE001  # raised again by the thread that joins this one
            self.failure = error
            self.inbox.stop(UNKEPT if isinstance(error, SiteError) else FAILED)
        finally:
            self.inbox.outcomes.end()
            if self._warnings is not None:
                self._warnings.finish()
            self._close()

    def _see_all(self) -> None:
        """Take a snapshot after the replay, before the site is ready. SiteError if the transcript has more."""
        self._recorder.check_end()
        self.board.see()

    def _close(self) -> None:
        self._recorder.close()
        self._journal.close()
        self._folder.close()

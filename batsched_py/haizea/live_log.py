"""The log of a live site, as HaizeaLog writes it, for the algorithm that the site runs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from batsched_py.haizea.config import LogLevel
from batsched_py.haizea.log import HaizeaLog
from batsched_py.leases.observer import Observer, Observers
from batsched_py.leases.options import LeasesOptions
from batsched_py.schedulers.leases import Leases


class LiveLog:
    """The log of a site from its opening on.

    Args:
        level: level of the log.
        write: called with each line.
        past: returns True while a site that is opened again replays its past.
        begun: returns the begin of the site in seconds since 1970; called when it is open. Dates are local.
        interval: simulated seconds after which the summary is written again; None for never.
    """

    def __init__(
        self,
        level: LogLevel,
        write: Callable[[str], None],
        begun: Callable[[], float],
        past: Callable[[], bool],
        interval: float | None = None,
    ) -> None:
        self._level, self._write, self._begun, self._past, self._interval = level, write, begun, past, interval
        self._log: HaizeaLog | None = None

    def opened(self, now: float) -> None:
        """Write that the site is open, although it may still replay its past."""
        log = self._made(self._write)
        log.started(now)
        log.clock_started(now)

    def stopped(self, now: float) -> None:
        """Write that the site has stopped, and the summary."""
        self._events().stopped(now)

    def _events(self) -> HaizeaLog:
        self._log = self._log or self._made(self._write_new)
        return self._log

    def _made(self, write: Callable[[str], None]) -> HaizeaLog:
        start = datetime.fromtimestamp(self._begun())
        return HaizeaLog(start, self._level, write, self._interval, clock="clock")

    def _write_new(self, line: str) -> None:
        if not self._past():
            self._write(line)

    def algorithm(self) -> type[Leases]:
        """Return the algorithm `leases`, whose events are written."""
        live = self

        class Logged(Leases):
            """Leases of a live site, with Haizea's log."""

            name = "leases"
            options_type = LeasesOptions

            def observer(self) -> Observer:
                return Observers(self.ledger, live._events())

        return Logged

"""Lines on what goes wrong at the doors of a site: one for each kind and minute, however often it happens."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

#: Seconds for which a kind is silent after a line.
_SILENCE: Final = 60.0
#: Kinds that are remembered; the framework may have more texts than anybody expects.
_MOST_KINDS: Final = 100
#: Loggers of the server and of the event loop.
_LOGGERS: Final = ("uvicorn.error", "asyncio")
#: Errors of handlers that are nobody's fault: the caller has gone, or the site stops.
_EXPECTED: Final = (asyncio.CancelledError, ConnectionError)


class Notices:
    """Tells the first event of a kind at once, and then at most one line a minute, with the number since.

    Args:
        tell: writes a line.
        wall: returns seconds of a clock that never goes back.
    """

    def __init__(self, tell: Callable[[str], None], wall: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._wall = tell, wall
        #: Kind -> when it was told, and how often it has happened since.
        self._kinds: dict[str, tuple[float, int]] = {}

    def note(self, kind: str, line: str) -> bool:
        """Tell a line of a kind, or count it; return whether it was told."""
        now = self._wall()
        told, untold = self._kinds.get(kind, (now - _SILENCE, 0))
        if now - told < _SILENCE or (kind not in self._kinds and len(self._kinds) >= _MOST_KINDS):
            self._kinds[kind] = told, untold + 1
            return False
        self._kinds[kind] = now, 0
        self._tell(f"{line} ({untold} more since the last line)" if untold else line)
        return True

    def add(self, lines: Iterable[str]) -> None:
        """Tell more of what was just told."""
        for line in lines:
            self._tell(line)

    def finish(self) -> None:
        """Tell how often that happened which was counted and not told."""
        for kind, (_, untold) in self._kinds.items():
            if untold:
                self._tell(f"{kind}: {untold} more since the last line")
        self._kinds.clear()


class _Handler(logging.Handler):
    """Makes notices of records of loggers; a failure of a handler has its traceback the first time."""

    def __init__(self, notices: Notices) -> None:
        super().__init__(logging.ERROR)
        self._notices = notices

    def emit(self, record: logging.LogRecord) -> None:
        """Note a record."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, _EXPECTED):
            return
        message = record.getMessage().strip().partition("\n")[0]
        if error is None or isinstance(error, OSError):
            self._notices.note(message, message if error is None else f"{message}: {error.strerror or error}")
            return
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        kind = f"internal error: {type(error).__name__}{place}"
        if self._notices.note(kind, f"{kind}: {error}"):
            self._notices.add(line for part in traceback.format_exception(error) for line in part.splitlines())


@contextmanager
def noted_logs(notices: Notices) -> Iterator[None]:
    """Make notices of what the server and the event loop log meanwhile."""
    handler = _Handler(notices)
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [one.propagate for one in loggers]
    for one in loggers:
        one.addHandler(handler)
        one.propagate = False
    try:
        yield
    finally:
        for one, propagates in zip(loggers, before, strict=True):
            one.removeHandler(handler)
            one.propagate = propagates
        notices.finish()

"""Log lines about errors of a site's server: at most one for each kind and minute."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

#: The shortest time between two lines of one kind, in seconds.
_SILENCE: Final = 60.0
#: The largest number of kinds: the texts of the framework's messages are not known in advance.
_MOST_KINDS: Final = 100
#: Loggers of the server and of the event loop.
_LOGGERS: Final = ("uvicorn.error", "asyncio")
#: Errors of handlers in normal operation: the caller has disconnected, or the site stops.
_EXPECTED: Final = (asyncio.CancelledError, ConnectionError)


class ErrorLines:
    """Rate-limited reports: the first event of a kind at once, then at most one line a minute, with a count.

    Args:
        write: writes a line.
        wall: a monotonic clock, in seconds.
    """

    def __init__(self, write: Callable[[str], None], wall: Callable[[], float] = time.monotonic) -> None:
        self._write, self._wall = write, wall
        #: Kind -> when its last line was written, and the number of events since then.
        self._kinds: dict[str, tuple[float, int]] = {}

    def note(self, kind: str, line: str) -> bool:
        """Write a line of a kind, or count it; return whether it was written."""
        now = self._wall()
        written, unreported = self._kinds.get(kind, (now - _SILENCE, 0))
        if now - written < _SILENCE or (kind not in self._kinds and len(self._kinds) >= _MOST_KINDS):
            self._kinds[kind] = written, unreported + 1
            return False
        self._kinds[kind] = now, 0
        self._write(f"{line} ({unreported} more since the last line)" if unreported else line)
        return True

    def add(self, lines: Iterable[str]) -> None:
        """Write further lines about the event that was just reported."""
        for line in lines:
            self._write(line)

    def finish(self) -> None:
        """Write the number of unreported events of each kind."""
        for kind, (_, unreported) in self._kinds.items():
            if unreported:
                self._write(f"{kind}: {unreported} more since the last line")
        self._kinds.clear()


class _Handler(logging.Handler):
    """A log handler that notes records, with a traceback for the first internal error of a kind."""

    def __init__(self, lines: ErrorLines) -> None:
        super().__init__(logging.ERROR)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """Report a record, unless its error is expected."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, _EXPECTED):
            return
        message = record.getMessage().strip().partition("\n")[0]
        if error is None or isinstance(error, OSError):
            self._lines.note(message, message if error is None else f"{message}: {error.strerror or error}")
            return
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        kind = f"internal error: {type(error).__name__}{place}"
        if self._lines.note(kind, f"{kind}: {error}"):
            self._lines.add(line for part in traceback.format_exception(error) for line in part.splitlines())


@contextmanager
def noted_logs(lines: ErrorLines) -> Iterator[None]:
    """Turn log records of the server and the event loop into lines within the context."""
    handler = _Handler(lines)
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
        lines.finish()

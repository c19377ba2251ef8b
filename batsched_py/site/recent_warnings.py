"""Warnings of a site that runs for weeks: all of them, as long as they do not come too fast."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from batsched_py.text.wording import counted

#: The largest number of warnings that are shown in a period, and its seconds.
_MOST: Final = 20
_PERIOD: Final = 60.0


class RecentWarnings:
    """A printer of warnings, up to 20 in a minute; `show` gets each line, and how many were left out.

    `clock` returns seconds, and never goes back.
    """

    def __init__(self, show: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._show, self._clock = show, clock
        self._until = clock() + _PERIOD
        self._count = 0

    def __call__(self, line: str) -> None:
        """Show one line, unless there were too many in this minute."""
        if self._clock() >= self._until:
            self.finish()
            self._until = self._clock() + _PERIOD
        self._count += 1
        if self._count <= _MOST:
            self._show(line)

    def finish(self) -> None:
        """Say how many warnings were not shown, if there are any."""
        if self._count > _MOST:
            self._show(f"{counted(self._count - _MOST, 'more warning')} within a minute not shown")
        self._count = 0

"""The player of what-ifs of a site: one at a time, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from batsched_py.site.api.problems import refuse
from batsched_py.site.what_if.future import PlayedAhead, PlayFailure

#: Seconds between two attempts to end a play: its process may be starting.
_PAUSE: Final = 0.1


class WhatIfPlayer:
    """Used from one event loop."""

    def __init__(self, stop_plays: Callable[[], None]) -> None:
        """`stop_plays` ends the processes of plays under way."""
        self._stop_plays = stop_plays
        self._executor = ThreadPoolExecutor(1, "what-if")
        #: True while a play is under way.
        self._busy = False

    async def play(
        self, work: Callable[[], PlayedAhead | PlayFailure], gone: Callable[[], Awaitable[object]]
    ) -> PlayedAhead:
        """Do the work of a play, or end it when `gone`, which is called then, says that the caller is gone.

        RequestRefusedError if another one is under way, or it fails.
        """
        if self._busy:
            raise refuse(503, "another what-if is being played: try again", **{"Retry-After": "1"})
        self._busy = True
        try:
            found = await self._unless(gone, asyncio.get_running_loop().run_in_executor(self._executor, work))
        finally:
            self._busy = False
        if isinstance(found, PlayedAhead):
            return found
        raise refuse(409 if found.refused else 503, found.text)

    async def _unless(
        self, gone: Callable[[], Awaitable[object]], result: asyncio.Future[PlayedAhead | PlayFailure]
    ) -> PlayedAhead | PlayFailure:
        """Return the result of a play, which is ended when the caller is gone: others may want to play."""
        watch = asyncio.ensure_future(gone())
        try:
            waits: set[asyncio.Future[Any]] = {result, watch}
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            while not result.done():
                self._stop_plays()
                await asyncio.wait({result}, timeout=_PAUSE)
        finally:
            watch.cancel()
        return result.result()

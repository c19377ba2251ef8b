"""The player of what-ifs of a site: one at a time, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from batsched_py.site.api.problems import refuse
from batsched_py.site.what_if.future import PlayedAhead, PlayFailure


class WhatIfPlayer:
    """Used from one event loop."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "what-if")
        #: True while a play is under way.
        self._busy = False

    async def play(self, work: Callable[[], PlayedAhead | PlayFailure]) -> PlayedAhead:
        """Do the work of a play. RequestRefusedError if another one is under way, or it fails."""
        if self._busy:
            raise refuse(503, "another what-if is being played: try again", **{"Retry-After": "1"})
        self._busy = True
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._executor, work)
        finally:
            self._busy = False
        if isinstance(found, PlayedAhead):
            return found
        raise refuse(409 if found.refused else 503, found.text)

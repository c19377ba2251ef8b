"""Acceptance of requests: concurrent ones are written to disk in one batch, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from batsched_py.site.inbox import Asked, Inbox
from batsched_py.site.journal import CLOSE, JournalEntry


class Acceptance:
    """A writer of requests to the inbox, in the order of arrival.

    Requests that arrive while a batch is written form the next batch: a slow disk leads to larger batches, not to
    longer waits. A request that closes the site is the last of its batch: those behind it are refused. Used from one
    event loop.
    """

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        #: Requests that are accepted together, and what their caller waits for.
        self._waiting: list[tuple[Sequence[Asked], asyncio.Future[Sequence[JournalEntry]]]] = []
        self._writer = ThreadPoolExecutor(1, "journal")
        #: The task that writes; kept, because the event loop does not keep it.
        self._task: asyncio.Task[None] | None = None

    async def accept(self, asked: Asked) -> JournalEntry:
        """Write a request to disk and return it as accepted. SiteError if it cannot be written."""
        (entry,) = await self.accept_all([asked])
        return entry

    async def accept_all(self, asked: Sequence[Asked]) -> Sequence[JournalEntry]:
        """Write requests to disk, all or none, to take effect together; return them as accepted. SiteError."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write())
        entries: Sequence[JournalEntry] = await future
        return entries

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            end = next((place for place, (asked, _) in enumerate(self._waiting, 1) if asked[-1].kind == CLOSE), None)
            batch, self._waiting = self._waiting[:end], [] if end is None else self._waiting[end:]
            try:
                entries = iter(
                    await loop.run_in_executor(
                        self._writer, self._inbox.accept, [one for asked, _ in batch for one in asked]
                    )
                )
            except Exception as error:  # noqa: BLE001  # any error is passed on to the waiting callers
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for asked, future in batch:
                accepted = list(islice(entries, len(asked)))
                if not future.done():  # the caller may have disconnected
                    future.set_result(accepted)

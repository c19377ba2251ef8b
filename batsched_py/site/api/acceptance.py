"""Acceptance of requests: concurrent ones are written to disk in one batch, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from batsched_py.site.inbox import Asked, Inbox
from batsched_py.site.journal import JournalEntry


class Acceptance:
    """A writer of requests to the inbox, in the order of arrival.

    Requests that arrive while a batch is written form the next batch: a slow disk leads to larger batches, not to
    longer waits. Used from one event loop.
    """

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._waiting: list[tuple[Asked, asyncio.Future[JournalEntry]]] = []
        self._writer = ThreadPoolExecutor(1, "journal")
        #: The task that writes; kept, because the event loop does not keep it.
        self._task: asyncio.Task[None] | None = None

    async def accept(self, asked: Asked) -> JournalEntry:
        """Write a request to disk and return it as accepted. SiteError if it cannot be written."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write())
        entry: JournalEntry = await future
        return entry

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                entries: Sequence[JournalEntry] = await loop.run_in_executor(
                    self._writer, self._inbox.accept, [asked for asked, _ in batch]
                )
            except Exception as error:  # noqa: BLE001  # any error is passed on to the waiting callers
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), entry in zip(batch, entries, strict=True):
                if not future.done():  # the caller may have disconnected
                    future.set_result(entry)

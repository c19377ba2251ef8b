"""Requests that are within the quotas and are being written: they count as used before the journal has them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from batsched_py.site.api.identity import Identity


class PendingRequests:
    """Parts of quotas that requests in progress will use, by user and by group; used from one event loop."""

    def __init__(self) -> None:
        self._users: Counter[tuple[str, str]] = Counter()
        self._groups: Counter[tuple[str, str]] = Counter()
        self._changed = asyncio.Event()

    def added(self, who: Identity, used: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
        """Add what is pending to what a caller and its group have, by quota."""
        return {
            quota: (own + self._users[who.user, quota], shared + self._groups[who.group, quota])
            for quota, (own, shared) in used.items()
        }

    def has(self, who: Identity, quotas: Mapping[str, int]) -> bool:
        """Return whether a caller or its group has requests in progress that count for one of these quotas."""
        return any(self._users[who.user, quota] or self._groups[who.group, quota] for quota in quotas)

    @contextmanager
    def counted(self, who: Identity, more: Mapping[str, int]) -> Iterator[None]:
        """Count a request while it is in progress; `more` is what it will use, by quota."""
        self._users.update({(who.user, quota): many for quota, many in more.items()})
        self._groups.update({(who.group, quota): many for quota, many in more.items()})
        try:
            yield
        finally:
            for quota, many in more.items():
                for counts, key in ((self._users, (who.user, quota)), (self._groups, (who.group, quota))):
                    counts[key] -= many
                    if not counts[key]:
                        del counts[key]
            self._changed.set()
            self._changed = asyncio.Event()

    async def change(self) -> None:
        """Wait until a request in progress has ended."""
        await self._changed.wait()

"""Turns of callers that change the same thing: each is checked after the one before was accepted."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from weakref import WeakValueDictionary

# A request is checked, and then written to disk, which takes time. A second request that is checked meanwhile would see
# the state before the first one, be accepted too, and have no effect: both callers would read that they succeeded.


class Turns:
    """One lock for each thing that is being changed; used from one event loop."""

    def __init__(self) -> None:
        #: Thing -> its lock, as long as a caller has it or waits for it.
        self._locks = WeakValueDictionary[Hashable, asyncio.Lock]()

    def of(self, thing: Hashable) -> asyncio.Lock:
        """Return the lock of a thing, for `async with`; callers get it in the order of arrival."""
        return self._locks.setdefault(thing, asyncio.Lock())

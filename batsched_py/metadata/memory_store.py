"""A store of jobs in memory with Batsim's keys, which replaces a Redis server."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.metadata.keys import KeyedStore
from batsched_py.model.settings import DEFAULT_PREFIX


class MemoryStore(KeyedStore):
    """A JobStore shared by a simulator and a session in one process."""

    def __init__(self, prefix: str = DEFAULT_PREFIX) -> None:
        super().__init__("memory", prefix)
        #: Key -> value, as in Redis.
        self.values: dict[str, bytes] = {}

    def value(self, key: str) -> bytes | None:
        """Return the value of a key, with or without its prefix; None if there is none."""
        return self.values.get(self._whole(key))

    def _get(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        return [self.values.get(key) for key in keys]

    def _set(self, values: dict[str, bytes]) -> None:
        self.values.update(values)

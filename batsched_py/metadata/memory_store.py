"""Jobs kept in this process under Batsim's keys: a run as with Redis, without a server."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.metadata.keys import DEFAULT_PREFIX, KeyedStore


class MemoryStore(KeyedStore):
    """A JobStore for a simulator and a session of one process; give it to both."""

    def __init__(self, prefix: str = DEFAULT_PREFIX) -> None:
        super().__init__("memory", prefix)
        #: Key -> value, as Redis would hold them.
        self.values: dict[str, bytes] = {}

    def value(self, key: str) -> bytes | None:
        """Return the value of a key, whose prefix may be left out."""
        return self.values.get(self._whole(key))

    def _get(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        return [self.values.get(key) for key in keys]

    def _set(self, values: dict[str, bytes]) -> None:
        self.values.update(values)

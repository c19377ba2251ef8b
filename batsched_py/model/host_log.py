"""A log of hosts that changed, so that readers keep what they know of the others."""

from __future__ import annotations

from collections.abc import Iterable

#: Changes in the log for each host of the machine.
_CHANGES = 8


class HostLog:
    """The numbers of hosts that changed, in the order of the changes; old changes are forgotten.

    Args:
        hosts: number of hosts.
    """

    __slots__ = ("_forgotten", "_most", "_numbers")

    def __init__(self, hosts: int) -> None:
        self._most = _CHANGES * hosts
        #: Changed hosts, without the first ones, whose number is `_forgotten`.
        self._numbers: list[int] = []
        self._forgotten = 0

    @property
    def changes(self) -> int:
        """The number of changes so far."""
        return self._forgotten + len(self._numbers)

    def add(self, hosts: Iterable[int]) -> None:
        """Add changes."""
        self._numbers += hosts
        if len(self._numbers) > self._most:
            forgotten = len(self._numbers) - self._most // 2
            del self._numbers[:forgotten]
            self._forgotten += forgotten

    def since(self, changes: int) -> set[int] | None:
        """Return the hosts that changed after this number of changes; None if that is no longer known."""
        return None if changes < self._forgotten else set(self._numbers[changes - self._forgotten :])

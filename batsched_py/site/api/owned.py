"""Numbers by who may see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from batsched_py.site.api.identity import Identity


class Owner(Protocol):
    """A request, with the caller to whom what it makes belongs."""

    @property
    def user(self) -> str:
        """Return the name of the caller."""

    @property
    def group(self) -> str:
        """The group that may see it, too; "" for none."""


class Owned:
    """Numbers of which each has a user and a group; they are added in ascending order."""

    def __init__(self) -> None:
        # Dictionaries without values, which keep their order when a number is taken out.
        self._users: dict[str, dict[int, None]] = {}
        self._groups: dict[str, dict[int, None]] = {}

    def add(self, number: int, owner: Owner) -> None:
        """Add a number; it is the largest one so far."""
        self._users.setdefault(owner.user, {})[number] = None
        if owner.group:
            self._groups.setdefault(owner.group, {})[number] = None

    def discard(self, number: int, owner: Owner) -> None:
        """Take a number out, if it is there."""
        self._users.get(owner.user, {}).pop(number, None)
        if owner.group:
            self._groups.get(owner.group, {}).pop(number, None)

    def count(self, user: str) -> int:
        """Return how many there are of a user."""
        return len(self._users.get(user, {}))

    def of(self, who: Identity) -> Sequence[int]:
        """Return those that somebody may see, in ascending order."""
        own = self._users.get(who.user, {})
        shared = self._groups.get(who.group, {}) if who.group else {}
        return sorted({**own, **shared}) if shared else list(own)

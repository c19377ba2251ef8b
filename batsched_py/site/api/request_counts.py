"""Numbers of requests by owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from batsched_py.site.api.identity import Identity


class Owner(Protocol):
    """The owner of a request: a user and a group."""

    @property
    def user(self) -> str:
        """The name of the user."""

    @property
    def group(self) -> str:
        """The group whose members may read it too; "" for none."""


class OwnedRequests:
    """Numbers that each have a user and a group, added in ascending order."""

    def __init__(self) -> None:
        # Dictionaries as ordered sets, with fast removal.
        self._all: dict[int, None] = {}
        self._users: dict[str, dict[int, None]] = {}
        self._groups: dict[str, dict[int, None]] = {}

    def add(self, number: int, owner: Owner) -> None:
        """Add a number, which must be greater than all before."""
        self._all[number] = None
        self._users.setdefault(owner.user, {})[number] = None
        if owner.group:
            self._groups.setdefault(owner.group, {})[number] = None

    def __contains__(self, number: int) -> bool:
        """Return whether a number is present."""
        return number in self._all

    def discard(self, number: int, owner: Owner) -> None:
        """Remove a number, if present."""
        self._all.pop(number, None)
        self._users.get(owner.user, {}).pop(number, None)
        if owner.group:
            self._groups.get(owner.group, {}).pop(number, None)

    def count(self, user: str) -> int:
        """Return the count of a user's numbers."""
        return len(self._users.get(user, {}))

    def count_group(self, group: str) -> int:
        """Return the count of the numbers of a group's users."""
        return len(self._groups.get(group, {}))

    def of(self, who: Identity, user: str = "") -> Sequence[int]:
        """Return the numbers that a caller may read, in ascending order: its own and those of its group, or all.

        With `user`, only those of this user.
        """
        if user:
            numbers = self._users.get(user, {})
            if who.may_change(user):
                return list(numbers)
            shared = self._groups.get(who.group, {}) if who.group else {}
            return [number for number in numbers if number in shared]
        if who.operator:
            return list(self._all)
        own = self._users.get(who.user, {})
        shared = self._groups.get(who.group, {}) if who.group else {}
        return sorted({**own, **shared}) if shared else list(own)


class OwnedAmounts:
    """Amounts of users and groups."""

    def __init__(self) -> None:
        self._users, self._groups = Counter[str](), Counter[str]()

    def add(self, amount: int, owner: Owner) -> None:
        """Add an amount, which may be negative."""
        self._users[owner.user] += amount
        if owner.group:
            self._groups[owner.group] += amount

    def of_user(self, user: str) -> int:
        """Return the amount of a user."""
        return self._users[user]

    def of_group(self, group: str) -> int:
        """Return the amount of a group's users."""
        return self._groups[group]

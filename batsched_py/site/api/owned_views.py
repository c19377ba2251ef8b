"""Views of what users have requested and may delete, by number and by owner: experiments, and reservations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Generic, TypeVar, cast

from batsched_py.model.table import Table
from batsched_py.site.api.identity import Identity
from batsched_py.site.api.request_counts import OwnedRequests
from batsched_py.site.inbox import Inbox
from batsched_py.site.journal import JournalEntry

Viewed = TypeVar("Viewed")


class OwnedViews(ABC, Generic[Viewed]):
    """An index of requests of one kind by number, with their views; used from one event loop.

    Args:
        inbox: the requests of the site.
        tables: returns the live tables of its run, another object after each change.
    """

    #: The kinds of the requests that make one and that delete one, and the table with the views.
    made_by: ClassVar[str]
    deleted_by: ClassVar[str]
    table: ClassVar[str]

    def __init__(self, inbox: Inbox, tables: Callable[[], Mapping[str, Table]]) -> None:
        self._inbox, self._read_tables = inbox, tables
        #: The number of indexed requests.
        self._indexed = 0
        #: Numbers of those that were not deleted, and of deleted ones.
        self._owned = OwnedRequests()
        self._deleted: set[int] = set()
        self._tables: Mapping[str, Table] = {}
        self._views: dict[int, Viewed] = {}
        #: Accepted ones that are not in the tables yet.
        self._accepted: dict[int, Viewed] = {}

    @staticmethod
    @abstractmethod
    def number_of(view: Viewed) -> int:
        """Return the number of what is viewed."""

    @staticmethod
    @abstractmethod
    def unseen(entry: JournalEntry) -> Viewed:
        """Return the view of a request that the algorithm has not received yet."""

    def note(self, accepted: Viewed) -> None:
        """Keep the view of an accepted request until the tables have it."""
        self._accepted[self.number_of(accepted)] = accepted

    def count(self, who: Identity) -> tuple[int, int]:
        """Return how many a user, and its group, have requested and not deleted."""
        self._catch_up()
        return self._owned.count(who.user), self._owned.count_group(who.group)

    def _view(self, entry: JournalEntry) -> Viewed:
        return self._views.get(entry.number) or self._accepted.get(entry.number) or self.unseen(entry)

    def _catch_up(self) -> None:
        """Index new requests, and the table if it has changed."""
        entries = self._inbox.entries
        while (entry := entries.get(self._indexed + 1)) is not None:
            self._indexed += 1
            if entry.kind == self.made_by:
                self._owned.add(entry.number, entry)
            elif entry.kind == self.deleted_by and entry.target in entries:
                self._deleted.add(entry.target)
                self._owned.discard(entry.target, entries[entry.target])
        tables = self._read_tables()
        if tables is not self._tables:
            self._tables = tables
            table = tables.get(self.table)
            rows = cast(Iterable[Viewed], () if table is None else table.rows)
            self._views = {self.number_of(row): row for row in rows}
            seen = self._views.keys() | self._deleted
            self._accepted = {number: one for number, one in self._accepted.items() if number not in seen}

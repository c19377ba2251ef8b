"""Collections of records: resources join, leave and update them, and other collections poll them (L3 to L6, L40)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from functools import partial
from itertools import compress
from typing import Final

from batsched_py.queries.columns import Columns
from batsched_py.queries.expression import Expression, Literal
from batsched_py.queries.records import Found, Record, Requester
from batsched_py.queries.values import Value

# Records of members are columns (`queries.columns`), and a query is answered as the bits of an integer: `count` and
# `suits` need nothing else, and records are made only when they are read (`Found`). Answers are kept for each text of a
# query until any attribute changes, since several waiting jobs ask the same within one decision; the parts of queries
# are kept longer, in the columns.
#
# Polling models information that is out of date: `known` of the scheduler copies what another collection reports at
# multiples of a period. A poll that is late, because nothing happened at its time, must not see the future. So the
# caller refreshes before it changes a source, and the copy has the age of the time at which it was due.
#
# Between two calls `_rows` and `_names` are inverse to each other, and each row with a record is a member's or a polled
# one. A removed record leaves an empty row, because answers and bits name rows by number; rows are compacted when more
# than half are empty.

#: A query that all records satisfy.
EVERY: Final = Literal(value=True)
#: Seconds from one poll of another collection to the next.
PERIOD: Final = 300.0
#: Number of queries whose rows are cached; number of empty rows that are always tolerated.
_KEPT: Final = 256
_SPARSE: Final = 64
_FLAGS: Final = bytes.maketrans(b"01", b"\x00\x01")


class _Poll:
    """Another collection that is polled.

    Attributes:
        due: seconds at which it is polled next.
        version: of the source when it was polled last; None if the source or its records here may have changed since.
    """

    def __init__(self, source: Collection, query: Expression, period: float, now: float) -> None:
        self.source, self.query, self.period, self.due = source, query, period, now
        self.version: int | None = None


class Collection:
    """Records of resources, each under its name.

    Records of members are exact; those of other collections are as old as the last poll. If several collections have a
    record, the most recent one is used.
    """

    def __init__(self) -> None:
        self._columns = Columns()
        #: Name -> row, of members and of polled records; row -> name.
        self._rows: dict[str, int] = {}
        self._names: dict[int, str] = {}
        #: Name -> the owner that may update it.
        self._owners: dict[str, str] = {}
        #: Name of a polled record -> its source, and the time of its values in seconds.
        self._polled: dict[str, tuple[_Poll, float]] = {}
        self._polls: list[_Poll] = []
        #: Text of a query -> version, and rows for which it is true, as bits.
        self._found: dict[str, tuple[int, int]] = {}

    def join(self, name: str, attributes: Mapping[str, Value] | None = None, *, owner: str | None = None) -> bool:
        """Add a resource, which it or its `owner` may update; return False, without a change, if it is a member."""
        if name in self._owners:
            return False
        self._polled.pop(name, None)
        self._forget_versions()
        self._owners[name] = name if owner is None else owner
        self._put(name, attributes or {})
        return True

    def leave(self, name: str) -> bool:
        """Remove a resource; return False, without a change, if it is not a member."""
        if self._owners.pop(name, None) is None:
            return False
        self._forget(name)
        self._forget_versions()
        return True

    def update(self, name: str, attributes: Mapping[str, Value], *, by: str | None = None) -> bool:
        """Change attributes of a member; return False, without a change, if it is none or `by` may not update it."""
        if name not in self._owners or by not in (None, name, self._owners[name]):
            return False
        self._columns.update(self._rows[name], attributes)
        return True

    def correct(self, name: str, attributes: Mapping[str, Value]) -> bool:
        """Override attributes of a record until it is polled again; return False if there is no such record."""
        if name not in self._polled:
            return False
        self._columns.update(self._rows[name], attributes)
        self._forget_versions()
        return True

    @property
    def version(self) -> int:
        """A number that changes whenever an attribute changes."""
        return self._columns.version

    def poll(self, source: Collection, query: Expression = EVERY, *, period: float = PERIOD, now: float = 0.0) -> None:
        """Copy the records of another collection that match `query` every `period` seconds, starting at `now`."""
        self._polls.append(_Poll(source, query, period, now))

    def query(self, query: Expression = EVERY, now: float = 0.0, requester: Requester | None = None) -> list[Record]:
        """Return the records for which a query is true, in the order in which they were added.

        Records that are certain to refuse the requester are left out.
        """
        return list(self.search(query, now, requester))

    def search(self, query: Expression = EVERY, now: float = 0.0, requester: Requester | None = None) -> Found:
        """Return the records of `query` lazily: they must be read before the collection changes."""
        rows, record = _positions(self._select(query, now)), partial(self._record, now=now)
        found = Found(rows, self._columns, self._names, record)
        return found if requester is None else found.admitting(requester)

    def count(self, query: Expression = EVERY, now: float = 0.0) -> int:
        """Return the number of records for which a query is true."""
        return self._select(query, now).bit_count()

    def suits(self, name: str, query: Expression, now: float = 0.0) -> bool:
        """Return whether a query is true for the record of this name."""
        row = self._rows.get(name)
        return row is not None and bool(self._select(query, now) >> row & 1)

    def names(self, query: Expression = EVERY, now: float = 0.0) -> list[str]:
        """Return the names of the records for which a query is true, in the order in which they were added."""
        return [self._names[row] for row in _positions(self._select(query, now))]

    def possible(self, query: Expression, unknown: Set[str], now: float = 0.0) -> list[str]:
        """Return the names of the records for which a query is true for some values of the `unknown` attributes."""
        self.refresh(now)
        return [self._names[row] for row in _positions(self._columns.may_be_true(query, unknown))]

    def find(self, name: str, now: float = 0.0) -> Record | None:
        """Return a record; None if there is none of this name."""
        self.refresh(now)
        return self._record(self._rows[name], now) if name in self._rows else None

    def attributes(self, now: float = 0.0) -> Mapping[str, list[Value]]:
        """Return the values of each attribute that a record has."""
        found: dict[str, list[Value]] = {}
        for record in self.query(now=now):
            for name, value in record.attributes.items():
                found.setdefault(name, []).append(value)
        return found

    def _select(self, query: Expression, now: float) -> int:
        """Return the rows for which a query is true, as bits."""
        self.refresh(now)
        text, version = query.text, self._columns.version
        known = self._found.get(text)
        if known is not None and known[0] == version:
            return known[1]
        if len(self._found) >= _KEPT:
            self._found.clear()
        rows = self._columns.select(query).true
        self._found[text] = version, rows
        return rows

    def refresh(self, now: float) -> bool:
        """Poll the collections that are due by now, as of their due times; return whether any was polled.

        Polling reads the current state of the sources: call this before changing a source, so that the polls see its
        state at their due times.
        """
        polled = False
        for poll in self._polls:
            if poll.due <= now:
                polled = True
                at = poll.due + poll.period * ((now - poll.due) // poll.period)
                poll.due = at + poll.period
                self._take_over(poll, at)
        return polled

    def _take_over(self, poll: _Poll, at: float) -> None:
        """Copy the records of another collection as of `at`, except those for which more recent values are known."""
        exact = not poll.source._polls  # else ages change, too
        if exact and len(self._polls) == 1 and poll.version == poll.source.version:
            self._polled = dict.fromkeys(self._polled, (poll, at))
            return
        poll.version = poll.source.version
        there = {record.name: record for record in poll.source.query(poll.query, at)}
        for name in [name for name, (source, _) in self._polled.items() if source is poll and name not in there]:
            del self._polled[name]
            self._forget(name)
        for name, record in there.items():
            source, seen = self._polled.get(name, (poll, -math.inf))
            if name not in self._owners and (source is poll or at - record.age >= seen):
                self._put(name, record.attributes)
                self._polled[name] = poll, at - record.age

    def _forget_versions(self) -> None:
        """Make the next polls copy all records, even if their sources have not changed."""
        for poll in self._polls:
            poll.version = None

    def _record(self, row: int, now: float) -> Record:
        name = self._names[row]
        return Record(name, self._columns.get(row), now - self._polled[name][1] if name in self._polled else 0.0)

    def _put(self, name: str, attributes: Mapping[str, Value]) -> None:
        """Add a record or replace the one of the same name."""
        row = self._rows.get(name)
        if row is None:
            row = self._columns.add(attributes)
            self._rows[name], self._names[row] = row, name
        else:
            self._columns.replace(row, attributes)

    def _forget(self, name: str) -> None:
        row = self._rows.pop(name)
        self._columns.remove(row)
        del self._names[row]
        if self._columns.length > 2 * len(self._rows) + _SPARSE:
            self._compact()

    def _compact(self) -> None:
        """Drop empty rows."""
        before, rows = self._columns, self._rows
        self._columns, self._rows, self._names = Columns(before.version + 1), {}, {}
        for name, row in rows.items():
            self._put(name, before.get(row))


def _positions(bits: int) -> list[int]:
    """Return the rows of these bits."""
    digits = bin(bits)[:1:-1].encode().translate(_FLAGS)
    return list(compress(range(len(digits)), digits))

"""Arrangements: the order in which suitable records are proposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from batsched_py.named import Named
from batsched_py.queries.records import Found, Record

#: Orders records for proposals. Its arguments are the records, a source of random numbers from 0 to 1, and the number
#: of previous requests.
Arrange = Callable[[Sequence[Record], Callable[[], float], int], Sequence[Record]]


def best(records: Sequence[Record], draw: Callable[[], float], turn: int) -> Sequence[Record]:  # noqa: ARG001
    """Return records by their load, then in their order."""
    if not isinstance(records, Found):
        return sorted(records, key=lambda record: _number(record, "load"))
    loads = records.numbers("load")
    if loads.count(loads[0] if loads else 0.0) == len(loads):
        return records
    return records.arranged(sorted(range(len(loads)), key=loads.__getitem__))


def shuffled(records: Sequence[Record], draw: Callable[[], float], turn: int) -> Sequence[Record]:  # noqa: ARG001
    """Return records in random order."""
    order = [position for _, position in sorted((draw(), position) for position in range(len(records)))]
    return records.arranged(order) if isinstance(records, Found) else [records[position] for position in order]


def by_turns(records: Sequence[Record], draw: Callable[[], float], turn: int) -> Sequence[Record]:  # noqa: ARG001
    """Return records in their order, rotated by the number of previous requests."""
    first = turn % len(records) if records else 0
    order = [*range(first, len(records)), *range(first)]
    return records.arranged(order) if isinstance(records, Found) else [records[position] for position in order]


#: Ways to choose among suitable records.
ARRANGEMENTS: Final[Named[Arrange]] = Named("arrangement", {"best": best, "random": shuffled, "round-robin": by_turns})


def first_names(records: Sequence[Record], count: int) -> list[str]:
    """Return the names of the first `count` records, or of all."""
    return records[:count].names if isinstance(records, Found) else [record.name for record in islice(records, count)]


def _number(record: Record, name: str) -> float:
    value = record.attributes.get(name, 0.0)
    return float(value) if isinstance(value, (int, float)) else 0.0

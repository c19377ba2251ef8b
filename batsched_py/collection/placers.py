"""Placers: make alternatives of the records that a query finds (L12, L38)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from batsched_py.collection.alternatives import Placement, Schedule, vary
from batsched_py.collection.collection import Record
from batsched_py.named import Named

#: Puts records in the order in which they are proposed. It is given a source of numbers from 0 to 1, and how many
#: schedules were made before.
Arrange = Callable[[Sequence[Record], Callable[[], float], int], Sequence[Record]]


def best(records: Sequence[Record], draw: Callable[[], float], turn: int) -> Sequence[Record]:  # noqa: ARG001
    """Return records by their load, then in their order."""
    return sorted(records, key=lambda record: _number(record, "load"))


def shuffled(records: Sequence[Record], draw: Callable[[], float], turn: int) -> Sequence[Record]:  # noqa: ARG001
    """Return records in random order."""
    return [record for _, _, record in sorted((draw(), position, record) for position, record in enumerate(records))]


def by_turns(records: Sequence[Record], draw: Callable[[], float], turn: int) -> Sequence[Record]:  # noqa: ARG001
    """Return records in their order, each time from another one on."""
    first = turn % len(records) if records else 0
    return [*records[first:], *records[:first]]


#: Ways to choose among records that suit.
PLACERS: Final[Named[Arrange]] = Named(
    "placer",
    {"best": best, "random": shuffled, "round-robin": by_turns},
    ("records", "draw", "turn"),
    lambda _, function: function,
)


def propose(objects: Sequence[str], hosts: Sequence[str], most: int) -> list[Schedule]:
    """Return alternatives that place each object on a host of its own; none if there are too few hosts.

    The first takes the first hosts; each other one is a difference: one object goes to the next host that is left, the
    last object first.
    """
    if len(hosts) < len(objects):
        return []
    first: Schedule = tuple(Placement(name, host) for name, host in zip(objects, hosts, strict=False))
    schedules = [first]
    for number, host in enumerate(hosts[len(objects) :]):
        if len(schedules) >= most:
            break
        varied = objects[-1 - number % len(objects)]
        schedules.append(vary(schedules[-1], [Placement(varied, host)]))
    return schedules


def _number(record: Record, name: str) -> float:
    value = record.attributes.get(name, 0.0)
    return float(value) if isinstance(value, (int, float)) else 0.0

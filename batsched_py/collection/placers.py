"""Placers: make alternatives of the records that a query finds (L12, L38)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from batsched_py.collection.alternatives import Placement, Schedule, vary
from batsched_py.collection.records import Found, Record
from batsched_py.named import Named

#: Puts records in the order in which they are proposed. It is given a source of numbers from 0 to 1, and how many
#: schedules were made before.
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
    """Return records in their order, each time from another one on."""
    first = turn % len(records) if records else 0
    order = [*range(first, len(records)), *range(first)]
    return records.arranged(order) if isinstance(records, Found) else [records[position] for position in order]


#: Ways to choose among records that suit.
PLACERS: Final[Named[Arrange]] = Named(
    "placer",
    {"best": best, "random": shuffled, "round-robin": by_turns},
    ("records", "draw", "turn"),
    lambda _, function: lambda records, draw, turn: function(list(records), draw, turn),
)


def first_names(records: Sequence[Record], count: int) -> list[str]:
    """Return the names of the first `count` records, or of all."""
    return records[:count].names if isinstance(records, Found) else [record.name for record in islice(records, count)]


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


def with_vaults(schedules: Sequence[Schedule], vaults: Sequence[str], most: int) -> list[Schedule]:
    """Return schedules that have a vault, too, for their first object: the first one that is given.

    Other vaults are differences, of which there are as many as half of `most`, if need be.
    """
    if not schedules or not vaults:
        return []
    varied = min(len(vaults) - 1, max(1, most // 2)) if most > 1 else 0
    stored = [(schedule[0]._replace(vault=vaults[0]), *schedule[1:]) for schedule in schedules[: most - varied]]
    last = stored[-1]
    return stored + [vary(last, [last[0]._replace(vault=vault)]) for vault in vaults[1 : 1 + varied]]


def _number(record: Record, name: str) -> float:
    value = record.attributes.get(name, 0.0)
    return float(value) if isinstance(value, (int, float)) else 0.0

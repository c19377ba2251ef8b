"""Proposals: alternatives made of hosts and vaults in order, each a difference from the one before (L12, L13)."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.collection.alternatives import Placement, Schedule, vary


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

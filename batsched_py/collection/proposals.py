"""Proposals: alternatives built from ordered hosts and vaults, each a difference from the previous one (L12, L13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from batsched_py.collection.alternatives import ObjectPlacement, Schedule, vary


def propose(objects: Sequence[str], hosts: Sequence[str], most: int) -> list[Schedule]:
    """Return alternatives that place each object on a host of its own; none if there are too few hosts.

    The first one uses the first hosts; in each later one, another object, the last one first, moves to the next unused
    host.
    """
    if len(hosts) < len(objects):
        return []
    first: Schedule = tuple(ObjectPlacement(name, host) for name, host in zip(objects, hosts, strict=False))
    schedules = [first]
    for number, host in enumerate(hosts[len(objects) :]):
        if len(schedules) >= most:
            break
        varied = objects[-1 - number % len(objects)]
        schedules.append(vary(schedules[-1], [ObjectPlacement(varied, host)]))
    return schedules


def propose_tasks(
    objects: Sequence[str], hosts: Sequence[str], fits: Callable[[str], int], most: int
) -> list[Schedule]:
    """Return alternatives that place objects on hosts where several fit; none if there are too few hosts.

    The first one fills one host after the other; each later one leaves out one of its hosts, the last one first. `fits`
    returns how many objects fit on a host.
    """
    room = {host: count for host in hosts if (count := fits(host)) > 0}
    schedules = list[Schedule]()
    left_out: list[str | None] = [None]
    while left_out and len(schedules) < most:
        without = left_out.pop(0)
        slots = [host for host, count in room.items() if host != without for _ in range(count)]
        if len(slots) < len(objects):
            continue
        schedules.append(tuple(ObjectPlacement(name, host) for name, host in zip(objects, slots, strict=False)))
        if without is None:
            left_out += dict.fromkeys(slots[: len(objects)][::-1])
    return schedules


def with_vaults(schedules: Sequence[Schedule], vaults: Sequence[str], most: int) -> list[Schedule]:
    """Return schedules with the first given vault for their first object.

    Other vaults are added as differences: up to half of `most`.
    """
    if not schedules or not vaults:
        return []
    varied = min(len(vaults) - 1, max(1, most // 2)) if most > 1 else 0
    stored = [(schedule[0]._replace(vault=vaults[0]), *schedule[1:]) for schedule in schedules[: most - varied]]
    last = stored[-1]
    return stored + [vary(last, [last[0]._replace(vault=vault)]) for vault in vaults[1 : 1 + varied]]

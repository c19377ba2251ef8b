"""Who gives way: the fewest hosts taken from work that may be stopped, in the order in which it is offered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from batsched_py.hostset import HostSet

Work = TypeVar("Work")


def make_room(
    size: int, free: HostSet, candidates: Sequence[tuple[Work, HostSet]]
) -> tuple[HostSet, list[Work]] | None:
    """`size` hosts and the work that must be stopped for them, None if even all of it is not enough.

    Free hosts are taken first. Then work is stopped in the order of `candidates` (each with the hosts that it would
    leave), until there are enough hosts; work that turns out not to be needed is left alone.
    """
    gained, chosen = free, list[tuple[Work, HostSet]]()
    for work, hosts in candidates:
        if len(gained) >= size:
            break
        if hosts - gained:
            chosen.append((work, hosts - gained))
            gained |= hosts
    if len(gained) < size:
        return None
    for each in reversed(chosen):
        if len(gained - each[1]) >= size:
            gained -= each[1]
            chosen.remove(each)
    taken = free.first(min(size, len(free))) or HostSet()
    more = (gained - free).first(size - len(taken)) or HostSet()
    return taken | more, [work for work, _ in chosen]

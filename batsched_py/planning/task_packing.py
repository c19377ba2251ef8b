"""Packing of a job's tasks into rooms, one task after the other, by a rating of hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from batsched_py.model.host_room import HostRoom, Places, TaskPlace
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.policies.rating import Rating

#: Places the tasks of a job in rooms by host, which it may change; None if it finds no place for some task.
Pack: TypeAlias = Callable[[JobDemand, Mapping[int, HostRoom]], Places | None]


def packer(rating: Callable[[], Rating]) -> Pack:
    """Return a Pack that places each task by the current rating; of equal hosts the first in the mapping is taken."""

    def pack(wanted: JobDemand, rooms: Mapping[int, HostRoom]) -> Places | None:
        return pack_tasks(wanted, rooms, rating())

    return pack


def pack_tasks(wanted: JobDemand, rooms: Mapping[int, HostRoom], rating: Rating) -> Places | None:
    """Return places for all tasks, each on the host with the highest rate after the tasks before it; else None.

    Rooms are changed. Of equal hosts the first in the mapping is taken.
    """
    task = wanted.task
    kept = None if task.exclusive else rating.rated(task)
    rates: dict[int, int] = {}
    for host, room in rooms.items():
        if not room.lacking(task):
            rates[host] = (kept or rating.rated(room.needed(task)))(room)
    gpus_by_host: dict[int, list[tuple[int, ...]]] = {}
    for _ in range(wanted.tasks):
        if not rates:
            return None
        host = max(rates, key=rates.__getitem__)
        room = rooms[host]
        gpus = rating.gpus(room, room.needed(task))
        room.take(task, gpus)
        gpus_by_host.setdefault(host, []).append(gpus)
        if wanted.spread or room.lacking(task):
            del rates[host]
        else:
            rates[host] = (kept or rating.rated(room.needed(task)))(room)
    return tuple(TaskPlace(host, sum(gpus, ()), len(gpus)) for host, gpus in sorted(gpus_by_host.items()))

"""Packing of a job's tasks into rooms, one task after the other, by a rating of hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from batsched_py.model.demand import TaskDemand
from batsched_py.model.host_room import HostRoom, Places, TaskPlace
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.room_future import RoomFuture
from batsched_py.planning.policies.rating import Rate, Rating
from batsched_py.planning.rated_hosts import RatedHosts

#: Places the tasks of a job in rooms by host; None if it finds no place for some task.
Pack: TypeAlias = Callable[[JobDemand, Mapping[int, HostRoom]], Places | None]

#: The rate of a host where a task does not fit.
_NO_ROOM: Final = -1
#: The number of demands whose rates are kept.
_MOST_DEMANDS: Final = 256


class Packer:
    """Places each task on the host with the highest rate after the tasks before it; of equal ones on the first.

    Rates of rooms are kept by demand as long as the same objects are offered, so rooms may not change.

    Args:
        rating: returns the current rating.
    """

    def __init__(self, rating: Callable[[], Rating]) -> None:
        self._current = rating
        self._rating = rating()
        #: Demand -> host -> the room that was offered, and its rate; those that were used last are the last.
        self._kept: dict[TaskDemand, dict[int, tuple[HostRoom, int]]] = {}
        #: The rated hosts of a future, and the number of its changes that they know.
        self._rated: tuple[RoomFuture, RatedHosts] | None = None
        self._seen = 0

    @property
    def rating(self) -> Rating:
        """The current rating."""
        return self._current()

    def __call__(self, wanted: JobDemand, rooms: Mapping[int, HostRoom]) -> Places | None:
        """Return the places of all tasks, sorted by host; None if some task has none."""
        rating = self._current()
        if rating is not self._rating:
            self._rating = rating
            self._kept.clear()
        task = wanted.task
        kept = self._kept.pop(task, None)
        if kept is None:
            kept = {}
            if len(self._kept) >= _MOST_DEMANDS:
                del self._kept[next(iter(self._kept))]
        self._kept[task] = kept
        rate = None if task.exclusive else rating.rated(task)
        rates = self._rates(task, rate, rooms, kept)
        taken: dict[int, HostRoom] = {}
        gpus_by_host: dict[int, list[tuple[int, ...]]] = {}
        for _ in range(wanted.tasks):
            host = max(rates, key=rates.__getitem__) if rates else -1
            if host < 0:
                return None
            room = taken.get(host) or rooms[host].copy()
            gpus = rating.gpus(room, room.needed(task))
            room.take(task, gpus)
            taken[host] = room
            gpus_by_host.setdefault(host, []).append(gpus)
            if wanted.spread or room.lacking(task):
                del rates[host]
            else:
                rates[host] = _rate_of(room, task, rate, rating)
        return tuple(TaskPlace(host, sum(gpus, ()), len(gpus)) for host, gpus in sorted(gpus_by_host.items()))

    def place_lasting(self, wanted: JobDemand, future: RoomFuture, hosts: int) -> Places | None:
        """Return the places of all tasks on hosts of these bits, in what is free from now on for all time.

        It is what a call with these rooms returns, but hosts are rated when they change, and not at each question.
        """
        rating = self._current()
        if self._rated is None or self._rated[0] is not future or self._rated[1].rating is not rating:
            rated = RatedHosts(future.capacities, rating, future.lasting_room, future.lasting_levels)
            self._rated = future, rated
        else:
            rated, changed = self._rated[1], future.log.since(self._seen)
            rated.change(future.capacities if changed is None else changed)
        self._seen = future.log.changes
        return rated.place(wanted, hosts)

    def _rates(
        self,
        task: TaskDemand,
        rate: Rate | None,
        rooms: Mapping[int, HostRoom],
        kept: dict[int, tuple[HostRoom, int]],
    ) -> dict[int, int]:
        """Return the rates of the hosts where a task fits, in the order of the rooms."""
        rates: dict[int, int] = {}
        for host, room in rooms.items():
            known = kept.get(host)
            if known is None or known[0] is not room:
                number = _NO_ROOM if room.lacking(task) else _rate_of(room, task, rate, self._rating)
                known = kept[host] = room, number
            if known[1] != _NO_ROOM:
                rates[host] = known[1]
        return rates


def _rate_of(room: HostRoom, task: TaskDemand, rate: Rate | None, rating: Rating) -> int:
    return (rate or rating.rated(room.needed(task)))(room)

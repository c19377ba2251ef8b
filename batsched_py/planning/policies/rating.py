"""Ratings of hosts that tasks share: a number for each host, and the GPUs inside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom

#: Rates the room of a host where a task fits: a whole number from 0 to 100, the highest one is taken.
Rate = Callable[[HostRoom], int]


class Rating(NamedTuple):
    """A prepared selection.

    Attributes:
        rated: returns the rate for tasks with a demand, which is not exclusive. It must depend on nothing but the
            demand, the amounts, the capacity and the kinds of the room, so that rates can be kept.
        gpus: returns the GPUs that such a task takes in a room where it fits; by default those with the least left.
    """

    rated: Callable[[TaskDemand], Rate]
    gpus: Callable[[HostRoom, TaskDemand], tuple[int, ...]] = HostRoom.tightest


class RoomScale:
    """The resources of the largest hosts, to which others are relative."""

    __slots__ = ("cores", "gpus")

    def __init__(self, hosts: Sequence[HostCapacity]) -> None:
        self.cores = max((host.cores for host in hosts), default=0) or 1
        self.gpus = max((host.gpus for host in hosts), default=0) * WHOLE or 1

    def left(self, room: HostRoom, demand: TaskDemand) -> float:
        """Return the mean of the fractions of cores and GPUs that are free after the task, from 0 to 1."""
        cores, gpus = room.cores - demand.cores, room.gpu_amount - demand.gpu_amount
        return 0.5 * cores / self.cores + 0.5 * gpus / self.gpus

"""Room steps: the free resources of one host over time, and the number of tasks that fit."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import TypeAlias

from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom, TaskPlace, kind_of

# Amounts of a host are one tuple of whole numbers, because a search compares and subtracts them very often: cores,
# memory, others by name, each GPU. GPUs have an entry each: a task keeps its GPUs as long as it runs, so that the least
# of each GPU during an interval counts, and not how many are free at each instant.
#
# Between two calls the three lists are equally long, `times` ascends from minus infinity, and `_borders` counts the
# uses that begin or end at each step. Neighbouring steps may be equal: a step is removed when no use has a border
# there, so that taking and giving back leaves the same steps. Leases have a similar timeline, which is computed when it
# is asked and knows the lease of each share, since Haizea's selection of hosts depends on it; here only amounts count,
# and a change costs one subtraction for each step that it covers.

#: Thousandths of cores, MiB, amounts of others, thousandths of each GPU.
Amounts: TypeAlias = tuple[int, ...]


class RoomSteps:
    """The free amounts of a host, or the free licences of the machine, as a step function of time.

    Attributes:
        capacity: the amounts of an unused host.
        times: the begins of the steps, at begins and ends of uses.
        free: the free amounts during each step.
        promises: number of uses that begin in the future, or began as such.
    """

    __slots__ = ("_borders", "capacity", "free", "promises", "times")

    def __init__(self, capacity: Amounts) -> None:
        self.capacity = capacity
        self.times: list[float] = [-math.inf]
        self.free: list[Amounts] = [capacity]
        #: The number of begins and ends of uses at the begin of each step.
        self._borders = [0]
        self.promises = 0

    def take(self, start: float, end: float, amounts: Amounts) -> None:
        """Take amounts in [start, end)."""
        first = self._open(start)
        last = len(self.times) if end == math.inf else self._open(end)
        free = self.free
        for at in range(first, last):
            free[at] = tuple([have - taken for have, taken in zip(free[at], amounts, strict=True)])

    def give(self, start: float, end: float, amounts: Amounts) -> None:
        """Give back amounts that were taken in [start, end)."""
        times, free = self.times, self.free
        for at in range(bisect_left(times, start), bisect_left(times, end)):
            free[at] = tuple([have + taken for have, taken in zip(free[at], amounts, strict=True)])
        if end < math.inf:
            self._close(end)
        self._close(start)

    def at(self, time: float) -> Amounts:
        """Return the free amounts at an instant."""
        return self.free[bisect_right(self.times, time) - 1]

    def least(self, start: float, end: float) -> Amounts:
        """Return the least free amounts during [start, end), each by itself; those at `start` if it is empty."""
        times, free = self.times, self.free
        at = bisect_right(times, start) - 1
        least = free[at]
        for later in range(at + 1, bisect_left(times, end)):
            least = tuple([min(one, other) for one, other in zip(least, free[later], strict=True)])
        return least

    def edges(self) -> list[tuple[float, bool]]:
        """Return (instant, whether anything is in use from then on) for each change of this; the first is not in use.

        Uses without a begin are in use from minus infinity on.
        """
        edges: list[tuple[float, bool]] = []
        used = False
        for time, free in zip(self.times, self.free, strict=True):
            if (free != self.capacity) != used:
                used = not used
                edges.append((time, used))
        return edges

    def _open(self, time: float) -> int:
        """Return the step that begins at `time`, which gets one more border."""
        times = self.times
        at = bisect_left(times, time)
        if at < len(times) and times[at] == time:
            self._borders[at] += 1
        else:
            times.insert(at, time)
            self.free.insert(at, self.free[at - 1])
            self._borders.insert(at, 1)
        return at

    def _close(self, time: float) -> None:
        at = bisect_left(self.times, time)
        self._borders[at] -= 1
        if not self._borders[at] and at:
            del self.times[at], self.free[at], self._borders[at]


class RoomLayout:
    """The meaning of the amounts of hosts.

    Attributes:
        others: names of other resources that any host has, sorted.
        first_gpu: the place of the first GPU.
    """

    __slots__ = ("first_gpu", "others")

    def __init__(self, capacities: Iterable[HostCapacity]) -> None:
        self.others = tuple(sorted({name for capacity in capacities for name, _ in capacity.others}))
        self.first_gpu = 2 + len(self.others)

    def capacity(self, host: HostCapacity) -> Amounts:
        """Return the amounts of an unused host."""
        named = dict(host.others)
        others = [named.get(name, 0) for name in self.others]
        return (host.cores, host.memory, *others, *([WHOLE] * host.gpus))

    def amounts(self, room: HostRoom) -> Amounts:
        """Return what is free in a room."""
        others = [room.others.get(name, 0) for name in self.others] if self.others else ()
        return (room.cores, room.memory, *others, *room.gpus)

    def wanted(self, task: TaskDemand) -> list[tuple[int, int]]:
        """Return (place, amount) of each resource that a task requests, except GPUs."""
        named = dict(task.others)
        amounts = (task.cores, task.memory, *(named.get(name, 0) for name in self.others))
        return [(at, amount) for at, amount in enumerate(amounts) if amount]

    def taken(self, host: HostCapacity, task: TaskDemand, place: TaskPlace) -> Amounts:
        """Return the amounts that tasks take at a place on a host."""
        if task.exclusive:
            return self.capacity(host)
        named, tasks = dict(task.others), place.tasks
        amounts = [task.cores * tasks, task.memory * tasks, *(named.get(name, 0) * tasks for name in self.others)]
        amounts += [0] * host.gpus
        for gpu in place.gpus:
            amounts[self.first_gpu + gpu] += task.share
        return tuple(amounts)

    def room(self, host: HostCapacity, free: Amounts, kinds: Iterable[TaskDemand] = ()) -> HostRoom:
        """Return a room with these free amounts, in which tasks of some demands with GPUs are.

        Amounts below 0, which two uses take because one of them is late, count as 0.
        """
        if min(free) < 0:
            free = tuple([max(0, amount) for amount in free])
        others = {name: free[2 + self.others.index(name)] for name, _ in host.others} if self.others else {}
        room = HostRoom.with_amounts(host, free[0], free[1], free[self.first_gpu :], others)
        for task in kinds:
            kind = kind_of(room.needed(task))
            room.kinds[kind] = room.kinds.get(kind, 0) + 1
        return room


class TaskFit:
    """The amounts of one task, for counting how many fit."""

    __slots__ = ("_amounts", "_exclusive", "_first_gpu", "_gpus", "_share")

    def __init__(self, task: TaskDemand, layout: RoomLayout) -> None:
        self._amounts = layout.wanted(task)
        self._exclusive, self._gpus, self._share = task.exclusive, task.gpus, task.share
        self._first_gpu = layout.first_gpu

    def most_during(self, steps: RoomSteps, start: float, end: float) -> int:
        """Return how many tasks fit as `most` from `start` until `end`, from the same amounts during all steps."""
        times, free, capacity = steps.times, steps.free, steps.capacity
        first = bisect_right(times, start) - 1
        most = self.most(free[first], capacity)
        last = bisect_left(times, end)
        for at in range(first + 1, last):
            if not most:
                return 0
            most = min(most, self.most(free[at], capacity))
        if most and self._gpus and last > first + 1:  # which GPUs are free changes
            return self.most(steps.least(start, end), capacity)
        return most

    def most(self, free: Amounts, capacity: Amounts) -> int:
        """Return how many tasks fit at the same time into what is free of a host that can run the task.

        For tasks with several shares of GPUs it is at least that number: which GPUs the first tasks take matters.
        """
        if self._exclusive:
            return int(free == capacity)
        most = -1
        for at, amount in self._amounts:
            fit = free[at] // amount
            if fit < 1:
                return 0
            if fit < most or most < 0:
                most = fit
        gpus, share = self._gpus, self._share
        if gpus:
            shares = [left // share for left in free[self._first_gpu :] if left >= share]
            if len(shares) < gpus:
                return 0
            fit = sum(shares) // gpus
            if fit < most or most < 0:
                most = fit
        return most

"""Room levels: the hosts with at least some amount of a resource free now, as bit sets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom
from batsched_py.planning.future.room_steps import Amounts, RoomLayout

# A whole machine is asked the same question at each decision: on which hosts does this fit? Numbers of tasks kept for
# each demand made each change of a host one computation for each of some hundred demands, 169 for each job of a
# workload with 147 demands. Amounts that are requested are few, and demands are combinations of them: so each amount of
# each resource has the set of hosts with as much, a change of a host flips its bit in the levels between its old amount
# and its new one, and a question is one intersection for each resource.

#: The largest number of levels of a resource; with more, all are dropped.
_MOST_LEVELS: Final = 1 << 12
#: The largest number of measures of GPUs, which depend on shares.
_MOST_MEASURES: Final = 1 << 8


class Levels:
    """The hosts whose value of one measure has reached some levels."""

    __slots__ = ("_bits", "_levels", "_measure", "_values")

    def __init__(self, measure: Callable[[Amounts], int], amounts: Mapping[int, Amounts]) -> None:
        self._measure = measure
        #: Host -> its value.
        self._values = {host: measure(free) for host, free in amounts.items()}
        #: Levels, ascending, and the bits of hosts with at least that value.
        self._levels: list[int] = []
        self._bits: list[int] = []

    def change(self, host: int, free: Amounts) -> None:
        """Update the value of a host."""
        before, value = self._values[host], self._measure(free)
        if value != before:
            self._values[host] = value
            levels, bits, bit = self._levels, self._bits, 1 << host
            low, high = (before, value) if before < value else (value, before)
            for at in range(bisect_right(levels, low), bisect_right(levels, high)):
                bits[at] ^= bit

    def reached(self, level: int) -> int:
        """Return the bits of hosts with at least this value."""
        at = bisect_left(self._levels, level)
        if at < len(self._levels) and self._levels[at] == level:
            return self._bits[at]
        if len(self._levels) >= _MOST_LEVELS:
            self._levels.clear()
            self._bits.clear()
            at = 0
        bits = 0
        for host, value in self._values.items():
            if value >= level:
                bits |= 1 << host
        self._levels.insert(at, level)
        self._bits.insert(at, bits)
        return bits


class RoomLevels:
    """The hosts on which tasks fit now, for all demands.

    Args:
        layout: the meaning of amounts.
        capacities: resources of the hosts.
        classes: capacity -> its amounts, and bits of the hosts that have it.

    Attributes:
        unused: bits of the hosts of which all is free.
    """

    def __init__(
        self,
        layout: RoomLayout,
        capacities: Mapping[int, HostCapacity],
        classes: Mapping[HostCapacity, tuple[Amounts, int]],
    ) -> None:
        self._layout, self._classes = layout, classes
        #: Host -> its amounts when it is unused, and what is free now.
        self._whole: Mapping[int, Amounts] = {host: classes[capacity][0] for host, capacity in capacities.items()}
        self._free: dict[int, Amounts] = dict(self._whole)
        self.unused = 0
        for _, bits in classes.values():
            self.unused |= bits
        #: Place of a resource in amounts -> its levels.
        self._resources: dict[int, Levels] = {}
        #: Share -> the levels of the number of GPUs with this share, and of the number of these shares.
        self._gpus: dict[int, tuple[Levels, Levels]] = {}
        #: Demand -> bits of the hosts on which a task fits when they are unused.
        self._capable: dict[TaskDemand, int] = {}

    def change(self, host: int, free: Amounts | None) -> None:
        """Update what is free of a host; None for all of it."""
        whole = self._whole[host]
        free = whole if free is None else free
        if free == self._free[host]:
            return
        self._free[host] = free
        if (free == whole) != bool(self.unused >> host & 1):
            self.unused ^= 1 << host
        for levels in self._resources.values():
            levels.change(host, free)
        for counts, shares in self._gpus.values():
            counts.change(host, free)
            shares.change(host, free)

    def free(self, host: int) -> tuple[Amounts, Amounts]:
        """Return what is free of a host, and what is free when it is unused."""
        return self._free[host], self._whole[host]

    def capable(self, task: TaskDemand) -> int:
        """Return the bits of the hosts on which a task fits when they are unused."""
        found = self._capable.get(task)
        if found is None:
            if len(self._capable) >= _MOST_LEVELS:
                self._capable.clear()
            found = 0
            for capacity, (_, bits) in self._classes.items():
                if not HostRoom(capacity).lacking(task):
                    found |= bits
            self._capable[task] = found
        return found

    def fitting(self, task: TaskDemand, tasks: int = 1) -> int:
        """Return the bits of the hosts on which several tasks fit at the same time now.

        For several tasks with several shares of GPUs these are at least those hosts.
        """
        bits = self.capable(task)
        if task.exclusive:
            return bits & self.unused if tasks == 1 else 0
        for at, amount in self._layout.wanted(task):
            bits &= self._levels_of(at).reached(amount * tasks)
        if task.gpus:
            counts, shares = self._levels_of_gpus(task.share)
            if task.gpus > 1:
                bits &= counts.reached(task.gpus)
            if task.gpus == 1 or tasks > 1:
                bits &= shares.reached(task.gpus * tasks)
        return bits

    def _levels_of(self, at: int) -> Levels:
        levels = self._resources.get(at)
        if levels is None:
            levels = self._resources[at] = Levels(lambda free: free[at], self._free)
        return levels

    def _levels_of_gpus(self, share: int) -> tuple[Levels, Levels]:
        found = self._gpus.get(share)
        if found is None:
            if len(self._gpus) >= _MOST_MEASURES:
                self._gpus.clear()
            first = self._layout.first_gpu
            counts = Levels(lambda free: sum([left >= share for left in free[first:]]), self._free)
            shares = Levels(lambda free: shares_of(free[first:], share), self._free)
            found = self._gpus[share] = counts, shares
        return found


def shares_of(gpus: Iterable[int], share: int) -> int:
    """Return how many shares of GPUs are free, with these thousandths left of each."""
    if share == WHOLE:
        return sum([left == WHOLE for left in gpus])
    return sum([left // share for left in gpus if left > 0])

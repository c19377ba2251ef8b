"""Room levels: the hosts with at least some amount of a resource free now, as bit sets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from batsched_py.bits import bit_runs, bits_of, without
from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import NOT_EMPTY, OTHER_MODEL, HostRoom
from batsched_py.model.job_demand import JobDemand
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
#: The number of tasks for one host up to which sets are used; with more, tasks are counted host by host.
FEW: Final = 16


class Level:
    """The bits of the hosts whose value has reached one level."""

    __slots__ = ("bits",)

    def __init__(self, bits: int) -> None:
        self.bits = bits


class Levels:
    """The hosts whose value of one measure has reached some levels.

    Args:
        measure: returns the value for amounts of a host.
        amounts: host -> its amounts.
        forget: called before levels are dropped.
    """

    __slots__ = ("_forget", "_levels", "_reached", "_values", "measure")

    def __init__(
        self, measure: Callable[[Amounts], int], amounts: Mapping[int, Amounts], forget: Callable[[], None]
    ) -> None:
        self.measure, self._forget = measure, forget
        #: Host -> its value.
        self._values = {host: measure(free) for host, free in amounts.items()}
        #: Values, ascending, and the hosts with at least that value.
        self._levels: list[int] = []
        self._reached: list[Level] = []

    def change(self, host: int, value: int) -> None:
        """Update the value of a host."""
        before = self._values[host]
        if value != before:
            self._values[host] = value
            levels, bit = self._levels, 1 << host
            low, high = (before, value) if before < value else (value, before)
            first = bisect_right(levels, low)
            for level in self._reached[first : bisect_right(levels, high, first)]:
                level.bits ^= bit

    def reached(self, value: int) -> Level:
        """Return the hosts with at least this value; they are kept up to date until levels are dropped."""
        at = bisect_left(self._levels, value)
        if at < len(self._levels) and self._levels[at] == value:
            return self._reached[at]
        if len(self._levels) >= _MOST_LEVELS:
            self._forget()
            self._levels.clear()
            self._reached.clear()
            at = 0
        level = Level(bits_of([host for host, there in self._values.items() if there >= value]))
        self._levels.insert(at, value)
        self._reached.insert(at, level)
        return level

    def most(self, hosts: int) -> tuple[int, int]:
        """Return the largest value of hosts of these bits, at least one, and how many have it."""
        highest = next((level.bits & hosts for level in reversed(self._reached) if level.bits & hosts), hosts)
        values = [self._values[host] for low, high in bit_runs(highest) for host in range(low, high + 1)]
        return max(values), values.count(max(values))


def capacity_classes(
    capacities: Mapping[int, HostCapacity], layout: RoomLayout
) -> dict[HostCapacity, tuple[Amounts, int]]:
    """Return capacity -> its amounts, and bits of the hosts that have it, in the order of the first of these hosts."""
    hosts: dict[HostCapacity, list[int]] = {}
    for host, capacity in capacities.items():
        hosts.setdefault(capacity, []).append(host)
    return {capacity: (layout.capacity(capacity), bits_of(numbers)) for capacity, numbers in hosts.items()}


class RoomLevels:
    """The hosts on which tasks fit now, for all demands.

    Args:
        layout: the meaning of amounts.
        capacities: resources of the hosts.
        classes: capacity -> its amounts, and bits of the hosts that have it.
        lasting: True if the amounts are those that are free from now on for all time.

    Attributes:
        unused: bits of the hosts of which all is free.
    """

    def __init__(
        self,
        layout: RoomLayout,
        capacities: Mapping[int, HostCapacity],
        classes: Mapping[HostCapacity, tuple[Amounts, int]],
        *,
        lasting: bool = False,
    ) -> None:
        self._layout, self._classes, self.lasting = layout, classes, lasting
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
        #: Demand -> bits of the hosts on which a task fits when they are unused, and the amounts that it takes.
        self._demands: dict[TaskDemand, tuple[int, list[tuple[int, int]]]] = {}
        #: Demand and a number of tasks -> these bits, and the levels that hosts with room for them have reached.
        self._asked: dict[tuple[TaskDemand, int], tuple[int, list[Level]]] = {}
        #: Number of times that levels were dropped.
        self._drops = 0

    def change(self, host: int, free: Amounts | None) -> None:
        """Update what is free of a host; None for all of it."""
        whole, before = self._whole[host], self._free[host]
        free = whole if free is None else free
        if free == before:
            return
        self._free[host] = free
        if (free == whole) != bool(self.unused >> host & 1):
            self.unused ^= 1 << host
        for at, levels in self._resources.items():
            if free[at] != before[at]:
                levels.change(host, free[at])
        first = self._layout.first_gpu
        if self._gpus and free[first:] != before[first:]:
            for counts, shares in self._gpus.values():
                counts.change(host, counts.measure(free))
                if shares is not counts:
                    shares.change(host, shares.measure(free))

    def free(self, host: int) -> tuple[Amounts, Amounts]:
        """Return what is free of a host, and what is free when it is unused."""
        return self._free[host], self._whole[host]

    def capable(self, task: TaskDemand) -> int:
        """Return the bits of the hosts on which a task fits when they are unused."""
        return self._demand(task)[0]

    def fitting(self, task: TaskDemand, tasks: int = 1) -> int:
        """Return the bits of the hosts on which several tasks fit at the same time now.

        For several tasks with several shares of GPUs these are at least those hosts.
        """
        asked = self._asked.get((task, tasks)) or self._ask(task, tasks)
        bits = asked[0]
        for level in asked[1]:
            bits &= level.bits
        if task.exclusive:
            return bits & self.unused if tasks == 1 else 0
        return bits

    def may_have(self, wanted: JobDemand, hosts: int) -> bool:
        """Return whether all tasks of a job may fit on hosts of these bits now; False is certain."""
        task, tasks = wanted.task, wanted.tasks
        there = hosts & self.fitting(task)
        missing = tasks - there.bit_count()
        if missing <= 0 or not there or wanted.spread or task.exclusive:
            return missing <= 0
        for number in range(2, min(tasks, FEW) + 1):
            there &= self.fitting(task, number)
            missing -= there.bit_count()
            if missing <= 0 or not there:
                return missing <= 0
        return tasks > FEW

    def _ask(self, task: TaskDemand, tasks: int) -> tuple[int, list[Level]]:
        """Return the bits of the hosts on which a task fits when they are unused, and the levels for several tasks."""
        drops = self._drops
        bits, wanted = self._demand(task)
        levels = list[Level]()
        if not task.exclusive:
            levels += [self._levels_of(at).reached(amount * tasks) for at, amount in wanted]
            if task.gpus:
                counts, shares = self._levels_of_gpus(task.share)
                if task.gpus > 1:
                    levels.append(counts.reached(task.gpus))
                if task.gpus == 1 or tasks > 1:
                    levels.append(shares.reached(task.gpus * tasks))
        if len(self._asked) >= _MOST_LEVELS:
            self._asked.clear()
        asked = bits, levels
        if drops == self._drops:
            self._asked[task, tasks] = asked
        return asked

    def _drop(self) -> None:
        """Forget the levels of questions, because some are no longer kept up to date."""
        self._drops += 1
        self._asked.clear()

    def lacking(self, task: TaskDemand, hosts: int) -> Iterator[tuple[str, int]]:
        """Yield each resource, as `HostRoom.lacking` names it, and the bits of hosts where it is the first that lacks.

        `hosts` are the bits of the hosts in question.
        """
        layout = self._layout
        if task.exclusive:
            yield NOT_EMPTY, without(hosts, self.unused)
            hosts &= self.unused
        for at, name in enumerate(("cores", "memory")):
            amount = getattr(task, name)
            if amount:
                enough = self._levels_of(at).reached(amount).bits
                yield name, without(hosts, enough)
                hosts &= enough
        if task.gpus:
            allowed = 0
            for capacity, (_, bits) in self._classes.items():
                if not task.models or capacity.model in task.models:
                    allowed |= bits
            yield OTHER_MODEL, without(hosts, allowed)
            enough = self._levels_of_gpus(task.share)[0].reached(task.gpus).bits
            yield "GPUs", without(hosts & allowed, enough)
            hosts &= allowed & enough
        for name, amount in task.others:
            known = name in layout.others
            enough = self._levels_of(2 + layout.others.index(name)).reached(amount).bits if known else 0
            yield name, without(hosts, enough)
            hosts &= enough

    def most(self, task: TaskDemand, resource: str, hosts: int) -> tuple[int, int]:
        """Return the largest free amount of a resource on hosts of these bits, and on how many hosts it is free.

        Of GPUs it is the number of those with the share that a task requests.
        """
        if resource == "GPUs":
            return self._levels_of_gpus(task.share)[0].most(hosts)
        if resource in ("cores", "memory"):
            return self._levels_of(("cores", "memory").index(resource)).most(hosts)
        others = self._layout.others
        return self._levels_of(2 + others.index(resource)).most(hosts) if resource in others else (0, hosts.bit_count())

    def _demand(self, task: TaskDemand) -> tuple[int, list[tuple[int, int]]]:
        found = self._demands.get(task)
        if found is None:
            if len(self._demands) >= _MOST_LEVELS:
                self._demands.clear()
            capable = 0
            for capacity, (_, bits) in self._classes.items():
                if not HostRoom(capacity).lacking(task):
                    capable |= bits
            found = self._demands[task] = capable, self._layout.wanted(task)
        return found

    def _levels_of(self, at: int) -> Levels:
        levels = self._resources.get(at)
        if levels is None:
            levels = self._resources[at] = Levels(lambda free: free[at], self._free, self._drop)
        return levels

    def _levels_of_gpus(self, share: int) -> tuple[Levels, Levels]:
        found = self._gpus.get(share)
        if found is None:
            if len(self._gpus) >= _MOST_MEASURES:
                self._drop()
                self._gpus.clear()
            first = self._layout.first_gpu
            shares = counts = Levels(_counted(first, share), self._free, self._drop)
            if share <= WHOLE // 2:  # a GPU may have several
                shares = Levels(lambda free: shares_of(free[first:], share), self._free, self._drop)
            found = self._gpus[share] = counts, shares
        return found


def _counted(first: int, share: int) -> Callable[[Amounts], int]:
    """Return the measure of the number of GPUs with this share, which begin at a place of amounts."""
    if share == WHOLE:
        return lambda free: free[first:].count(WHOLE)
    return lambda free: sum([left >= share for left in free[first:]])


def shares_of(gpus: Iterable[int], share: int) -> int:
    """Return how many shares of GPUs are free, with these thousandths left of each."""
    if share == WHOLE:
        return sum([left == WHOLE for left in gpus])
    return sum([left // share for left in gpus if left > 0])

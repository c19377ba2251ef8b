"""Fragmentation of GPUs: the amount of free GPUs that the expected tasks cannot use, and its descent.

Source: Weng, Yang, Yu, Wang, Tang, Yang and Zhang, Beware of fragmentation: scheduling GPU-sharing workloads with
fragmentation gradient descent, USENIX ATC 2023.

For one kind of expected tasks, all free GPUs of a host are fragments if such a task does not fit: for lack of cores, of
GPUs with a sufficient share, or of an allowed model; or if it needs no GPU. If it fits, the GPUs with too small a share
are fragments. The fragmentation of the host is the mean over the kinds, weighted by how many of the expected tasks are
of each. Memory does not count.

Sums are of whole numbers, so that they are exact. What counts is the complement, the usable amount. A kind that needs
one GPU can use each GPU with a sufficient share, whatever the other GPUs are: the usable amount of such kinds is a sum
over the GPUs, and the part of each GPU depends only on what is left of it, and on which kinds have enough cores. For
each step of the cores these parts are computed once, 1 001 numbers.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from batsched_py.model.demand import WHOLE, TaskDemand
from batsched_py.model.host_room import HostRoom, tightest_gpus
from batsched_py.planning.policies.rating import Rate

#: The fraction of the expected tasks whose kinds count, the most frequent ones: rare kinds cost more than they matter.
_COVERED: Final = 0.95

#: The number of usable amounts that are kept for each step of the cores.
_MOST_KNOWN: Final = 20_000


class TaskKind(NamedTuple):
    """Tasks that differ in nothing but their memory: as in a demand, but share 0 without GPUs."""

    cores: int
    share: int
    gpus: int
    models: tuple[str, ...]


#: A kind of tasks and how many of the expected ones are of it.
Weighted = tuple[TaskKind, int]


class Fragmentation:
    """The fragmentation of rooms for a set of expected tasks."""

    def __init__(self, expected: Sequence[TaskDemand]) -> None:
        self.kinds = typical_kinds(expected)
        #: Number of expected tasks that these kinds cover.
        self.covered = sum(weight for _, weight in self.kinds)
        #: Model of GPUs -> usable amounts in hosts with it.
        self._usable: dict[str, _UsableAmounts] = {}

    def weighted(self, room: HostRoom) -> int:
        """Return the fragmentation of a room in thousandths of a GPU, times `covered`."""
        return self.covered * room.gpu_amount - self._on(room).at(room.cores).of(room.gpus)

    def rated(self, demand: TaskDemand) -> Rate:
        """Return the rate for tasks of a demand: above 50 if the fragmentation falls."""
        scale = WHOLE * max(self.covered, 1)
        taken = self.covered * demand.gpu_amount
        cores, number, share = demand.cores, demand.gpus, demand.share

        def rate(room: HostRoom) -> int:
            usable, gpus = self._on(room), room.gpus
            after = usable.at(room.cores - cores)
            return _logistic((taken - usable.at(room.cores).of(gpus) + after.best(gpus, number, share)) / scale)

        return rate

    def gpus(self, room: HostRoom, demand: TaskDemand) -> tuple[int, ...]:
        """Return the GPUs for a task that fits: of several, the tightest; for one, the first with the best rate."""
        if demand.gpus != 1 or demand.share == WHOLE:
            return room.tightest(demand)
        scale = WHOLE * max(self.covered, 1)
        before = self.weighted(room)
        after = self._on(room).at(room.cores - demand.cores)
        amount = self.covered * (room.gpu_amount - demand.share)
        rates = [
            _logistic((before - amount + after.of(_without(room.gpus, gpu, demand.share))) / scale)
            if left >= demand.share
            else -1
            for gpu, left in enumerate(room.gpus)
        ]
        return (rates.index(max(rates)),)

    def _on(self, room: HostRoom) -> _UsableAmounts:
        model = room.capacity.model
        found = self._usable.get(model)
        if found is None:
            found = self._usable[model] = _UsableAmounts(self.kinds, model)
        return found


def typical_kinds(expected: Sequence[TaskDemand]) -> list[Weighted]:
    """Return the most frequent kinds of tasks, which cover 95 % of them, and how many are of each.

    Of equally frequent ones those with more cores, then a larger share, then more GPUs come first.
    """
    counted = Counter(TaskKind(task.cores, task.share if task.gpus else 0, task.gpus, task.models) for task in expected)
    found, covered = list[Weighted](), 0
    for kind, weight in sorted(counted.items(), key=_frequency, reverse=True):
        if covered >= _COVERED * len(expected):
            break
        found.append((kind, weight))
        covered += weight
    return found


def _frequency(item: Weighted) -> tuple[int, int, int, int, str]:
    kind, weight = item
    return weight, kind.cores, kind.share, kind.gpus, "|".join(kind.models)


def _logistic(descent: float) -> int:
    return int(100 / (1 + math.exp(-descent)))


def _without(gpus: tuple[int, ...], gpu: int, share: int) -> tuple[int, ...]:
    return (*gpus[:gpu], gpus[gpu] - share, *gpus[gpu + 1 :])


class _UsableAmounts:
    """Usable amounts of the free GPUs of hosts with one model of GPUs, by free cores."""

    __slots__ = ("_kinds", "_steps", "_thresholds")

    def __init__(self, kinds: Sequence[Weighted], model: str) -> None:
        self._kinds = [
            (kind, weight) for kind, weight in kinds if kind.gpus and (not kind.models or model in kind.models)
        ]
        #: The numbers of cores from which on another kind has enough of them.
        self._thresholds = sorted({kind.cores for kind, _ in self._kinds})
        #: The amounts for each number of thresholds that are reached, once they were needed.
        self._steps: list[_UsableByGpu | None] = [None] * (len(self._thresholds) + 1)

    def at(self, cores: int) -> _UsableByGpu:
        """Return the amounts for hosts with this number of free cores."""
        step = bisect_right(self._thresholds, cores)
        found = self._steps[step]
        if found is None:
            found = self._steps[step] = _UsableByGpu([one for one in self._kinds if one[0].cores <= cores])
        return found


class _UsableByGpu:
    """Usable amounts of free GPUs for kinds of tasks that all have enough cores."""

    __slots__ = ("_best", "_known", "_parts", "_several")

    def __init__(self, kinds: Sequence[Weighted]) -> None:
        weights = [0] * (WHOLE + 1)
        for kind, weight in kinds:
            if kind.gpus == 1:
                weights[kind.share] += weight
        #: For each amount left of a GPU, its part of the usable amount for kinds that need one GPU.
        self._parts = [left * weight for left, weight in enumerate(accumulate(weights))]
        #: Kinds that need several GPUs.
        self._several = [(kind.gpus, kind.share, weight) for kind, weight in kinds if kind.gpus > 1]
        #: GPUs -> usable amount, as far as it was computed.
        self._known: dict[tuple[int, ...], int] = {}
        #: GPUs, and the number and share that a task takes -> the best usable amount after that.
        self._best: dict[tuple[tuple[int, ...], int, int], int] = {}

    def of(self, gpus: tuple[int, ...]) -> int:
        """Return the usable amount of the GPUs, summed over the expected tasks."""
        found = self._known.get(gpus)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[gpus] = self._computed(gpus)
        return found

    def best(self, gpus: tuple[int, ...], number: int, share: int) -> int:
        """Return the usable amount after a task that fits: the largest for one GPU, for several the tightest are taken.

        Equal GPUs give equal amounts, so one of them is tried.
        """
        key = gpus, number, share
        found = self._best.get(key)
        if found is None:
            if number == 1:
                found = max(self.of(_without(gpus, gpus.index(left), share)) for left in set(gpus) if left >= share)
            else:
                taken = tightest_gpus(gpus, number, share)
                found = self.of(tuple(left - share if gpu in taken else left for gpu, left in enumerate(gpus)))
            if len(self._best) >= _MOST_KNOWN:
                self._best.clear()
            self._best[key] = found
        return found

    def _computed(self, gpus: tuple[int, ...]) -> int:
        usable = sum(map(self._parts.__getitem__, gpus))
        for number, share, weight in self._several:
            fitting = [left for left in gpus if left >= share]
            if len(fitting) >= number:
                usable += weight * sum(fitting)
        return usable

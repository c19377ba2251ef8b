"""Room: the resources of a host that no task uses, and which tasks fit."""

from __future__ import annotations

from collections import Counter
from typing import Final

from batsched_py.errors import InvariantError
from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand

#: The kind of tasks that share a GPU; other tasks have the number of their GPUs as kind.
SHARED: Final = 0


class HostRoom:
    """The free resources of one host.

    Attributes:
        capacity: resources of the host.
        cores: free thousandths of cores.
        memory: free MiB.
        gpus: free thousandths of each GPU, by number.
        gpu_amount: their sum.
        kinds: number of tasks with GPUs by kind, as `kind_of` returns it; only kinds that are there.
    """

    __slots__ = ("capacity", "cores", "gpu_amount", "gpus", "kinds", "memory")

    def __init__(self, capacity: HostCapacity) -> None:
        self.capacity = capacity
        self.cores, self.memory = capacity.cores, capacity.memory
        self.gpus: tuple[int, ...] = (WHOLE,) * capacity.gpus
        self.gpu_amount = capacity.gpus * WHOLE
        self.kinds = Counter[int]()

    @property
    def is_empty(self) -> bool:
        """True if no task uses any resource."""
        there = self.capacity
        return (self.cores, self.memory, self.gpu_amount) == (there.cores, there.memory, there.gpus * WHOLE)

    def needed(self, demand: TaskDemand) -> TaskDemand:
        """Return the demand with the amounts that the task occupies here: all, if it is exclusive."""
        return self.capacity.whole if demand.exclusive else demand

    def lacking(self, demand: TaskDemand) -> str:
        """Return the first resource of which too little is free for the task, "" if it fits."""
        if demand.exclusive and not self.is_empty:
            return "an empty host"
        if demand.cores > self.cores:
            return "cores"
        if demand.memory > self.memory:
            return "memory"
        if demand.gpus:
            if demand.models and self.capacity.model not in demand.models:
                return "GPUs of an allowed model"
            if not self._has_gpus(demand.gpus, demand.share):
                return "GPUs"
        return ""

    def tightest(self, demand: TaskDemand) -> tuple[int, ...]:
        """Return the GPUs for a task that fits: those with the least left that suffices, of equal ones the lowest."""
        needed = self.needed(demand)
        return tightest_gpus(self.gpus, needed.gpus, needed.share)

    def take(self, demand: TaskDemand, gpus: tuple[int, ...]) -> None:
        """Give a task its resources, on these GPUs. ValueError if they are not free."""
        lacking, needed = self.lacking(demand), self.needed(demand)
        if lacking:
            raise ValueError(f"{lacking}: less is free than the task requests")
        if len(set(gpus)) != len(gpus) or len(gpus) != needed.gpus:
            raise ValueError(f"gpus: must be {needed.gpus} different ones, not {gpus}")
        if any(not 0 <= gpu < len(self.gpus) or self.gpus[gpu] < needed.share for gpu in gpus):
            raise ValueError(f"gpus: {gpus} are not all free enough, with {self.gpus} left")
        self._move(needed, gpus, 1)

    def give(self, demand: TaskDemand, gpus: tuple[int, ...]) -> None:
        """Return the resources of a task that ends. ValueError if it does not use them."""
        needed, there = self.needed(demand), self.capacity
        if self.cores + needed.cores > there.cores or self.memory + needed.memory > there.memory:
            raise ValueError("cores: more are returned than were taken")
        if any(not 0 <= gpu < len(self.gpus) or self.gpus[gpu] + needed.share > WHOLE for gpu in gpus):
            raise ValueError(f"gpus: more of {gpus} is returned than was taken")
        self._move(needed, gpus, -1)

    def check(self) -> None:
        """Raise InvariantError if the room exceeds the capacity, or the sum is not that of the GPUs."""
        there = self.capacity
        within = 0 <= self.cores <= there.cores and 0 <= self.memory <= there.memory
        gpus_within = len(self.gpus) == there.gpus and all(0 <= left <= WHOLE for left in self.gpus)
        if not (within and gpus_within and self.gpu_amount == sum(self.gpus)):
            raise InvariantError(f"{self.cores} cores, {self.memory} MiB and GPUs {self.gpus} are no room of {there}")
        if any(count <= 0 for count in self.kinds.values()):
            raise InvariantError(f"the numbers of tasks by kind must be greater than 0: {dict(self.kinds)}")

    def _has_gpus(self, number: int, share: int) -> bool:
        """Return whether as many GPUs have this share left."""
        if number == 1:
            return max(self.gpus, default=0) >= share
        if share == WHOLE:
            return self.gpus.count(WHOLE) >= number
        return sum(left >= share for left in self.gpus) >= number

    def _move(self, needed: TaskDemand, gpus: tuple[int, ...], sign: int) -> None:
        self.cores -= sign * needed.cores
        self.memory -= sign * needed.memory
        if gpus:
            left = list(self.gpus)
            for gpu in gpus:
                left[gpu] -= sign * needed.share
            self.gpus = tuple(left)
            self.gpu_amount -= sign * needed.gpu_amount
            kind = kind_of(needed)
            self.kinds[kind] += sign
            if not self.kinds[kind]:
                del self.kinds[kind]


def kind_of(demand: TaskDemand) -> int:
    """Return the kind of a task with GPUs: SHARED, or the number of its whole GPUs."""
    return demand.gpus if demand.share == WHOLE else SHARED


def tightest_gpus(left: tuple[int, ...], number: int, share: int) -> tuple[int, ...]:
    """Return a number of GPUs with at least this share left: those with the least, of equal ones the lowest."""
    if not number:
        return ()
    fitting = sorted((amount, gpu) for gpu, amount in enumerate(left) if amount >= share)
    return tuple(sorted(gpu for _, gpu in fitting[:number]))

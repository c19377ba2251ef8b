"""Room: the resources of a host that no task uses, and which tasks fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from batsched_py.errors import InvariantError
from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand

#: The kind of tasks that share a GPU; other tasks have the number of their GPUs as kind.
SHARED: Final = 0
#: What `HostRoom.lacking` returns for GPUs of another model, and for a host that others use.
OTHER_MODEL: Final = "GPUs of an allowed model"
NOT_EMPTY: Final = "an empty host"


class TaskPlace(NamedTuple):
    """A host where tasks of a job run, and the numbers of the GPUs that they use.

    Attributes:
        host: number of the host.
        gpus: GPUs of the tasks, as many for each, those of the first task first.
        tasks: number of tasks.
    """

    host: int
    gpus: tuple[int, ...]
    tasks: int = 1

    def by_task(self) -> Iterator[tuple[int, ...]]:
        """Yield the GPUs of each task. ValueError if they are not as many for each."""
        for_each, rest = divmod(len(self.gpus), max(self.tasks, 1))
        if self.tasks < 1 or rest:
            raise ValueError(f"gpus: {len(self.gpus)} cannot be as many for each of {self.tasks} tasks")
        for task in range(self.tasks):
            yield self.gpus[task * for_each : (task + 1) * for_each]


#: The places of all tasks of a job, sorted by host; no host occurs twice.
Places = tuple[TaskPlace, ...]


class HostRoom:
    """The free resources of one host.

    Attributes:
        capacity: resources of the host.
        cores: free thousandths of cores.
        memory: free MiB.
        gpus: free thousandths of each GPU, by number.
        gpu_amount: their sum.
        kinds: number of tasks with GPUs by kind, as `kind_of` returns it; only kinds that are there.
        others: free amounts of other resources, by name.
    """

    __slots__ = ("capacity", "cores", "gpu_amount", "gpus", "kinds", "memory", "others")

    def __init__(self, capacity: HostCapacity) -> None:
        self.capacity = capacity
        self.cores, self.memory = capacity.cores, capacity.memory
        self.gpus: tuple[int, ...] = (WHOLE,) * capacity.gpus
        self.gpu_amount = capacity.gpus * WHOLE
        self.kinds: dict[int, int] = {}
        self.others = dict(capacity.others)

    @classmethod
    def with_amounts(
        cls, capacity: HostCapacity, cores: int, memory: int, gpus: tuple[int, ...], others: dict[str, int]
    ) -> HostRoom:
        """Return a room with these free amounts, in which no task with GPUs is counted."""
        room = cls.__new__(cls)
        room.capacity, room.cores, room.memory = capacity, cores, memory
        room.gpus, room.gpu_amount = gpus, sum(gpus)
        room.kinds, room.others = {}, others
        return room

    @property
    def is_empty(self) -> bool:
        """True if no task uses any resource."""
        there = self.capacity
        amounts = (self.cores, self.memory, self.gpu_amount)
        return amounts == (there.cores, there.memory, there.gpus * WHOLE) and tuple(self.others.items()) == there.others

    def copy(self) -> HostRoom:
        """Return an independent room with the same amounts."""
        other = HostRoom.__new__(HostRoom)
        other.capacity, other.cores, other.memory = self.capacity, self.cores, self.memory
        other.gpus, other.gpu_amount = self.gpus, self.gpu_amount
        other.kinds, other.others = self.kinds.copy(), self.others.copy()
        return other

    def needed(self, demand: TaskDemand) -> TaskDemand:
        """Return the demand with the amounts that the task occupies here: all, if it is exclusive."""
        return self.capacity.whole if demand.exclusive else demand

    def lacking(self, demand: TaskDemand) -> str:
        """Return the first resource of which too little is free for the task, "" if it fits."""
        if demand.exclusive and not self.is_empty:
            return NOT_EMPTY
        if demand.cores > self.cores:
            return "cores"
        if demand.memory > self.memory:
            return "memory"
        if demand.gpus:
            if demand.models and self.capacity.model not in demand.models:
                return OTHER_MODEL
            if not self._has_gpus(demand.gpus, demand.share):
                return "GPUs"
        if demand.others:
            return next((name for name, amount in demand.others if amount > self.others.get(name, 0)), "")
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
        if gpus or needed.gpus:
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
        if needed.others:
            most = dict(there.others)
            if any(self.others[name] + amount > most[name] for name, amount in needed.others):
                raise ValueError("others: more are returned than were taken")
        if gpus and any(not 0 <= gpu < len(self.gpus) or self.gpus[gpu] + needed.share > WHOLE for gpu in gpus):
            raise ValueError(f"gpus: more of {gpus} is returned than was taken")
        self._move(needed, gpus, -1)

    def take_all(self, demand: TaskDemand, place: TaskPlace) -> None:
        """Give several equal tasks their resources. ValueError if they are not free; some may have been taken then."""
        if place.tasks == 1:
            self.take(demand, place.gpus)
        elif place.tasks > 1 and not (place.gpus or demand.gpus or demand.exclusive):
            self.take(demand.times(place.tasks), ())
        else:
            for gpus in place.by_task():
                self.take(demand, gpus)

    def give_all(self, demand: TaskDemand, place: TaskPlace) -> None:
        """Return the resources of equal tasks that end. ValueError if they do not use them."""
        if place.tasks == 1:
            self.give(demand, place.gpus)
        elif place.tasks > 1 and not (place.gpus or demand.gpus or demand.exclusive):
            self.give(demand.times(place.tasks), ())
        else:
            for gpus in place.by_task():
                self.give(demand, gpus)

    def check(self) -> None:
        """Raise InvariantError if the room exceeds the capacity, or the sum is not that of the GPUs."""
        there = self.capacity
        within = 0 <= self.cores <= there.cores and 0 <= self.memory <= there.memory
        gpus_within = len(self.gpus) == there.gpus and all(0 <= left <= WHOLE for left in self.gpus)
        if not (within and gpus_within and self.gpu_amount == sum(self.gpus)):
            raise InvariantError(f"{self.cores} cores, {self.memory} MiB and GPUs {self.gpus} are no room of {there}")
        if any(not 0 <= self.others[name] <= amount for name, amount in there.others):
            raise InvariantError(f"{self.others} is no room of {there}")
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
        for name, amount in needed.others:
            self.others[name] -= sign * amount
        if gpus:
            left = list(self.gpus)
            for gpu in gpus:
                left[gpu] -= sign * needed.share
            self.gpus = tuple(left)
            self.gpu_amount -= sign * needed.gpu_amount
            kind = kind_of(needed)
            number = self.kinds.get(kind, 0) + sign
            if number:
                self.kinds[kind] = number
            else:
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

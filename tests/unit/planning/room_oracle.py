"""The future of shared hosts, slow and obvious, and a machine to which everything happens at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from batsched_py.hostset import HostSet
from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom, Places
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.promise_book import Entry
from batsched_py.planning.future.promises import RoomSlot, Slot, Specific
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.planning.task_packing import Pack, Packer
from tests.unit.planning.oracle import Oracle, Work
from tests.unit.planning.random_life import ALL, HOSTS, Life

LICENCES = {"matlab": 2, "solver": 3}
CAPACITIES = dict(
    enumerate(
        (
            HostCapacity(cores=4 * WHOLE, memory=16),
            HostCapacity(cores=4 * WHOLE, memory=16),
            HostCapacity(cores=8 * WHOLE, memory=32, gpus=2, model="T4"),
            HostCapacity(cores=8 * WHOLE, memory=32, gpus=2, model="T4"),
            HostCapacity(cores=8 * WHOLE, memory=16, gpus=4, model="A100", others=(("fpga", 2),)),
            HostCapacity(cores=8 * WHOLE, memory=32, gpus=2, model="T4"),
            HostCapacity(cores=2 * WHOLE, memory=64, others=(("nvme", 5),)),
        )
    )
)
#: best_fit depends on amounts alone, gpu_clustering on kinds of tasks.
RATINGS = [
    PACKED_SELECTIONS[name].prepare(tuple(CAPACITIES.values()), ())
    for name in ("best_fit", "gpu_clustering", "worst_fit")
]


def pack_as(rating: int) -> Pack:
    """Place tasks by one of the ratings; nothing is kept."""
    return Packer(partial(RATINGS.__getitem__, rating))


@dataclass(slots=True)
class Tasks:
    """Tasks of a job: running, or promised."""

    places: Places
    demand: JobDemand
    start: float
    end: float


@dataclass(slots=True)
class RoomOracle(Oracle):
    """Every question walks all tasks at all instants."""

    running: dict[str, Tasks] = field(default_factory=dict)
    promised: list[RoomSlot] = field(default_factory=list)

    def tasks_at(self, time: float) -> list[Tasks]:
        """The tasks that use rooms at an instant."""
        works = [each for each in self.running.values() if self._later(each.end) > time]
        return works + [
            Tasks(slot.places, slot.demand, slot.start, slot.end)
            for slot in self.promised
            if slot.start <= time < slot.end
        ]

    def used_at(self, time: float) -> int:
        return sum({1 << place.host for each in self.tasks_at(time) for place in each.places})

    def whole_at(self, time: float) -> int:
        """Hosts that no job with whole hosts has."""
        return Oracle.free_at(self, time)

    def free_at(self, time: float) -> int:
        return self.whole_at(time) & ~self.used_at(time)

    def instants(self) -> list[float]:
        ends = {self._later(each.end) for each in self.running.values()}
        slots = {time for slot in self.promised for time in (slot.start, slot.end)}
        return sorted({*Oracle.instants(self), *(time for time in ends | slots if self.now < time < math.inf)})

    def within(self, start: float, end: float) -> list[float]:
        return [start, *(time for time in self.instants() if start < time < end)]

    def room(self, host: int, start: float, end: float) -> HostRoom:
        """The amounts free during all of [start, end), with the kinds of tasks at its start."""
        room = HostRoom(CAPACITIES[host])
        for time in self.within(start, end):
            cores, memory, gpus, others = self.left(host, time)
            room.cores, room.memory = int(min(room.cores, cores)), int(min(room.memory, memory))
            room.gpus = tuple(int(min(one, other)) for one, other in zip(room.gpus, gpus, strict=True))
            room.others = {name: int(min(amount, others[name])) for name, amount in room.others.items()}
        room.gpu_amount = sum(room.gpus)
        for each in self.tasks_at(start):
            task = room.needed(each.demand.task) if each.demand.task.gpus else each.demand.task
            for place in each.places:
                if place.host == host and each.demand.task.gpus:
                    kind = task.gpus if task.share == WHOLE else 0
                    room.kinds[kind] = room.kinds.get(kind, 0) + place.tasks
        return room

    def left(self, host: int, time: float, least: float = 0) -> tuple[float, float, list[float], dict[str, float]]:
        """The amounts free at an instant, at least 0."""
        capacity = CAPACITIES[host]
        cores, memory, gpus, others = capacity.cores, capacity.memory, [WHOLE] * capacity.gpus, dict(capacity.others)
        for each in self.tasks_at(time):
            for place in each.places:
                if place.host == host:
                    task = capacity.whole if each.demand.task.exclusive else each.demand.task
                    cores -= task.cores * place.tasks
                    memory -= task.memory * place.tasks
                    for gpu in place.gpus:
                        gpus[gpu] -= task.share
                    for name, amount in task.others:
                        others[name] -= amount * place.tasks
        named = {name: max(least, amount) for name, amount in others.items()}
        return max(least, cores), max(least, memory), [max(least, gpu) for gpu in gpus], named

    def has_licences(self, wanted: JobDemand, start: float, end: float) -> bool:
        for time in self.within(start, end):
            left = dict(LICENCES)
            for each in self.tasks_at(time):
                for name, number in each.demand.licences:
                    left[name] -= number
            if any(left.get(name, 0) < number for name, number in wanted.licences):
                return False
        return True

    def places_at(self, wanted: JobDemand, start: float, end: float, among: int, rating: int) -> Places | None:
        """Places that are free during all of [start, end)."""
        open_hosts = among & ALL
        for time in self.within(start, end):
            open_hosts &= self.whole_at(time)
        if not self.has_licences(wanted, start, end):
            return None
        rooms = {host: self.room(host, start, end) for host in HostSet(open_hosts)}
        return pack_as(rating)(wanted, rooms)

    def earliest_room(self, wanted: JobDemand, duration: float, among: int, rating: int) -> RoomSlot | None:
        for time in self.instants():
            places = self.places_at(wanted, time, time + duration, among, rating)
            if places is not None:
                return RoomSlot(time, time + duration, places, wanted)
        return None


class SharedLife(Life):
    """A life in which tasks share hosts, too."""

    oracle: RoomOracle

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.oracle = RoomOracle(ALL)
        self.future.share(CAPACITIES, LICENCES)
        self._count = 0
        #: They keep rates, as in a run.
        self.packers = [Packer(partial(RATINGS.__getitem__, rating)) for rating in range(len(RATINGS))]
        #: Id of a job with whole hosts -> these, and its end.
        self.whole: dict[str, tuple[int, float]] = {}
        self._deeds += [
            *(self.begin_tasks, self.begin_tasks, self.begin_tasks, self.begin_tasks, self.end_tasks, self.end_tasks),
            *(self.promise_tasks, self.promise_tasks, self.promise_tasks, self.withdraw, self.withdraw, self.put_off),
        ]

    def demand(self) -> JobDemand:
        """A demand for some resources."""
        chance = self.chance
        gpus = chance.choice((0, 0, 0, 1, 1, 2, 3))
        task = TaskDemand(
            cores=chance.choice((500, 1000, 2000, 4000)),
            memory=chance.choice((0, 0, 2, 8, 20)),
            gpus=gpus,
            share=chance.choice((WHOLE, 500, 300)) if gpus else WHOLE,
            models=chance.choice(((), (), ("A100",), ("T4", "A100"))) if gpus else (),
            exclusive=chance.random() < 0.1,
            others=chance.choice(((), (), (), (), (("fpga", 1),), (("nvme", 2),))),
        )
        licences = chance.choice(((), (), (), (("matlab", 1),), (("matlab", 2), ("solver", 1))))
        return JobDemand(
            tasks=chance.choice((1, 1, 2, 3, 5)), task=task, spread=chance.random() < 0.3, licences=licences
        )

    def question(self) -> tuple[JobDemand, float, int, int]:
        """A demand, a duration, eligible hosts and a rating."""
        among = ALL if self.chance.random() < 0.7 else self.some(ALL)
        return self.demand(), float(self.chance.randint(1, 12)), among, self.chance.randrange(len(RATINGS))

    def earliest_room(self, wanted: JobDemand, duration: float, among: int, rating: int) -> RoomSlot | None:
        """As the availability says."""
        return self.future.earliest_room(wanted, duration, self.packers[rating], HostSet(among))

    def begin_tasks(self) -> None:
        """Tasks begin where there is room now, even where others are promised it later."""
        wanted, now = self.demand(), self.oracle.now
        places = self.oracle.places_at(wanted, now, now, ALL, 0)
        if places is not None:
            self._count += 1
            until = now + self.duration()
            self.oracle.running[str(self._count)] = Tasks(places, wanted, now, until)
            self.future.occupy_tasks(str(self._count), places, wanted, until)

    def end_tasks(self) -> None:
        """Tasks end: early, in time, or late."""
        if self.oracle.running:
            name = self.chance.choice(list(self.oracle.running))
            del self.oracle.running[name]
            self.future.vacate_tasks(name)

    def put_off(self) -> None:
        """The predicted end of tasks changes."""
        if self.oracle.running:
            name = self.chance.choice(list(self.oracle.running))
            self.oracle.running[name].end = self.oracle.now + self.duration() - 1
            self.future.predict_tasks(name, self.oracle.running[name].end)

    def promise_tasks(self) -> None:
        """Tasks are promised their first places."""
        slot = self.earliest_room(*self.question())
        if slot is not None:
            self.oracle.promised.append(slot)
            self.future.reserve(slot)

    def withdraw(self) -> None:
        """A promise is taken back, perhaps after its end."""
        if self.oracle.promised:
            self.future.release(self.oracle.promised.pop(self.chance.randrange(len(self.oracle.promised))))

    def begin(self, job: Job, promise: Specific, now: float) -> None:
        """Begin what was promised."""
        until = now + job.limit
        if isinstance(promise, RoomSlot):
            self.oracle.running[job.id] = Tasks(promise.places, promise.demand, now, until)
            self.future.occupy_tasks(job.id, promise.places, promise.demand, until)
        else:
            self.whole[job.id] = promise.hosts.bits, until
            self.oracle.works.append(Work(promise.hosts.bits, until, until))
            self.future.occupy(promise.hosts.bits, until)

    def end(self, name: str) -> None:
        """End what was begun."""
        if name in self.oracle.running:
            del self.oracle.running[name]
            self.future.vacate_tasks(name)
            return
        hosts, until = self.whole.pop(name)
        self.oracle.works.remove(Work(hosts, until, until))
        self.future.vacate(hosts, until)

    def check(self, entries: Sequence[Entry[Specific]]) -> None:
        """No host has less than nothing at any time, with these promises."""
        promises = [entry.promise for entry in entries]
        self.oracle.promised = [promise for promise in promises if isinstance(promise, RoomSlot)]
        self.oracle.slots = [promise for promise in promises if isinstance(promise, Slot)]
        for time in self.oracle.instants():
            taken = sum(work.hosts for work in self.oracle.works if work.predicted > time)
            for slot in self.oracle.slots:
                if slot.start <= time < slot.end:
                    assert not taken & slot.hosts.bits
                    taken |= slot.hosts.bits
            assert not taken & self.oracle.used_at(time)
            for host in CAPACITIES:
                cores, memory, gpus, others = self.oracle.left(host, time, least=-math.inf)
                assert min(cores, memory, *gpus, *others.values()) >= 0
            for name, number in LICENCES.items():
                used = [dict(each.demand.licences).get(name, 0) for each in self.oracle.tasks_at(time)]
                assert sum(used) <= number


assert len(CAPACITIES) == HOSTS

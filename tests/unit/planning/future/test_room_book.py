"""Promises of rooms: their first start, what they leave to others, and compression."""

from __future__ import annotations

import math
from functools import partial

import pytest

from batsched_py.hostset import HostSet
from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import TaskPlace
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Claim, RoomSlot, Slot
from batsched_py.planning.future.reserving_books import CountBook
from batsched_py.planning.future.room_book import RoomBook, RoomGaps
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.planning.task_packing import Packer
from tests.thoroughness import thorough
from tests.unit.planning.room_oracle import CAPACITIES, SharedLife, pack_as

#: Two hosts with 4 cores and 2 GPUs.
HOSTS = dict.fromkeys(range(2), HostCapacity(cores=4 * WHOLE, memory=8, gpus=2, model="T4"))
RATING = PACKED_SELECTIONS["best_fit"].prepare(tuple(HOSTS.values()), ())


def new_job(
    name: str, walltime: float, *, cores: int = 1, gpus: int = 0, tasks: int = 1, whole: bool = False, memory: int = 0
) -> Job:
    task = TaskDemand(cores=cores * WHOLE, memory=memory, gpus=gpus)
    demand = None if whole else JobDemand(tasks=tasks, task=task)
    return Job(f"w0!{name}", 0.0, tasks, walltime, "p", {}, demand)


class Scene:
    """Two hosts, and a book."""

    def __init__(self) -> None:
        self.future = Availability(0.0, 0b11)
        self.future.share(HOSTS, {})
        self.book = RoomBook(lambda: self.future, lambda job: job.limit, Packer(lambda: RATING))

    def start(self, job: Job) -> None:
        """Start it where there is room now."""
        found = self.book.earliest(job)
        assert found is not None
        assert found.start <= self.future.now
        if isinstance(found, RoomSlot):
            self.future.occupy_tasks(job.id, found.places, found.demand, self.future.now + job.limit)
        else:
            self.future.occupy(found.hosts.bits, self.future.now + job.limit)
        self.book.forget_gaps()

    def promise(self, job: Job) -> float:
        """Promise it its first start."""
        found = self.book.earliest(job)
        self.book.keep(job, found)
        assert found is not None
        return found.start

    def gaps(self) -> RoomGaps:
        found = self.book.gaps()
        assert isinstance(found, RoomGaps)
        return found


def test_a_promise_begins_when_enough_tasks_have_ended() -> None:
    """Cores are free on both hosts, GPUs on neither, until the first end."""
    scene = Scene()
    scene.start(new_job("a", 10, gpus=2))
    scene.start(new_job("b", 20, gpus=1))
    assert scene.promise(new_job("c", 5, gpus=2)) == 10
    assert scene.promise(new_job("d", 5, gpus=2)) == 15
    assert scene.promise(new_job("e", 5, gpus=1)) == 0


def test_an_overtaking_job_ends_before_the_promise_or_leaves_it_enough() -> None:
    """The promised GPUs are kept from 10 on; the cores beside them are not."""
    scene = Scene()
    scene.start(new_job("a", 10, cores=2, gpus=1))
    scene.start(new_job("b", 10, cores=2, gpus=2))
    assert scene.promise(new_job("c", 10, cores=2, gpus=2, tasks=2)) == 10
    gpu, cores = JobDemand(tasks=1, task=TaskDemand(gpus=1)), JobDemand(tasks=1, task=TaskDemand(cores=2 * WHOLE))
    assert scene.gaps().find_tasks(gpu, 10.0) == (TaskPlace(0, (1,)),)
    assert scene.gaps().find_tasks(gpu, 10.5) is None
    assert scene.gaps().find_tasks(cores, math.inf) == (TaskPlace(0, ()),)


def test_a_search_that_failed_is_not_repeated_for_later_ends() -> None:
    """The shortest job of equal demands may still fit."""
    scene = Scene()
    scene.start(new_job("a", 10, gpus=1))
    scene.promise(new_job("b", 10, gpus=2, tasks=2))
    gaps, gpus = scene.gaps(), JobDemand(tasks=3, task=TaskDemand(gpus=1))
    assert gaps.find_tasks(gpus, 12.0) is None
    assert gaps.find_tasks(gpus, 13.0) is None
    assert gaps.find_tasks(gpus, 9.0) is not None
    assert gaps.find_tasks(gpus, 13.0, HostSet(0b11)) is None


def test_whole_hosts_and_rooms_are_promised_among_each_other() -> None:
    """A job with a whole host waits for the tasks on it; tasks then wait for the job."""
    scene = Scene()
    scene.start(new_job("a", 10))
    scene.start(new_job("b", 20, whole=True))
    assert scene.promise(new_job("c", 5, whole=True)) == 10
    assert scene.promise(new_job("d", 10, cores=2)) == 0
    assert scene.promise(new_job("e", 10, cores=4)) == 15


def test_a_start_of_tasks_takes_their_host_from_the_whole_ones() -> None:
    """The number of free hosts decreases once, with the first task on a host."""
    scene = Scene()
    gaps = scene.gaps()
    assert (gaps.find(2, 10.0), gaps.left) == (HostSet(0b11), 2)
    gaps.take(HostSet(0b1), 10.0)
    gaps.take(HostSet(0b1), 10.0)
    assert (gaps.left, gaps.find(1, 10.0)) == (1, HostSet(0b10))


def test_compression_moves_promises_to_earlier_starts_only() -> None:
    """The first moves into the room that an early end has left, the second follows it."""
    scene = Scene()
    scene.start(new_job("a", 10, gpus=2))
    scene.start(new_job("b", 20, gpus=2))
    first, second, third = new_job("c", 5, gpus=2), new_job("d", 5, gpus=2), new_job("e", 30, gpus=2, tasks=2)
    assert [scene.promise(job) for job in (first, second, third)] == [10, 15, 20]
    scene.future.advance(4.0)
    scene.future.vacate_tasks("w0!a")
    moved = {job.name: promise.start for job, promise in scene.book.compress()}
    assert moved == {"c": 4, "d": 9}
    assert [entry.start for entry in scene.book.entries.values()] == [4, 9, 20]


def test_promises_of_numbers_of_hosts_become_promises_of_hosts() -> None:
    """With the same starts, in the same order of service; and nothing of the former ones is left."""
    scene = Scene()
    scene.start(new_job("a", 10, whole=True))
    former = CountBook(lambda: scene.future, lambda job: job.limit)
    jobs = [new_job("b", 5, tasks=2, whole=True), new_job("c", 8, whole=True), new_job("d", 4, whole=True)]
    for job in jobs:
        former.keep(job, former.earliest(job))
    scene.book.adopt(former)
    assert [entry.job for entry in scene.book.entries.values()] == jobs
    assert [entry.promise for entry in scene.book.entries.values()] == [
        Slot(10.0, 15.0, HostSet(0b11)),
        Slot(0.0, 8.0, HostSet(0b10)),
        Slot(15.0, 19.0, HostSet(0b1)),
    ]
    assert former.entries == {}
    scene.book.withdraw_all()
    assert scene.future.earliest_count(1, 100.0) == Claim(0.0, 100.0, 1)


@pytest.mark.parametrize("seed", range(12))
def test_compressed_promises_are_kept_and_need_no_more_than_there_is(seed: int) -> None:
    """Through lives in which only work that ends early changes what was predicted."""
    life = SharedLife(seed)
    now = 0.0
    book = RoomBook(lambda: life.future, lambda job: job.limit, pack_as(0))
    promised: dict[str, float] = {}
    running: dict[str, float] = {}
    for number in range(40):
        whole = life.chance.random() < 0.2
        demand = life.demand()
        size = life.chance.randint(1, 3) if whole else demand.tasks
        job = Job(f"w0!{number}", now, size, float(life.chance.randint(1, 9)), "p", {}, None if whole else demand)
        found = book.earliest(job)
        if found is None:
            assert not whole
            continue
        book.keep(job, found)
        promised[job.id] = found.start
        now = min([now + life.chance.randint(0, 3), *running.values(), book.first_start])
        life.future.advance(now)
        for name in [name for name, end in running.items() if end <= now or life.chance.random() < 0.2]:
            del running[name]
            life.end(name)
        for better, promise in book.compress():
            assert promise.start < promised[better.id]
            promised[better.id] = promise.start
        for entry, promise in book.starting(now):
            book.withdraw(entry)
            assert now == promised[entry.job.id]
            running[entry.job.id] = now + entry.job.limit
            life.begin(entry.job, promise, now)
        life.oracle.now = now
        life.check(list(book.entries.values()))
    assert len(promised) > 20


assert len(CAPACITIES) == 7


class PlainLife(SharedLife):
    """A life with tasks and whole hosts, and without promises but one."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        tasks = [self.begin_tasks, self.end_tasks]
        self._deeds = [*tasks, *tasks, *tasks, self.occupy, self.vacate, self.advance]


@pytest.mark.parametrize("rating", range(3))
def test_the_only_promise_is_the_same_if_a_new_search_finds_it(rating: int) -> None:
    """It is said of many promises, and whenever it is said, the start and the places are those of a new search."""
    same = changed = 0
    for seed in range(121, 121 + thorough(8)):
        life = PlainLife(seed)
        book = RoomBook(partial(getattr, life, "future"), lambda job: job.limit, life.packers[rating])
        for number in range(40):
            demand = life.demand()
            job = Job(f"w0!{number}", 0.0, demand.tasks, float(life.chance.randint(1, 9)), "p", {}, demand)
            found = book.earliest(job)
            if found is None or found.start <= life.future.now:
                life.step()
                continue
            book.keep(job, found)
            for _ in range(6):
                life.step()
                entry = book.entries[job.id]
                said, before = book.is_same(entry), entry.promise
                if not said:
                    book.withdraw(entry)
                    book.keep(job, book.earliest(job))
                    changed += 1
                    continue
                standing = book._standing
                assert before is not None
                life.future.release(before)
                assert life.future.earliest_room(demand, job.limit, life.packers[rating]) == before
                life.future.reserve(before)
                assert book._standing is standing
                same += 1
            book.withdraw_all()
    assert min(same, changed) > 20

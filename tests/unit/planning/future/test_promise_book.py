"""The promise book: who is promised what, what compressing leaves alone, and what it moves."""

from __future__ import annotations

import math
import random
from typing import Any, TypeVar

import pytest

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promise_book import PromiseBook, ShadowBook
from batsched_py.planning.future.promises import Claim, Promise, Shadow, Slot
from batsched_py.planning.future.reserving_books import CountBook, HostBook, ReservingBook

HOSTS = 9
ALL = (1 << HOSTS) - 1

Book = TypeVar("Book", bound=PromiseBook[Any])


def new_job(number: int, size: int, walltime: float) -> Job:
    return Job.create(f"w0!{number}", size=size, profile="p", walltime=walltime)


def new_book(kind: type[Book], future: Availability) -> Book:
    return kind(lambda: future, lambda job: job.limit)


class Machine:
    """Jobs that wait and run; compressed by the book, or by giving back and reserving again one by one."""

    def __init__(self, *, on_hosts: bool, naive: bool, hosts: int = HOSTS) -> None:
        self.on_hosts, self.naive = on_hosts, naive
        self.future = Availability(0.0, (1 << hosts) - 1)
        self.book: ReservingBook[Any] = new_book(HostBook if on_hosts else CountBook, self.future)
        #: Those that wait, in order, each with its promise where there is no book.
        self.waiting: list[tuple[Job, Promise | None]] = []
        #: (hosts, until) of those that run.
        self.running: list[tuple[int, float]] = []

    def earliest(self, job: Job) -> Promise:
        find = self.future.earliest if self.on_hosts else self.future.earliest_count
        found = find(job.size, job.limit)
        assert found is not None
        return found

    def submit(self, job: Job) -> None:
        if self.naive:
            self.waiting.append((job, self.reserved(self.earliest(job))))
        else:
            self.book.keep(job, self.book.earliest(job))

    def reserved(self, promise: Promise) -> Promise:
        self.future.reserve(promise)
        return promise

    def end(self, chosen: list[int], now: float) -> None:
        """End these jobs, and start those that can start."""
        self.future.advance(now)
        for hosts, until in [run for number, run in enumerate(self.running) if number in chosen or run[1] <= now]:
            self.running.remove((hosts, until))
            self.future.vacate(hosts, until)
        if self.naive:
            for place, (job, promise) in enumerate(self.waiting):
                assert promise is not None
                self.future.release(promise)
                self.waiting[place] = job, self.reserved(self.earliest(job))
        else:
            self.book.note_renewal()
            assert self.book.stands
            assert all(entry.promise is not None for entry in self.book.entries.values())
            for job, better in self.book.compress():
                assert self.book.entries[job.id].promise == better
        self.start(now)

    def start(self, now: float) -> None:
        if self.naive:
            due = [(job, promise) for job, promise in self.waiting if promise is not None and promise.start <= now]
        else:
            due = [(entry.job, promise) for entry, promise in self.book.starting(now)]
        for job, promise in due:
            if self.naive:
                self.waiting.remove((job, promise))
                self.future.release(promise)
            else:
                self.book.withdraw(self.book.entries[job.id])
            hosts = self.free(job.size) if promise.hosts is None else promise.hosts.bits
            self.running.append((hosts, now + job.limit))
            self.future.occupy(hosts, now + job.limit)

    def free(self, size: int) -> int:
        hosts = self.future.free_during(self.future.now, self.future.now + 0.001).first(size)
        assert hosts is not None
        return hosts.bits

    def promises(self) -> list[Promise | None]:
        kept = [entry.promise for entry in self.book.entries.values()]
        return [promise for _, promise in self.waiting] if self.naive else kept


@pytest.mark.parametrize("on_hosts", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_compressing_is_giving_back_and_reserving_again_one_by_one(seed: int, on_hosts: bool) -> None:
    """Start by start and host set by host set, through whole lives: what is skipped could not have moved."""
    chance = random.Random(seed)
    fast, naive = Machine(on_hosts=on_hosts, naive=False), Machine(on_hosts=on_hosts, naive=True)
    now, longest = 0.0, chance.choice((6, 20, 60))
    for number in range(60):
        job = new_job(number, chance.randint(1, chance.choice((3, HOSTS))), chance.randint(1, longest))
        for machine in (fast, naive):
            machine.submit(job)
            machine.start(now)
        assert fast.promises() == naive.promises()
        if chance.random() < 0.6:
            latest = min((until for _, until in fast.running), default=math.inf)
            now = min(now + chance.randint(0, 5), latest)
            chosen = [position for position in range(len(fast.running)) if chance.random() < 0.3]
            for machine in (fast, naive):
                machine.end(chosen, now)
            assert fast.promises() == naive.promises()
            assert fast.running == naive.running
            assert list(fast.future.steps()) == list(naive.future.steps())
    kept = [promise.start for promise in fast.promises() if promise is not None]
    assert fast.book.first_start == min(kept, default=math.inf)


@pytest.mark.parametrize("seed", [*range(7), 287])
def test_nobody_who_could_come_sooner_is_passed_over_in_a_long_queue(seed: int) -> None:
    """Sizes and walltimes of all magnitudes leave windows of all kinds, between which candidates are told apart."""
    chance = random.Random(seed)
    fast, naive = (Machine(on_hosts=False, naive=each, hosts=32) for each in (False, True))
    now = 0.0
    for number in range(300):
        size = chance.choice((1, 1, 2, 3, 4, 5, 8, 13, 16, 32))
        job = new_job(number, size, max(1, round(chance.lognormvariate(4, 1.6), chance.choice((0, 3)))))
        for machine in (fast, naive):
            machine.submit(job)
            machine.start(now)
        if number > 80:
            now = min([now + chance.expovariate(1 / 20), *(until for _, until in fast.running)])
            chosen = [position for position in range(len(fast.running)) if chance.random() < 0.1]
            for machine in (fast, naive):
                machine.end(chosen, now)
            assert fast.promises() == naive.promises()


@pytest.mark.parametrize("kind", [CountBook, HostBook])
def test_a_withdrawn_promise_leaves_no_trace(kind: type[ReservingBook[Any]]) -> None:
    """Neither in the availability nor in the book, whether one is withdrawn or all are."""
    future = Availability(0.0, ALL)
    future.occupy(0b11111, 10.0)
    book, before = new_book(kind, future), list(future.steps())
    for number in range(4):
        job = new_job(number, 5, 3.0)
        book.keep(job, book.earliest(job))
    assert book.earliest(new_job(9, 5, 3.0)) not in (None, book.earliest(new_job(9, 4, 3.0)))
    book.withdraw(book.entries["w0!1"])
    assert list(book.entries) == ["w0!0", "w0!2", "w0!3"]
    book.withdraw_all()
    assert not book.entries
    assert book.first_start == math.inf
    assert list(future.steps()) == before
    assert future.count_falls() == [(0.0, 4)]


def test_a_book_stands_as_long_as_nothing_disturbs_it() -> None:
    """Ends of work do not; hosts that go down do, and so does a job to which nothing can be promised."""
    future = Availability(0.0, ALL)
    future.occupy(ALL, 10.0)
    book = new_book(CountBook, future)
    first = new_job(1, 5, 3.0)
    book.keep(first, book.earliest(first))
    assert not book.stands
    book.note_renewal()
    future.vacate(ALL, 10.0)
    assert book.stands
    future.down = 0b111111
    assert not book.stands
    book.note_renewal()
    second = new_job(2, 8, 3.0)
    assert book.earliest(second) is None
    book.keep(second, None)
    assert not book.stands
    assert [entry.promise for entry in book.entries.values()] == [Claim(10.0, 13.0, 5), None]


def test_the_gaps_are_what_the_promises_leave() -> None:
    """On counts any of enough hosts will do, on hosts only those that nobody is promised; a shadow leaves its spare."""
    kinds: list[tuple[type[PromiseBook[Any]], Promise | Shadow, HostSet]] = [
        (CountBook, Claim(10.0, 20.0, 7), HostSet.parse("5-6")),
        (HostBook, Slot(10.0, 20.0, HostSet.parse("0-5,7")), HostSet.parse("6,8")),
        (ShadowBook, Shadow(10.0, 2), HostSet.parse("5-6")),
    ]
    for kind, promised, found in kinds:
        future = Availability(0.0, ALL)
        future.occupy(0b11111, 10.0)
        book = new_book(kind, future)
        job = new_job(1, 7, 10.0)
        assert book.gaps().find(4, 15.0) == HostSet.parse("5-8")
        book.keep(job, promised)
        assert book.gaps().find(4, 10.0) == HostSet.parse("5-8")
        assert book.gaps().find(2, 15.0) == found
        assert book.gaps().find(3, 15.0) is None


def test_a_single_shadow_reserves_nothing() -> None:
    """It is found again instead of compressed, and its start asks for no call: only reserving books do."""
    future = Availability(0.0, ALL)
    future.occupy(0b11111, 10.0)
    book = new_book(ShadowBook, future)
    job = new_job(1, 7, 10.0)
    book.keep(job, book.earliest(job))
    assert [entry.promise for entry in book.entries.values()] == [Shadow(10.0, 2)]
    assert future.count_falls() == [(0.0, 4)]
    assert not isinstance(book, ReservingBook)
    book.withdraw_all()
    assert not book.entries
    assert book.earliest(new_job(2, HOSTS + 1, 1.0)) == Shadow(math.inf, 0)

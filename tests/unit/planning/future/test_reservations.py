"""The book of reservations: all or nothing, and nothing is left of what was taken out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from batsched_py.hostset import HostSet
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Slot
from batsched_py.planning.future.reservations import Reservation, Reservations
from tests.builders import hosts

HOSTS = 6
ALL = HostSet.range(HOSTS)


def book(now: float = 0.0, down: int = 0) -> tuple[Reservations, Availability]:
    future = Availability(now, ALL.bits, down)
    return Reservations(future), future


def slot(start: float, end: float, which: str) -> Slot:
    return Slot(start, end, hosts(which))


def kept(name: str, start: float, end: float, which: str, owner: str = "") -> Reservation:
    return Reservation(name, slot(start, end, which), owner)


def test_what_is_added_is_kept_from_everyone_else() -> None:
    """Others find its hosts free before and after, not in between."""
    reserved, future = book()
    assert reserved.add(kept("a", 10.0, 20.0, "0-3")) is None
    assert future.free_during(0.0, 10.0) == ALL
    assert future.free_during(0.0, 10.5) == hosts("4-5")
    assert future.free_during(20.0, 30.0) == ALL


def test_two_reservations_never_share_a_host_at_one_time() -> None:
    """The reason names the other's owner and its time; the instant at which it ends is free."""
    reserved, _ = book()
    assert reserved.add(kept("a", 10.0, 20.0, "0-3", owner="w0!7")) is None
    assert reserved.add(kept("b", 19.0, 25.0, "3-4")) == "3 is reserved for w0!7 in [10, 20)"
    assert reserved.add(kept("b", 20.0, 25.0, "3-4")) is None


def test_several_are_added_or_none() -> None:
    """A chain whose last link does not fit leaves nothing behind."""
    reserved, future = book()
    reserved.add(kept("a", 30.0, 40.0, "0"))
    before = list(future.steps())
    assert reserved.add(kept("b", 0.0, 10.0, "0"), kept("c", 10.0, 31.0, "0")) is not None
    assert [one.id for one in reserved] == ["a"]
    assert list(future.steps()) == before


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (kept("a", 12.0, 13.0, "5"), "a has a reservation already"),
        (kept("b", 12.0, 13.0, "5-7"), "6-7: not hosts of the platform"),
        (Reservation("b", Slot(12.0, 13.0, HostSet())), "none: not hosts of the platform"),
        (kept("b", 13.0, 13.0, "5"), "[13, 13) is empty"),
        (kept("b", 3.0, 4.0, "5"), "[3, 4) is past"),
        (kept("b", 12.0, 13.0, "3-4"), "4 is down"),
        (kept("b", 12.0, 13.0, "2-3"), "2 works, or is promised to others, in that time"),
    ],
)
def test_what_is_impossible_has_a_reason(wanted: Reservation, why: str) -> None:
    """It changes nothing."""
    reserved, future = book(now=5.0, down=hosts("4").bits)
    future.occupy(hosts("2").bits, 12.5)
    reserved.add(kept("a", 10.0, 20.0, "0"))
    before = list(future.steps())
    assert reserved.add(wanted) == why
    assert list(future.steps()) == before
    assert len(reserved) == 1


def test_hosts_whose_work_will_be_stopped_may_be_reserved() -> None:
    """`over` says which; work and reservation both hold the host until each has ended."""
    reserved, future = book()
    future.occupy(hosts("2").bits, 100.0)
    assert reserved.add(kept("a", 10.0, 20.0, "2-3"), over=hosts("2")) is None
    future.advance(10.0)
    assert HostSet(future.free) == hosts("0-1 4-5")
    future.vacate(hosts("2").bits, 100.0)
    assert HostSet(future.free) == hosts("0-1 4-5")
    reserved.remove("a")
    assert HostSet(future.free) == ALL


def test_a_reservation_that_cannot_move_stays_where_it_was() -> None:
    """One that can leaves no trace of its old place."""
    reserved, future = book()
    reserved.add(kept("a", 10.0, 20.0, "0-2"), kept("b", 30.0, 40.0, "0-2"))
    before = list(future.steps())
    assert reserved.move("a", slot(35.0, 45.0, "2-3")) == "2 is reserved for b in [30, 40)"
    assert list(future.steps()) == before
    assert reserved.move("a", slot(35.0, 45.0, "3-5")) is None
    assert reserved.move("a", slot(36.0, 46.0, "3-5")) is None, "its own place is no obstacle"
    reserved.remove("b")
    assert list(future.steps()) == [(0.0, ALL), (36.0, hosts("0-2")), (46.0, ALL)]


def test_a_reservation_may_end_sooner() -> None:
    """Nothing of it is left if it would end before it begins, or has ended; it cannot be made longer."""
    reserved, future = book()
    reserved.add(kept("a", 10.0, 20.0, "0-5"))
    shorter = reserved.truncate("a", 15.0)
    assert shorter is not None
    assert shorter.slot == slot(10.0, 15.0, "0-5")
    assert future.free_during(15.0, 16.0) == ALL
    with pytest.raises(ValueError, match="later than its end"):
        reserved.truncate("a", 16.0)
    assert reserved.truncate("a", 10.0) is None
    assert list(future.steps()) == [(0.0, ALL)]


def test_it_tells_what_begins_and_ends_next() -> None:
    """Instants for calls: strictly later than what is asked."""
    reserved, _ = book()
    reserved.add(kept("a", 10.0, 20.0, "0"), kept("b", 15.0, 17.0, "1"))
    instants = [0.0]
    while (following := reserved.next_change(instants[-1])) is not None:
        instants.append(following)
    assert instants == [0.0, 10.0, 15.0, 17.0, 20.0]
    assert [one.id for one in reserved.starting(10.0)] == ["a"]
    assert reserved.starting(9.9) == []


def test_it_tells_who_holds_a_host() -> None:
    """From the start on, up to the end and not at it."""
    reserved, _ = book()
    reserved.add(kept("a", 10.0, 20.0, "0"), kept("b", 20.0, 30.0, "0-1"))
    found = [reserved.holder(0, time) for time in (9.9, 10.0, 19.9, 20.0, 30.0)]
    assert [None if one is None else one.id for one in found] == [None, "a", "a", "b", None]
    assert reserved.holder(1, 15.0) is None
    assert reserved.held(5.0, 20.0) == hosts("0")
    assert reserved.held(5.0, 20.5) == hosts("0-1")


def test_what_has_ended_is_taken_out_when_asked() -> None:
    """In order of the ends; the availability knew already."""
    reserved, future = book()
    reserved.add(kept("a", 10.0, 20.0, "0"), kept("b", 10.0, 15.0, "1"), kept("c", 19.0, 21.0, "2"))
    future.advance(20.0)
    assert [one.id for one in reserved.expire()] == ["b", "a"]
    assert [one.id for one in reserved] == ["c"]
    assert HostSet(future.free) == ALL - hosts("2")


def test_a_reservation_survives_hosts_that_fail_and_come_back() -> None:
    """It is nobody else's when they are back."""
    reserved, future = book()
    reserved.add(kept("a", 10.0, 20.0, "0-1"))
    future.down = hosts("1").bits
    future.advance(12.0)
    future.down = 0
    assert HostSet(future.free) == hosts("2-5")
    future.down = hosts("1").bits
    reserved.remove("a")
    future.down = 0
    assert HostSet(future.free) == ALL


def test_a_reservation_without_end_is_possible() -> None:
    """Work without a walltime, say."""
    reserved, future = book()
    assert reserved.add(kept("a", 10.0, math.inf, "0")) is None
    assert reserved.next_change(10.0) == math.inf
    assert future.free_during(1e9, 2e9) == ALL - hosts("0")


SLOTS = st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(1, 2**HOSTS - 1)).map(
    lambda drawn: Slot(float(drawn[0]), float(drawn[0] + drawn[1]), HostSet(drawn[2]))
)


@given(st.lists(SLOTS, max_size=8), st.lists(SLOTS, max_size=8), st.randoms(use_true_random=False))
def test_adding_then_removing_restores_the_availability(first: list[Slot], then: list[Slot], chance: object) -> None:
    """This holds for any earlier content, and for any order of removal."""
    reserved, future = book()
    future.occupy(0b11, 7.0)
    for number, wanted in enumerate(first):
        reserved.add(Reservation(f"first{number}", wanted))
    before = list(future.steps())
    added = [f"then{n}" for n, wanted in enumerate(then) if reserved.add(Reservation(f"then{n}", wanted)) is None]
    chance.shuffle(added)  # type: ignore[attr-defined]
    for name in added:
        reserved.remove(name)
    assert list(future.steps()) == before


@dataclass
class Plain:
    """The expected answers of the book, from all (start, end, hosts) of work and of reservations."""

    now: float = 0.0
    down: int = 0
    work: dict[int, float] = field(default_factory=dict)
    reservations: dict[str, Slot] = field(default_factory=dict)

    def reserved(self, start: float, end: float) -> int:
        bits = 0
        for each in self.reservations.values():
            if each.start < end and each.end > start:
                bits |= each.hosts.bits
        return bits

    def free(self, start: float, end: float) -> int:
        """Hosts that nobody has in [start, end); overdue work is expected right after now."""
        working = 0
        for bits, until in self.work.items():
            if start <= self.now or until > start:
                working |= bits
        return ALL.bits & ~(working | self.reserved(start, end) | self.down)

    def possible(self, wanted: Slot, over: int) -> bool:
        start = max(wanted.start, self.now)
        clash = self.reserved(wanted.start, wanted.end) & wanted.hosts.bits
        return wanted.end > self.now and not clash and not wanted.hosts.bits & ~over & ~self.free(start, wanted.end)


class BookAgainstTable(RuleBasedStateMachine):
    """Any sequence of operations: the book and its availability say what the plain table says."""

    def __init__(self) -> None:
        super().__init__()
        self.book, self.future = book()
        self.plain = Plain()
        self.count = 0

    @rule(wanted=SLOTS, over=st.sampled_from([0, 0b111]))
    def add(self, wanted: Slot, over: int) -> None:
        wanted = Slot(self.plain.now + wanted.start, self.plain.now + wanted.end, wanted.hosts)
        possible = self.plain.possible(wanted, over)
        self.count += 1
        name = f"r{self.count}"
        assert (self.book.add(Reservation(name, wanted), over=HostSet(over)) is None) is possible
        if possible:
            self.plain.reservations[name] = wanted

    @precondition(lambda self: self.plain.reservations)
    @rule(wanted=SLOTS, data=st.data())
    def move(self, wanted: Slot, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.plain.reservations)))
        wanted = Slot(self.plain.now + wanted.start, self.plain.now + wanted.end, wanted.hosts)
        own = self.plain.reservations.pop(name)
        possible = self.plain.possible(wanted, 0)
        assert (self.book.move(name, wanted) is None) is possible
        self.plain.reservations[name] = wanted if possible else own

    @precondition(lambda self: self.plain.reservations)
    @rule(part=st.floats(0.0, 1.0), data=st.data())
    def truncate(self, part: float, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.plain.reservations)))
        own = self.plain.reservations.pop(name)
        end = own.start + part * (own.end - own.start)
        left = self.book.truncate(name, end)
        assert (left is not None) is (end > max(own.start, self.plain.now))
        if left is not None:
            self.plain.reservations[name] = left.slot

    @precondition(lambda self: self.plain.reservations)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.plain.reservations)))
        assert self.book.remove(name).slot == self.plain.reservations.pop(name)

    @rule(bits=st.integers(1, 2**HOSTS - 1), duration=st.integers(1, 9))
    def work(self, bits: int, duration: int) -> None:
        bits &= self.future.free
        if bits and bits not in self.plain.work:
            self.plain.work[bits] = self.plain.now + duration
            self.future.occupy(bits, self.plain.now + duration)

    @precondition(lambda self: self.plain.work)
    @rule()
    def end_work(self) -> None:
        bits = min(self.plain.work)
        self.future.vacate(bits, self.plain.work.pop(bits))

    @rule(bits=st.integers(0, 2**HOSTS - 1))
    def fail(self, bits: int) -> None:
        self.plain.down = self.future.down = bits & 0b11000

    @rule(seconds=st.integers(1, 6))
    def advance(self, seconds: int) -> None:
        self.plain.now += seconds
        self.future.advance(self.plain.now)
        ended = [name for name, own in self.plain.reservations.items() if own.end <= self.plain.now]
        assert sorted(one.id for one in self.book.expire()) == sorted(ended)
        for name in ended:
            del self.plain.reservations[name]

    @invariant()
    def the_future_is_the_same(self) -> None:
        self.book.check()
        now = self.plain.now
        instants = {now, *(time for own in self.plain.reservations.values() for time in (own.start, own.end))}
        for start in sorted(time for time in {*instants, now + 2, now + 5} if time >= now):
            for length in (1.0, 4.0):
                assert self.future.free_during(start, start + length).bits == self.plain.free(start, start + length)
            assert self.book.held(start, start + 3).bits == self.plain.reserved(start, start + 3)
            following = [time for time in instants if time > start]
            if self.book.next_change(start) is not None or following:
                assert self.book.next_change(start) == min(following)
            for host in range(HOSTS):
                holder = self.book.holder(host, start)
                holders = [
                    name
                    for name, own in self.plain.reservations.items()
                    if own.start <= start < own.end and host in own.hosts
                ]
                assert ([] if holder is None else [holder.id]) == holders


TestBookAgainstTable = BookAgainstTable.TestCase

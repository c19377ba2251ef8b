"""The availability profile: what is free when."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.hostset import HostSet
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Shadow, Slot
from tests.builders import hosts

HOSTS = 8
ALL = (1 << HOSTS) - 1


def availability(now: float = 0.0, hosts: int = HOSTS) -> Availability:
    return Availability(now, (1 << hosts) - 1)


def test_everything_is_free_at_first() -> None:
    """An empty machine offers the lowest hosts now."""
    assert availability().earliest(3, 10.0) == Slot(0.0, 10.0, hosts("0-2"))


def test_work_holds_its_hosts_until_its_predicted_end() -> None:
    """A job that needs the whole machine starts when the last work ends."""
    future = availability()
    future.occupy(0b0111, 30.0)
    future.occupy(0b1000, 20.0)
    assert future.earliest(8, 5.0) == Slot(30.0, 35.0, hosts("0-7"))
    assert future.earliest(5, 5.0) == Slot(20.0, 25.0, hosts("3-7"))


def test_work_without_a_known_end_never_gives_its_hosts_back() -> None:
    """No walltime means no promise on those hosts."""
    future = availability()
    future.occupy(0b1, math.inf)
    assert future.earliest(8, 1.0) is None
    assert future.shadow(8) is None


def test_work_that_ends_early_gives_its_hosts_back_at_once() -> None:
    """`vacate` forgets the prediction."""
    future = availability()
    future.occupy(0b11, 30.0)
    future.advance(10.0)
    future.vacate(0b11, 30.0)
    assert future.earliest(8, 5.0) == Slot(10.0, 15.0, hosts("0-7"))
    assert list(future.steps()) == [(10.0, hosts("0-7"))]


def test_overdue_work_still_holds_its_hosts_now() -> None:
    """Past its walltime a job is expected the instant after now, never before it was announced."""
    future = availability()
    future.occupy(0b1, 10.0)
    future.advance(12.0)
    slot = future.earliest(8, 1.0)
    assert slot is not None
    assert slot.start == math.nextafter(12.0, math.inf)
    assert future.slot_at(12.0, 8, 1.0) is None


def test_a_reservation_keeps_its_hosts_from_others() -> None:
    """Only a slot that ends before the reservation begins may use its hosts."""
    future = availability()
    future.reserve(Slot(10.0, 20.0, hosts("0-5")))
    assert future.slot_at(0.0, 8, 10.0) is not None
    assert future.slot_at(0.0, 8, 10.5) is None
    assert future.earliest(2, 15.0) == Slot(0.0, 15.0, hosts("6-7"))
    assert future.earliest(3, 15.0) == Slot(20.0, 35.0, hosts("0-2"))


def test_a_released_reservation_leaves_no_trace() -> None:
    """Release is the reverse of reserve."""
    future = availability()
    slot = Slot(10.0, 20.0, hosts("0-5"))
    future.reserve(slot)
    future.release(slot)
    assert list(future.steps()) == [(0.0, hosts("0-7"))]


def test_a_reservation_takes_effect_and_ends_as_time_passes() -> None:
    """Its hosts are not free while it lasts, whoever asks, and free again after."""
    future = availability()
    slot = Slot(10.0, 20.0, hosts("0-5"))
    future.reserve(slot)
    future.advance(10.0)
    assert future.free == 0b11000000
    future.advance(20.0)
    assert future.free == ALL
    future.release(slot)
    assert future.free == ALL


def test_a_reservation_released_late_does_not_free_hosts_at_work() -> None:
    """Work that overruns into a reservation keeps its hosts when the reservation is taken back."""
    future = availability()
    slot = Slot(10.0, 20.0, hosts("0-1"))
    future.occupy(0b1, 10.0)
    future.reserve(slot)
    future.advance(11.0)
    future.release(slot)
    assert future.free == ALL & ~0b1


def test_hosts_that_are_down_are_never_offered() -> None:
    """Asleep, switching or failed hosts are free neither now nor later."""
    future = Availability(0.0, ALL, down=0b1111)
    assert future.earliest(4, 1.0) == Slot(0.0, 1.0, hosts("4-7"))
    assert future.earliest(5, 1.0) is None


def test_hosts_that_are_down_are_offered_from_when_they_are_expected_back() -> None:
    """A promise may count on them; one that is late is expected the instant after now, and never is forgotten."""
    future = Availability(0.0, ALL, down=0b1111)
    future.expect(hosts("0-2"), 10.0)
    assert future.earliest(7, 5.0) == Slot(10.0, 15.0, hosts("0-2 4-7"))
    assert future.earliest(8, 5.0) is None
    future.advance(12.0)
    soon = math.nextafter(12.0, math.inf)
    assert future.earliest(7, 5.0) == Slot(soon, soon + 5.0, hosts("0-2 4-7"))
    future.expect(hosts("0-2"), math.inf)
    assert future.earliest(7, 5.0) is None


def test_what_was_expected_of_a_host_is_forgotten_when_it_is_back() -> None:
    """The next failure has an end of its own, or none."""
    future = Availability(0.0, ALL, down=0b1)
    future.expect(hosts("0"), 10.0)
    future.down = 0
    future.down = 0b1
    assert future.earliest(8, 1.0) is None


def test_a_predicted_end_takes_the_place_of_the_walltime() -> None:
    """Earlier or later; and the work is gone when it ends, whatever was predicted."""
    future = availability()
    future.occupy(0b11, 30.0)
    future.occupy(0b1100, 30.0)
    future.predict(hosts("0-1"), 5.0)
    assert list(future.steps()) == [(0.0, hosts("4-7")), (5.0, hosts("0-1 4-7")), (30.0, hosts("0-7"))]
    future.predict(hosts("0-1"), 40.0)
    assert future.earliest(8, 1.0) == Slot(40.0, 41.0, hosts("0-7"))
    future.vacate(0b11, 30.0)
    future.vacate(0b1100, 30.0)
    assert list(future.steps()) == [(0.0, hosts("0-7"))]


def test_work_that_is_expected_to_end_late_breaks_no_promise() -> None:
    """Unlike a prediction: its end was known when promises were made, and is gone with the work."""
    future = availability()
    future.occupy(0b1111, 30.0)
    future.adjust(hosts("0-3"), 30.0, 35.0)
    assert (future.earliest(8, 1.0), future.disruptions) == (Slot(35.0, 36.0, hosts("0-7")), 0)
    future.predict(hosts("0-3"), 40.0)
    assert future.earliest(8, 1.0) == Slot(40.0, 41.0, hosts("0-7"))
    future.vacate(0b1111, 30.0)
    assert list(future.steps()) == [(0.0, hosts("0-7"))]


def test_hosts_are_chosen_as_asked_or_the_search_goes_on() -> None:
    """`choose` sees what is free there, at least as many as wanted; where it refuses, later starts are tried."""
    future = availability()
    future.occupy(0b11110000, 10.0)
    seen: list[str] = []

    def highest_pair(free: HostSet, size: int) -> HostSet | None:
        seen.append(str(free))
        return hosts("6-7") if hosts("6-7") <= free else None

    assert future.earliest(2, 5.0, choose=highest_pair) == Slot(10.0, 15.0, hosts("6-7"))
    assert seen == ["0-3", "0-7"]
    assert future.slot_at(0.0, 2, 5.0, choose=highest_pair) is None
    assert future.slot_at(0.0, 2, 5.0, among=hosts("2 5-7")) is None
    assert future.slot_at(10.0, 2, 5.0, among=hosts("2 5-7")) == Slot(10.0, 15.0, hosts("2 5"))
    assert future.earliest(5, 5.0, among=hosts("2 5-7")) is None


def test_a_shadow_counts_hosts_without_naming_them() -> None:
    """The shadow time is the first at which enough hosts are free; the rest is spare."""
    future = availability()
    future.occupy(0b1111, 10.0)
    future.occupy(0b110000, 20.0)
    assert future.shadow(2) == Shadow(0.0, 0)
    assert future.shadow(5) == Shadow(10.0, 1)
    assert future.shadow(7) == Shadow(20.0, 1)


@pytest.mark.parametrize("size", [1, 8])
def test_a_slot_is_half_open(size: int) -> None:
    """A slot may begin the instant another ends."""
    future = availability()
    future.occupy(ALL, 10.0)
    future.reserve(Slot(10.0, 20.0, hosts("0-7")))
    assert future.earliest(size, 5.0) == Slot(20.0, 25.0, hosts(f"0-{size - 1}" if size > 1 else "0"))


class Plain:
    """The profile as a table of each host's busy intervals: slow and obvious."""

    def __init__(self) -> None:
        self.taken: list[tuple[float, float, int]] = []

    def free_during(self, start: float, end: float) -> int:
        free = ALL
        for begin, stop, bits in self.taken:
            if begin < end and stop > start:
                free &= ~bits
        return free

    def earliest(self, size: int, duration: float) -> tuple[float, int] | None:
        for start in sorted({0.0, *(stop for _, stop, _ in self.taken)}):
            free = HostSet(self.free_during(start, start + duration)).first(size)
            if free is not None:
                return start, free.bits
        return None


@given(
    st.lists(st.tuples(st.sampled_from(["occupy", "reserve"]), st.integers(1, HOSTS), st.integers(1, 12)), max_size=14),
    st.integers(1, HOSTS),
    st.integers(1, 12),
)
def test_the_earliest_slot_is_that_of_a_plain_table(
    steps: list[tuple[str, int, int]], size: int, duration: int
) -> None:
    """After any bookings and reservations, the answer is that of the slow and obvious table."""
    future, plain = availability(), Plain()
    for verb, count, length in steps:
        if verb == "occupy":
            now = HostSet(plain.free_during(0.0, length)).first(count)
            if now is None:
                continue
            future.occupy(now.bits, length)
            plain.taken.append((0.0, length, now.bits))
        else:
            slot = future.earliest(count, length)
            assert slot is not None
            future.reserve(slot)
            plain.taken.append((slot.start, slot.end, slot.hosts.bits))
    slot = future.earliest(size, duration)
    assert slot is not None
    assert (slot.start, slot.hosts.bits) == plain.earliest(size, duration)


@given(st.lists(st.tuples(st.integers(1, HOSTS), st.integers(1, 9)), max_size=10), st.integers(0, 30))
def test_after_all_is_taken_back_everything_is_free(asked: list[tuple[int, int]], now: int) -> None:
    """Reserve and release, in any number and after any time, leave an empty machine."""
    future = availability()
    slots = []
    for size, duration in asked:
        slot = future.earliest(size, duration)
        assert slot is not None
        future.reserve(slot)
        slots.append(slot)
    future.advance(now)
    for slot in slots:
        future.release(slot)
    assert list(future.steps()) == [(now, hosts("0-7"))]


def test_hosts_that_are_expected_back_will_be_told_of() -> None:
    """At exactly that instant; those that are late are expected the instant after now, and say nothing of later."""
    future = Availability(0.0, ALL, down=0b11)
    future.expect(hosts("0-1"), 10.0)
    assert future.end_announced_by(10.0)
    assert not future.end_announced_by(11.0)
    future.advance(12.0)
    assert future.end_announced_by(math.nextafter(12.0, math.inf))
    assert not future.end_announced_by(20.0)

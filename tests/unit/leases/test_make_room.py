"""Who gives way for whom."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from batsched_py.hostset import HostSet
from batsched_py.leases.preemption import make_room
from tests.builders import hosts

WORK = [("a", hosts("2")), ("b", hosts("3-6")), ("c", hosts("7"))]


def test_nobody_gives_way_if_enough_is_free() -> None:
    """The lowest free hosts are taken."""
    assert make_room(1, hosts("0-1"), WORK) == (hosts("0"), [])


def test_the_first_that_are_offered_give_way() -> None:
    """As few as do."""
    assert make_room(3, hosts("0-1"), WORK) == (hosts("0-2"), ["a"])
    assert make_room(4, hosts("0-1"), WORK) == (hosts("0-1 3-4"), ["b"]), "a would not be enough, b is without a"
    assert make_room(8, hosts("0-1"), WORK) == (hosts("0-7"), ["a", "b", "c"])


def test_all_may_be_too_few() -> None:
    """Then nobody need be stopped."""
    assert make_room(9, hosts("0-1"), WORK) is None


@given(
    st.integers(1, 8),
    st.integers(0, 255),
    st.lists(st.integers(0, 7).map(lambda host: 1 << host), unique=True, max_size=8),
)
def test_each_victim_is_needed_and_each_host_is_there(size: int, free: int, taken: list[int]) -> None:
    """Without any one of them there would be too few hosts."""
    offered = [(bits, HostSet(bits & ~free)) for bits in taken if bits & ~free]
    found = make_room(size, HostSet(free), offered)
    room = free
    for _, each in offered:
        room |= each.bits
    assert (found is None) is (room.bit_count() < size)
    if found is not None:
        chosen, victims = found
        assert len(chosen) == size
        left = free | sum(victims)
        assert chosen.bits & ~left == 0
        assert all((left & ~victim).bit_count() < size for victim in victims)

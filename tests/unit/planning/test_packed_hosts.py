"""Packed hosts against an independent checker that adds up tasks, and selections by trying each host."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import InvariantError
from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import TaskPlace
from batsched_py.planning.packed_hosts import PackedHosts
from batsched_py.planning.policies.packing import PACKED_SELECTIONS

HOSTS = (
    HostCapacity(cores=8, memory=10, gpus=2, model="T4"),
    HostCapacity(cores=8, memory=10, gpus=2, model="T4"),
    HostCapacity(cores=6, memory=20, gpus=4, model="V100"),
    HostCapacity(cores=12, memory=5),
)
MODELS = st.lists(st.sampled_from(["T4", "V100"]), max_size=2).map(tuple)
DEMANDS = st.one_of(
    st.builds(TaskDemand, cores=st.integers(1, 12), memory=st.integers(0, 20), exclusive=st.booleans()),
    st.builds(
        TaskDemand,
        cores=st.integers(0, 6),
        memory=st.integers(0, 10),
        gpus=st.integers(1, 4),
        share=st.sampled_from([200, 500, 600, 1000]),
        models=MODELS,
        exclusive=st.sampled_from([False, False, True]),
    ),
)
#: A demand of a task that comes, or the number of a task that ends.
LIVES = st.lists(st.one_of(DEMANDS, DEMANDS, st.integers(0, 20)), max_size=40)
ORDERS = st.permutations(range(len(HOSTS)))
Task = tuple[TaskDemand, TaskPlace]


def exceeded(tasks: Sequence[Task]) -> list[str]:
    """The capacities that tasks exceed, added up from the tasks alone."""
    found = []
    for number, host in enumerate(HOSTS):
        there = [(demand, place.gpus) for demand, place in tasks if place.host == number]
        if any(demand.exclusive for demand, _ in there) and len(there) > 1:
            found.append(f"host {number} is not exclusive")
        if sum(demand.cores for demand, _ in there) > host.cores:
            found.append(f"cores of {number}")
        if sum(demand.memory for demand, _ in there) > host.memory:
            found.append(f"memory of {number}")
        for gpu in range(host.gpus):
            if sum(1000 if demand.exclusive else demand.share for demand, gpus in there if gpu in gpus) > 1000:
                found.append(f"GPU {gpu} of {number}")
        for demand, gpus in there:
            if demand.gpus and (len(set(gpus)) < demand.gpus or (demand.models and host.model not in demand.models)):
                found.append(f"GPUs of {number} are not those that were requested")
    return found


def gpus_of(hosts: PackedHosts, host: int, demand: TaskDemand) -> tuple[int, ...]:
    return hosts.rooms[host].tightest(demand)


def has_place(tasks: Sequence[Task], hosts: PackedHosts, demand: TaskDemand) -> list[int]:
    """The hosts on which a task fits beside the others, by trying each."""
    found = []
    for number, host in enumerate(HOSTS):
        gpus = tuple(range(host.gpus)) if demand.exclusive else gpus_of(hosts, number, demand)
        if not exceeded([*tasks, (demand, TaskPlace(number, gpus))]):
            found.append(number)
    return found


@pytest.mark.parametrize("name", list(PACKED_SELECTIONS))
@given(life=LIVES, order=ORDERS)
def test_no_capacity_is_exceeded_and_no_room_is_missed(
    name: str, life: list[TaskDemand | int], order: list[int]
) -> None:
    """Tasks come and end in any order; one that gets no place fits on no host."""
    expected = [one for one in life if isinstance(one, TaskDemand)]
    hosts = PackedHosts(HOSTS, PACKED_SELECTIONS[name], order=order, expected=expected)
    tasks: list[Task] = []
    for one in life:
        if isinstance(one, int):
            if one < len(tasks):
                hosts.give(*tasks.pop(one))
        else:
            fitting = has_place(tasks, hosts, one)
            place = hosts.find(one)
            assert (place is None) == (not fitting)
            if place is not None:
                hosts.take(one, place)
                tasks.append((one, place))
        assert exceeded(tasks) == []
        hosts.check()
    while tasks:
        hosts.give(*tasks.pop())
    assert all(room.is_empty and not room.kinds for room in hosts.rooms)


@pytest.mark.parametrize("name", list(PACKED_SELECTIONS))
@given(life=LIVES, order=ORDERS)
def test_the_first_of_the_hosts_with_the_best_rate_is_taken(
    name: str, life: list[TaskDemand | int], order: list[int]
) -> None:
    """The rates that are kept are those that are computed anew."""
    expected = [one for one in life if isinstance(one, TaskDemand)]
    hosts = PackedHosts(HOSTS, PACKED_SELECTIONS[name], order=order, expected=expected)
    rating = PACKED_SELECTIONS[name].prepare(HOSTS, expected)
    for demand in expected:
        place = hosts.find(demand)
        if place is not None:
            rooms = [(number, hosts.rooms[number]) for number in order if not hosts.rooms[number].lacking(demand)]
            rates = [rating.rated(room.needed(demand))(room) for _, room in rooms]
            assert place.host == rooms[rates.index(max(rates))][0]
            hosts.take(demand, place)


def test_the_order_has_each_host_once() -> None:
    """Another one is refused."""
    for order in ([0, 1, 2], [0, 1, 2, 2], [1, 2, 3, 4]):
        with pytest.raises(ValueError, match="order: must have each host from 0 to 3 once"):
            PackedHosts(HOSTS, PACKED_SELECTIONS["first_fit"], order=order)


def test_a_room_that_changed_without_its_owner_is_found() -> None:
    """The rates that are kept are no longer those of the rooms."""
    hosts = PackedHosts(HOSTS, PACKED_SELECTIONS["best_fit"])
    hosts.find(TaskDemand(cores=2))
    hosts.check()
    hosts.rooms[1].take(TaskDemand(cores=8), ())
    with pytest.raises(InvariantError, match="host 1 is not rated 50"):
        hosts.check()


def test_first_fit_takes_the_first_host_and_worst_fit_the_emptiest() -> None:
    """Equal hosts are taken in the order that is given, or by number."""
    small, demand = TaskDemand(cores=1), TaskDemand(cores=4)
    first = PackedHosts(HOSTS, PACKED_SELECTIONS["first_fit"], order=(3, 1, 0, 2))
    assert first.find(small) == TaskPlace(3, ())
    worst = PackedHosts(HOSTS[:2], PACKED_SELECTIONS["worst_fit"])
    places = []
    for _ in range(4):
        place = worst.find(demand)
        assert place is not None
        worst.take(demand, place)
        places.append(place.host)
    assert places == [0, 1, 0, 1]
    assert worst.find(demand) is None

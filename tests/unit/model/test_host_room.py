"""Rooms of hosts: what fits, what is taken, what is given back."""

from __future__ import annotations

import pytest

from batsched_py.errors import InvariantError
from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import SHARED, HostRoom, TaskPlace, kind_of


def room(gpus: int = 4) -> HostRoom:
    """Eight cores, 100 MiB, GPUs of the model T4."""
    return HostRoom(HostCapacity(cores=8000, memory=100, gpus=gpus, model="T4"))


@pytest.mark.parametrize(
    ("demand", "lacking"),
    [
        (TaskDemand(cores=8000, memory=100, gpus=4), ""),
        (TaskDemand(cores=8001), "cores"),
        (TaskDemand(memory=101), "memory"),
        (TaskDemand(gpus=5), "GPUs"),
        (TaskDemand(gpus=5, share=1), "GPUs"),
        (TaskDemand(gpus=1, models=("P100", "V100")), "GPUs of an allowed model"),
        (TaskDemand(gpus=1, models=("P100", "T4")), ""),
        (TaskDemand(cores=1, exclusive=True), ""),
        (TaskDemand(cores=8001, exclusive=True), "cores"),
    ],
)
def test_the_first_resource_that_is_lacking_is_named(demand: TaskDemand, lacking: str) -> None:
    """In an empty host."""
    assert room().lacking(demand) == lacking


def test_shares_are_of_different_gpus() -> None:
    """Two halves of a GPU do not make a task's two shares."""
    assert room(gpus=1).lacking(TaskDemand(gpus=2, share=500)) == "GPUs"


def test_whole_gpus_are_unused_ones() -> None:
    """A task that requests two finds one where the other is shared."""
    there = room(gpus=2)
    there.take(TaskDemand(gpus=1, share=1), (0,))
    assert there.lacking(TaskDemand(gpus=2)) == "GPUs"
    assert there.lacking(TaskDemand(gpus=1)) == ""
    assert there.lacking(TaskDemand(gpus=2, share=999)) == ""


def test_the_tightest_gpus_that_suffice_are_found() -> None:
    """The lowest of equal ones; whole ones are in the order of their numbers."""
    there = room()
    there.take(TaskDemand(gpus=1, share=300), (1,))
    there.take(TaskDemand(gpus=1, share=600), (3,))
    assert there.gpus == (1000, 700, 1000, 400)
    assert there.tightest(TaskDemand(gpus=1, share=400)) == (3,)
    assert there.tightest(TaskDemand(gpus=1, share=500)) == (1,)
    assert there.tightest(TaskDemand(gpus=2, share=500)) == (0, 1)
    assert there.tightest(TaskDemand(gpus=2)) == (0, 2)
    assert there.tightest(TaskDemand(cores=1)) == ()


def test_what_is_given_back_is_free_again() -> None:
    """All amounts, and the kinds of tasks."""
    there, demand = room(), TaskDemand(cores=500, memory=10, gpus=2, share=250)
    there.take(demand, (0, 2))
    there.take(TaskDemand(gpus=1), (3,))
    assert (there.cores, there.memory, there.gpus) == (7500, 90, (750, 1000, 750, 0))
    assert (there.gpu_amount, dict(there.kinds)) == (2500, {SHARED: 1, 1: 1})
    there.check()
    there.give(demand, (0, 2))
    there.give(TaskDemand(gpus=1), (3,))
    assert there.is_empty
    assert dict(there.kinds) == {}
    there.check()


def test_an_exclusive_task_takes_the_whole_host_and_needs_an_empty_one() -> None:
    """A task that requests one core leaves nothing."""
    there, alone = room(), TaskDemand(cores=1000, exclusive=True)
    there.take(TaskDemand(memory=1), ())
    assert there.lacking(alone) == "an empty host"
    there.give(TaskDemand(memory=1), ())
    there.take(alone, there.tightest(alone))
    assert (there.cores, there.memory, there.gpu_amount) == (0, 0, 0)
    assert there.lacking(TaskDemand(memory=1)) == "memory"
    there.give(alone, (0, 1, 2, 3))
    assert there.is_empty


@pytest.mark.parametrize(
    ("demand", "gpus", "rule"),
    [
        (TaskDemand(cores=8001), (), "cores: less is free than the task requests"),
        (TaskDemand(gpus=2), (1,), "gpus: must be 2 different ones"),
        (TaskDemand(gpus=2), (1, 1), "gpus: must be 2 different ones"),
        (TaskDemand(cores=1), (1,), "gpus: must be 0 different ones"),
        (TaskDemand(gpus=1), (4,), "are not all free enough"),
        (TaskDemand(gpus=1), (-1,), "are not all free enough"),
        (TaskDemand(gpus=1, share=800), (0,), "are not all free enough"),
    ],
)
def test_what_is_not_free_is_not_taken(demand: TaskDemand, gpus: tuple[int, ...], rule: str) -> None:
    """And nothing has changed then."""
    there = room()
    there.take(TaskDemand(gpus=1, share=300), (0,))
    with pytest.raises(ValueError, match=rule):
        there.take(demand, gpus)
    assert (there.cores, there.gpus) == (8000, (700, 1000, 1000, 1000))


@pytest.mark.parametrize(
    ("demand", "gpus"),
    [
        (TaskDemand(cores=1), ()),
        (TaskDemand(memory=1), ()),
        (TaskDemand(gpus=1), (0,)),
        (TaskDemand(gpus=1, share=100), (1,)),
        (TaskDemand(gpus=1, share=100), (4,)),
    ],
)
def test_what_was_not_taken_is_not_given_back(demand: TaskDemand, gpus: tuple[int, ...]) -> None:
    """More than a host has would be free."""
    there = room()
    there.take(TaskDemand(gpus=1, share=300), (0,))
    with pytest.raises(ValueError, match="than w"):
        there.give(demand, gpus)


def test_a_room_that_is_none_of_its_host_is_found() -> None:
    """By the amounts, or by the numbers of tasks."""
    for spoil in ({"cores": 9000}, {"gpu_amount": 1}, {"gpus": (1000,)}):
        there = room()
        for name, value in spoil.items():
            setattr(there, name, value)
        with pytest.raises(InvariantError, match="are no room of"):
            there.check()
    there = room()
    there.kinds[1] = -1
    with pytest.raises(InvariantError, match="must be greater than 0"):
        there.check()


def test_kinds_are_numbers_of_whole_gpus_or_shared() -> None:
    """All shares are of one kind."""
    assert kind_of(TaskDemand(gpus=2)) == 2
    assert kind_of(TaskDemand(gpus=1, share=999)) == kind_of(TaskDemand(gpus=3, share=1)) == SHARED


def test_other_resources_are_taken_and_returned() -> None:
    """The first that is lacking is named, also if the host has none of it."""
    there = HostRoom(HostCapacity(cores=8000, memory=0, others=(("fpga", 2),)))
    two = TaskDemand(cores=1, others=(("fpga", 2),))
    assert there.lacking(TaskDemand(others=(("fpga", 2), ("nvme", 1)))) == "nvme"
    there.take(two, ())
    assert there.lacking(TaskDemand(others=(("fpga", 1),))) == "fpga"
    there.check()
    there.give(two, ())
    assert there.is_empty
    with pytest.raises(ValueError, match="more are returned"):
        there.give(TaskDemand(others=(("fpga", 1),)), ())


def test_several_tasks_of_one_place_are_taken_and_returned() -> None:
    """Each has its own GPUs, in the order of the tasks."""
    there, two = room(), TaskDemand(cores=1000, gpus=1, share=400)
    place = TaskPlace(0, (1, 1, 3), 3)
    assert list(place.by_task()) == [(1,), (1,), (3,)]
    there.take_all(two, place)
    assert (there.cores, there.gpus) == (5000, (1000, 200, 1000, 600))
    apart = there.copy()
    there.give_all(two, place)
    assert there.is_empty
    assert (apart.cores, apart.gpus, dict(apart.kinds)) == (5000, (1000, 200, 1000, 600), {SHARED: 3})
    apart.check()


def test_many_tasks_without_gpus_are_taken_at_once() -> None:
    """All or none."""
    there, task = room(), TaskDemand(cores=1000, memory=1)
    there.take_all(task, TaskPlace(0, (), 8))
    assert (there.cores, there.memory) == (0, 92)
    there.give_all(task, TaskPlace(0, (), 8))
    with pytest.raises(ValueError, match="cores: less is free"):
        there.take_all(task, TaskPlace(0, (), 9))
    assert there.is_empty


def test_gpus_must_be_as_many_for_each_task() -> None:
    """Two tasks with three GPUs are an error."""
    with pytest.raises(ValueError, match="gpus: 3 cannot be as many for each of 2 tasks"):
        room().take_all(TaskDemand(gpus=1), TaskPlace(0, (0, 1, 2), 2))

"""Selections for packed resources, on hosts whose rates are computed by hand."""

from __future__ import annotations

import pytest

from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom
from batsched_py.planning.policies.packing import PACKED_SELECTIONS

#: The largest host, to which others are relative: 128 cores and eight GPUs.
LARGEST = HostCapacity(cores=128_000, memory=1000, gpus=8, model="G3")
EIGHT = HostCapacity(cores=96_000, memory=1000, gpus=8, model="G2")
TWO = HostCapacity(cores=104_000, memory=1000, gpus=2, model="T4")
ONE_GPU = TaskDemand(cores=12_000, memory=1, gpus=1)
SHARE = TaskDemand(cores=12_000, memory=1, gpus=1, share=400)
NO_GPU = TaskDemand(cores=12_000, memory=1)


def rate(name: str, demand: TaskDemand, room: HostRoom) -> int:
    return PACKED_SELECTIONS[name].prepare([LARGEST, EIGHT, TWO], []).rated(demand)(room)


def used(capacity: HostCapacity, *tasks: TaskDemand) -> HostRoom:
    room = HostRoom(capacity)
    for task in tasks:
        room.take(task, room.tightest(task))
    return room


@pytest.mark.parametrize(
    ("name", "eight", "two"),
    [
        # 96/128 * 12/128 + 8/8 * 1/8 = 0.1953, and 104/128 * 12/128 + 2/8 * 1/8 = 0.1074; halves are subtracted.
        ("dot_product", 90, 94),
        # (84/128 + 7/8) / 2 = 0.765, and (92/128 + 1/8) / 2 = 0.422.
        ("best_fit", 23, 57),
        ("worst_fit", 76, 42),
        # Base floor(25 * (8 - 8) / 8) = 0 and floor(25 * 6 / 8) = 18, 25 more without tasks.
        ("gpu_clustering", 25, 43),
        # max(33 - 8, 8), and max(33 - 2, 2).
        ("gpu_packing", 25, 31),
        ("first_fit", 0, 0),
    ],
)
def test_empty_hosts_have_these_rates_for_one_gpu(name: str, eight: int, two: int) -> None:
    """A host with eight GPUs and one with two."""
    assert rate(name, ONE_GPU, HostRoom(EIGHT)) == eight
    assert rate(name, ONE_GPU, HostRoom(TWO)) == two


@pytest.mark.parametrize(("name", "expected"), [("gpu_packing", 0), ("gpu_clustering", 0), ("first_fit", 0)])
def test_tasks_without_gpus_get_the_first_host(name: str, expected: int) -> None:
    """Rates are equal, with or without GPUs in use."""
    assert {rate(name, NO_GPU, room) for room in (HostRoom(EIGHT), used(TWO, SHARE), HostRoom(LARGEST))} == {expected}


def test_the_dot_product_of_a_task_without_gpus_is_that_of_the_cores() -> None:
    """96/128 * 12/128 / 2 = 0.035."""
    assert rate("dot_product", NO_GPU, HostRoom(EIGHT)) == 96


def test_packing_prefers_used_gpus_with_the_least_left() -> None:
    """A tenth of what is left is subtracted, at most a half; on an unused GPU of a used host one is opened."""
    room = used(EIGHT, TaskDemand(gpus=1, share=550))
    assert rate("gpu_packing", SHARE, room) == 100 - 4
    assert rate("gpu_packing", SHARE, used(EIGHT, TaskDemand(gpus=1, share=10))) == 100 - 9
    assert rate("gpu_packing", TaskDemand(gpus=1, share=700), room) == 50 - 1
    assert rate("gpu_packing", TaskDemand(gpus=4), room) == 50 - 4


def test_packing_counts_no_fewer_than_a_third_for_a_used_host() -> None:
    """Seventeen GPUs and more are all the same."""
    many = HostCapacity(cores=1000, memory=1, gpus=32, model="T4")
    assert rate("gpu_packing", TaskDemand(gpus=20), used(many, TaskDemand(gpus=1))) == 33


def test_clustering_prefers_hosts_with_tasks_of_the_same_kind() -> None:
    """Alone, then with others, then hosts without tasks, then those with others; tasks without GPUs do not count."""
    assert rate("gpu_clustering", ONE_GPU, used(EIGHT, ONE_GPU, NO_GPU)) == 3 + 75
    assert rate("gpu_clustering", ONE_GPU, used(EIGHT, ONE_GPU, SHARE)) == 4 + 50
    assert rate("gpu_clustering", ONE_GPU, used(EIGHT, NO_GPU)) == 0 + 25
    assert rate("gpu_clustering", ONE_GPU, used(EIGHT, SHARE)) == 1
    assert rate("gpu_clustering", SHARE, used(EIGHT, TaskDemand(gpus=1, share=900))) == 2 + 75
    assert rate("gpu_clustering", TaskDemand(gpus=2), used(EIGHT, ONE_GPU)) == 3


def test_hosts_without_gpus_are_rated_by_their_cores() -> None:
    """On a machine without GPUs nothing is divided by zero."""
    capacity = HostCapacity(cores=4000, memory=10)
    demand = TaskDemand(cores=1000)
    for name, expected in {"best_fit": 62, "worst_fit": 37, "dot_product": 87, "first_fit": 0}.items():
        assert PACKED_SELECTIONS[name].prepare([capacity], []).rated(demand)(HostRoom(capacity)) == expected


def test_all_but_fgd_share_the_gpu_with_the_least_left() -> None:
    """The lowest of equal ones."""
    room = used(EIGHT, TaskDemand(gpus=1, share=100), TaskDemand(gpus=1, share=600))
    assert room.gpus[:3] == (300, 1000, 1000)
    room.take(TaskDemand(gpus=1, share=500), (2,))
    for name in PACKED_SELECTIONS:
        if name != "fgd":
            assert PACKED_SELECTIONS[name].prepare([EIGHT], []).gpus(room, SHARE) == (2,)


def test_each_selection_has_a_source() -> None:
    """Author, title, venue and year."""
    assert all(PACKED_SELECTIONS[name].source[-4:].isdigit() for name in PACKED_SELECTIONS)

"""Fragmentation by its definition, case by case, against the sums of usable amounts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom
from batsched_py.planning.policies.fragmentation import Fragmentation, typical_kinds

MODELS = st.lists(st.sampled_from(["T4", "V100"]), max_size=2).map(tuple)
SHARES = st.sampled_from([100, 250, 500, 999, 1000])
TASKS = st.one_of(
    st.builds(TaskDemand, cores=st.integers(1, 12), memory=st.integers(0, 3)),
    st.builds(TaskDemand, cores=st.integers(0, 12), gpus=st.integers(1, 4), share=SHARES, models=MODELS),
)
LISTS = st.lists(TASKS, min_size=1, max_size=12)


@st.composite
def rooms(draw: st.DrawFn) -> HostRoom:
    """A host with up to four GPUs, some of them used."""
    gpus = draw(st.integers(0, 4))
    room = HostRoom(HostCapacity(cores=10, memory=10, gpus=gpus, model=draw(st.sampled_from(["T4", "V100"]))))
    for gpu in range(gpus):
        if share := draw(st.sampled_from([0, 1, 250, 500, 750, 1000])):
            room.take(TaskDemand(gpus=1, share=share), (gpu,))
    if cores := draw(st.integers(0, 10)):
        room.take(TaskDemand(cores=cores), ())
    return room


def fragment(room: HostRoom, cores: int, share: int, gpus: int, models: tuple[str, ...]) -> int:
    """The amount that one kind of tasks cannot use, by the paper's definition."""
    fitting = [left for left in room.gpus if left >= share]
    lacks = cores > room.cores or len(fitting) < gpus or (models and room.capacity.model not in models)
    return sum(room.gpus) if not gpus or lacks else sum(room.gpus) - sum(fitting)


def fragmentation(room: HostRoom, expected: list[TaskDemand]) -> int:
    return sum(weight * fragment(room, *kind) for kind, weight in typical_kinds(expected))


def after(room: HostRoom, demand: TaskDemand, gpus: tuple[int, ...]) -> HostRoom:
    copy = HostRoom(room.capacity)
    copy.cores, copy.memory, copy.gpus, copy.gpu_amount = room.cores, room.memory, room.gpus, room.gpu_amount
    copy.take(demand, gpus)
    return copy


def descent(room: HostRoom, demand: TaskDemand, gpus: tuple[int, ...], expected: list[TaskDemand]) -> int:
    """The rate for a task on these GPUs, by the definition."""
    fall = fragmentation(room, expected) - fragmentation(after(room, demand, gpus), expected)
    return int(100 / (1 + math.exp(-fall / (1000 * sum(weight for _, weight in typical_kinds(expected))))))


@given(rooms(), LISTS)
def test_the_fragmentation_is_that_of_the_definition(room: HostRoom, expected: list[TaskDemand]) -> None:
    """For any room and any expected tasks."""
    assert Fragmentation(expected).weighted(room) == fragmentation(room, expected)


@given(rooms(), LISTS, TASKS)
def test_the_rate_is_the_best_descent_and_the_gpu_is_the_first_with_it(
    room: HostRoom, expected: list[TaskDemand], demand: TaskDemand
) -> None:
    """One GPU is chosen by the rate; of several the tightest are taken."""
    if room.lacking(demand):
        return
    choices: list[tuple[int, ...]]
    if demand.gpus == 1:
        choices = [(gpu,) for gpu, left in enumerate(room.gpus) if left >= demand.share]
    else:
        choices = [room.tightest(demand)]
    rates = [descent(room, demand, gpus, expected) for gpus in choices]
    measure = Fragmentation(expected)
    assert measure.rated(demand)(room) == max(rates)
    assert measure.rated(demand)(room) == max(rates), "kept amounts are the same"
    if demand.gpus == 1 and demand.share == 1000:
        assert measure.gpus(room, demand) == choices[0]
    else:
        assert measure.gpus(room, demand) == choices[rates.index(max(rates))]


def test_a_host_that_every_expected_task_can_use_has_no_fragments() -> None:
    """Half of the tasks need a GPU, the others do not: half of the free GPUs are fragments."""
    room = HostRoom(HostCapacity(cores=10, memory=1, gpus=2, model="T4"))
    assert Fragmentation([TaskDemand(cores=1, gpus=1)]).weighted(room) == 0
    mixed = Fragmentation([TaskDemand(cores=1, gpus=1), TaskDemand(cores=1)])
    assert (mixed.weighted(room), mixed.covered) == (2000, 2)


def test_a_task_that_leaves_too_small_a_share_makes_fragments() -> None:
    """Expected tasks need 0.6 of a GPU: a task of 0.5 spoils an unused GPU, and fills one of which 0.5 is left.

    On the first the usable amount falls from 1.5 by 1, of which 0.5 is used: the fragmentation grows by 0.5. On the
    second nothing usable is lost, and 0.5 less is a fragment.
    """
    measure = Fragmentation([TaskDemand(gpus=1, share=600)] * 3)
    room = HostRoom(HostCapacity(cores=10, memory=1, gpus=2, model="T4"))
    demand = TaskDemand(gpus=1, share=500)
    assert measure.rated(demand)(room) == int(100 / (1 + math.exp(0.5))) == 37
    room.take(demand, (1,))
    assert measure.weighted(room) == 3 * 500
    assert measure.rated(demand)(room) == int(100 / (1 + math.exp(-0.5))) == 62
    assert measure.gpus(room, demand) == (1,)


def test_typical_kinds_are_the_most_frequent_ones_that_cover_95_percent() -> None:
    """The kind that crosses the line counts; of equally frequent ones the larger come first; memory does not differ."""
    frequent = [TaskDemand(cores=1, memory=number) for number in range(93)]
    rare = [TaskDemand(cores=cores, gpus=1, share=share) for cores, share in ((2, 100), (2, 300), (3, 50))]
    twice = [TaskDemand(cores=1, gpus=2)] * 2
    kinds = typical_kinds(frequent[:92] + rare + twice + frequent[92:] + [TaskDemand(cores=5)] * 2)
    assert [(kind.cores, kind.share, kind.gpus, weight) for kind, weight in kinds] == [
        (1, 0, 0, 93),
        (5, 0, 0, 2),
    ]
    assert typical_kinds(rare)[0][0][:3] == (3, 50, 1)
    assert typical_kinds(rare)[1][0][:3] == (2, 300, 1)


def test_without_expected_tasks_all_hosts_are_equal() -> None:
    """No fragmentation changes."""
    room = HostRoom(HostCapacity(cores=10, memory=1, gpus=2, model="T4"))
    assert Fragmentation([]).rated(TaskDemand(gpus=1))(room) == 50


@pytest.mark.parametrize("models", [("T4",), ("V100", "T4")])
def test_models_restrict_who_can_use_a_gpu(models: tuple[str, ...]) -> None:
    """A host with another model is all fragments."""
    expected = [TaskDemand(gpus=1, models=models)]
    for model, free in (("T4", 0), ("P100", 1000)):
        room = HostRoom(HostCapacity(cores=1, memory=1, gpus=1, model=model))
        assert Fragmentation(expected).weighted(room) == free


def test_amounts_that_are_not_kept_are_computed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory is bounded, and the rates are the same."""
    monkeypatch.setattr("batsched_py.planning.policies.fragmentation._MOST_KNOWN", 1)
    expected = [TaskDemand(gpus=1, share=600), TaskDemand(gpus=2)]
    room = HostRoom(HostCapacity(cores=10, memory=1, gpus=3, model="T4"))
    measure = Fragmentation(expected)
    for share in (100, 300, 200, 100):
        demand = TaskDemand(gpus=1, share=share)
        assert measure.rated(demand)(room) == descent(room, demand, (0,), expected)

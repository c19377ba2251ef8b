"""The placer of tasks: what it keeps is what it would compute anew."""

from __future__ import annotations

import random
from typing import Any

import pytest

from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import TaskPlace
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.packed_hosts import PackedHosts
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY, JobCompleted
from batsched_py.scheduling.placed import Placed
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.task_placer import TaskPlacer
from tests.unit.scheduling.packed_states import packed_state, wanting

TASKS: list[dict[str, Any]] = [
    {"cores": 500},
    {"cores": 3000, "memory": 100},
    {"gpus": 1, "share": 300},
    {"gpus": 1, "share": 700, "cores": 100},
    {"gpus": 2},
]
CAPACITY = HostCapacity(cores=8000, memory=1000, gpus=2, model="T4")


@pytest.mark.parametrize("packing", sorted(set(PACKED_SELECTIONS) - {"fgd"}))
def test_places_are_those_of_packed_hosts(packing: str) -> None:
    """For single tasks that come and go; `fgd` alone depends on the tasks so far."""
    draw = random.Random(packing)
    jobs = [wanting(str(number), **draw.choice(TASKS)) for number in range(150)]
    state, oracle = packed_state(*jobs, hosts=6), PackedHosts([CAPACITY] * 6, PACKED_SELECTIONS[packing])
    plan = Plan(state)
    for job in jobs:
        assert job.demand is not None
        while state.running and draw.random() < 0.4:
            run = state.running[draw.choice(list(state.running))]
            assert run.job.demand is not None
            oracle.give(run.job.demand.task, run.places[0])
            state.apply(JobCompleted(0.0, run.job.id, COMPLETED_SUCCESSFULLY, 0, run.hosts))
        expected = oracle.find(job.demand.task)
        placed = plan.place(job, packing)
        assert placed == (None if expected is None else Placed((expected,)))
        if placed is not None and expected is not None:
            plan.start(job, placed)
            oracle.take(job.demand.task, expected)
    state.check()


@pytest.mark.parametrize("packing", sorted(PACKED_SELECTIONS))
def test_what_is_kept_is_what_is_computed_anew(packing: str) -> None:
    """The history does not matter: tasks of several jobs, whole hosts, hosts that fail and return."""
    draw = random.Random(packing)
    jobs = [wanting(str(number), draw.randint(1, 4), **draw.choice(TASKS)) for number in range(80)]
    state = packed_state(*jobs, hosts=5)
    placer, plan = TaskPlacer(state, PACKED_SELECTIONS[packing]), Plan(state)
    for job in jobs:
        assert job.demand is not None
        if state.running and draw.random() < 0.4:
            run = state.running[draw.choice(list(state.running))]
            state.apply(JobCompleted(0.0, run.job.id, COMPLETED_SUCCESSFULLY, 0, run.hosts))
        (state.hosts.fail if draw.random() < 0.5 else state.hosts.recover)(1 << draw.randrange(5))
        places = placer.place(job.demand)
        assert places == TaskPlacer(state, PACKED_SELECTIONS[packing]).place(job.demand)
        if places is not None:
            plan.start(job, Placed(places))
    state.check()


def test_a_forgotten_log_of_changes_makes_all_rates_anew() -> None:
    """The log is bounded: many changes between two questions about one demand are not kept."""
    jobs = [wanting(str(number), cores=1000) for number in range(100)]
    state = packed_state(*jobs, hosts=2)
    plan, rare = Plan(state), JobDemand(tasks=1, task=TaskDemand(cores=8000))
    placer = TaskPlacer(state, PACKED_SELECTIONS["first_fit"])
    assert placer.place(rare) == (TaskPlace(0, ()),)
    for job in jobs[:-1]:
        plan.start(job, Placed((TaskPlace(0, ()),)))
        state.apply(JobCompleted(0.0, job.id, COMPLETED_SUCCESSFULLY, 0, state.running[job.id].hosts))
    plan.start(jobs[-1], Placed((TaskPlace(0, ()),)))
    assert placer.place(rare) == (TaskPlace(1, ()),)

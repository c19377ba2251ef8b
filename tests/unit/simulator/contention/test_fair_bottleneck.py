"""The rates of tasks that share resources: by hand, by properties, and against a naive solver."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.thoroughness import thorough
from tests.unit.simulator.contention.systems import System, TaskNeeds, draw, fair, naive

#: Random systems that each property is tried on.
MANY = thorough(500)


def solve(system: System, *, folded: bool = False) -> dict[str, float]:
    """TaskNeeds -> rate; `folded` makes a ceiling of resources that have one use.

    Where SimGrid would go on for very long no FATPIPE is exceeded.
    """
    names = list(system.capacities)
    users = Counter(name for uses in system.uses.values() for name, _ in uses)
    loads = []
    for task, uses in system.uses.items():
        own = [(name, amount) for name, amount in uses if folded and users[name] == 1]
        common = [(names.index(name), amount) for name, amount in uses if (name, amount) not in own]
        ceiling, amount = min(((system.capacities[name] / amount, amount) for name, amount in own), default=(None, 1.0))
        bounds = {"bound": system.bounds[task]} if task in system.bounds else {}
        ceilings = {} if ceiling is None else {"ceiling": ceiling, "ceiling_amount": amount}
        loads.append(TaskNeeds(common, **bounds, **ceilings))
    resources = [(system.capacities[name], name not in system.fatpipes) for name in names]
    return dict(zip(system.uses, fair(resources, loads).values, strict=True))


def systems(count: int = MANY, **kinds: bool) -> list[System]:
    """The same in each run."""
    rng = random.Random(20)
    return [draw(rng, **kinds) for _ in range(count)]


def link(*amounts: float, capacity: float = 100.0, shared: bool = True) -> list[float]:
    """Rates of tasks on one link."""
    found = fair([(capacity, shared)], [TaskNeeds([(0, amount)]) for amount in amounts])
    return list(found.values)


def test_a_link_is_shared_by_tasks_not_by_amounts() -> None:
    """Each has half of the bytes per second, so that a task of four times the bytes takes four times as long."""
    assert link(50.0, 200.0) == [1.0, 0.25]


def test_a_fatpipe_is_not_shared() -> None:
    """Each may use all of it."""
    assert link(50.0, 200.0, shared=False) == [2.0, 0.5]


def test_what_a_bounded_task_leaves_goes_to_the_others() -> None:
    """Here 80 of 100."""
    found = fair([(100.0, True)], [TaskNeeds([(0, 1.0)], bound=20.0), TaskNeeds([(0, 1.0)])])
    assert found.values == [20.0, 80.0]


def test_two_executors_count_as_two_users() -> None:
    """A task that uses a processor twice has two thirds of it beside one that uses it once."""
    found = fair([(90.0, True)], [TaskNeeds([(0, 1.0), (0, 1.0)]), TaskNeeds([(0, 1.0)])])
    assert found.values == [30.0, 30.0]


def test_a_task_that_needs_nothing_has_a_rate() -> None:
    """So that nobody divides by 0."""
    assert fair([], [TaskNeeds(())]).values == [1.0]


def test_a_link_stays_partly_idle_beside_tasks_that_are_fixed_early() -> None:
    """As in SimGrid: the 5 of the first task are charged again in the round in which the second one is fixed."""
    found = fair(
        [(100.0, True)], [TaskNeeds([(0, 1.0)], bound=5.0), TaskNeeds([(0, 1.0)], bound=35.0), TaskNeeds([(0, 1.0)])]
    )
    assert found.values == pytest.approx([5.0, 35.0, 55.0])


def test_a_slow_user_of_a_fatpipe_lets_another_exceed_it() -> None:
    """As in SimGrid: what the slow one rises is left over, and given again."""
    narrow, pipe = (50.0, True), (100.0, False)
    found = fair([narrow, pipe], [TaskNeeds([(0, 1.0), (1, 1.0)]), TaskNeeds([(1, 1.0)], bound=150.0)])
    assert found.values == [50.0, 150.0]


def test_where_simgrid_goes_on_for_very_long_no_fatpipe_is_exceeded() -> None:
    """A very slow user leaves nearly all of it to the other, again and again."""
    pipe = (100.0, False)
    found = fair([pipe], [TaskNeeds([(0, 1.0)], bound=1e-4), TaskNeeds([(0, 1.0)])])
    assert not found.settled
    assert found.values == [1e-4, 100.0]


def test_a_naive_solver_agrees() -> None:
    """With the resources that one task alone uses as resources, and as ceilings."""
    compared = 0
    for system in systems(4000):
        expected = naive(system)
        if expected is None:
            continue
        compared += 1
        for folded in (False, True):
            assert solve(system, folded=folded) == pytest.approx(expected, rel=1e-9), system
    assert compared > 3800


def test_no_resource_is_used_beyond_its_capacity() -> None:
    """But for FATPIPE links, which SimGrid lets tasks exceed."""
    for system in systems():
        rates = solve(system)
        for name, capacity in system.capacities.items():
            uses = [(task, amount) for task, uses in system.uses.items() for used, amount in uses if used == name]
            if name not in system.fatpipes:
                assert sum(rates[task] * amount for task, amount in uses) <= capacity * (1 + 1e-9)


def test_no_task_is_faster_than_alone() -> None:
    """This holds if there is no FATPIPE, and no task has two executors on a processor."""
    for system in systems(fatpipes=False, twice=False):
        for task, rate in solve(system).items():
            assert rate <= solve(system.alone(task))[task] * (1 + 1e-9)


def test_another_task_on_one_bottleneck_makes_no_task_faster() -> None:
    """All tasks share one resource, and nothing else."""
    rng = random.Random(7)
    for _ in range(MANY):
        uses = {f"t{number}": [("r", rng.uniform(1.0, 1e9))] for number in range(rng.randint(2, 8))}
        system = System({"r": rng.uniform(1e3, 1e12)}, frozenset(), uses)
        before, after = solve(system.without("t0")), solve(system)
        assert all(after[task] <= before[task] * (1 + 1e-9) for task in before)


def test_every_task_advances_and_tasks_alike_advance_alike() -> None:
    """The order in which they stand does not count."""
    for system in systems():
        rates = solve(system)
        assert min(rates.values()) > 0
        reverse = System(system.capacities, system.fatpipes, dict(reversed(system.uses.items())), system.bounds)
        assert solve(reverse) == pytest.approx(rates, rel=1e-9)
        for task, uses in system.uses.items():
            for other, others in system.uses.items():
                if uses == others and system.bounds.get(task) == system.bounds.get(other):
                    assert rates[task] == rates[other]


def test_a_task_without_a_bound_is_stopped_by_a_resource_that_is_used_up() -> None:
    """A resource that no other task can use any more stops it, too."""
    for system in systems(fatpipes=False):
        if system.bounds:
            continue
        rates = solve(system)
        used = dict.fromkeys(system.capacities, 0.0)
        for task, uses in system.uses.items():
            for name, amount in uses:
                used[name] += rates[task] * amount
        assert any(used[name] > 0.99 * capacity for name, capacity in system.capacities.items())

"""The resources that limit activities, compared with all that they share."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from batsched_py.model.zone import Link
from batsched_py.simulator.contention.activities import Activity, SharedResource
from batsched_py.simulator.contention.demand import ActivityDemand, Processors
from batsched_py.simulator.contention.fair_bottleneck import Load, Resource, fair_rates
from batsched_py.simulator.contention.resource_table import ResourceTable
from batsched_py.simulator.time.event_queue import RANK_TASK_END

HOSTS = 6


class Scene:
    """Drawn activities on links of two bandwidths, of which some are FATPIPE, that begin and end."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.table = ResourceTable(Processors([5.0] * HOSTS, [1, 2] * (HOSTS // 2)))
        self.links = [
            Link(f"l{number}", self.draw.choice([10.0, 30.0]), 0.0, shared=self.draw.random() < 0.9)
            for number in range(40)
        ]
        self.active: list[Activity] = []
        self.begun = 0

    def step(self) -> None:
        """Let an activity begin or end, or a link have another bandwidth."""
        chance = self.draw.random()
        if len(self.active) < 2 or (chance < 0.5 and len(self.active) < 9):
            self.begin()
        elif chance < 0.9:
            self.table.leave(self.active.pop(self.draw.randrange(len(self.active))))
        else:
            self.change_bandwidth()

    def begin(self) -> None:
        """Begin an activity with equal bytes on most of its links, perhaps with several executors on a host."""
        crossed = self.draw.sample(self.links, self.draw.randint(1, len(self.links)))
        links = tuple((link, self.draw.choice([2.0, 2.0, 2.0, 3.0, 7.0])) for link in crossed)
        computing = [(self.draw.randrange(HOSTS), self.draw.uniform(1, 9)) for _ in range(self.draw.randint(0, 3))]
        demand = ActivityDemand(tuple(computing), links)
        self.begun += 1
        activity = Activity(self.begun, demand, demand, 0.0, RANK_TASK_END, lambda: None)
        activity.bound = self.draw.choice([0.5, 5.0])
        crowded = self.table.enter(activity)
        assert crowded == [resource for resource in activity.resources if len(resource.users) > 1]
        self.active.append(activity)

    def change_bandwidth(self) -> None:
        """Change the bandwidth of a link in use, perhaps to none, and let its users see it."""
        resource = self.table.get(self.draw.choice(self.links).name)
        if resource is not None:
            self.table.change_capacity(resource, self.draw.choice([0.0, 10.0, 30.0]))
            for user in resource.users:
                user.forget_ceiling()

    def rates(self, seen: Sequence[Sequence[SharedResource]]) -> Sequence[float]:
        """Return the rates by the solver that sees these resources of each activity."""
        everything = list(dict.fromkeys(resource for resources in seen for resource in resources))
        loads = [
            Load(
                [(everything.index(each), amount) for each in resources for amount in amounts(each, activity)],
                activity.bound,
                *private_limit(activity),
            )
            for activity, resources in zip(self.active, seen, strict=True)
        ]
        return fair_rates([Resource(each.capacity, each.shared) for each in everything], loads).values


def private_limit(activity: Activity) -> tuple[float, float]:
    """The least of the resources that the activity uses alone, by one executor."""
    alone = [each for each in activity.resources if not is_crowded(each)]
    limits = [(each.capacity / each.users[activity], each.users[activity]) for each in alone]
    return min(limits, default=(float("inf"), 1.0), key=lambda limit: limit[0])


def is_crowded(resource: SharedResource) -> bool:
    """True if several executors use it."""
    return sum(len(amounts(resource, user)) for user in resource.users) > 1


def amounts(resource: SharedResource, user: Activity) -> list[float]:
    """The needs of the executors of an activity."""
    return [resource.users[user], *user.further.get(resource, ())]


@pytest.mark.parametrize("seed", range(60))
def test_rates_by_limits_are_those_by_all_resources(seed: int) -> None:
    """To the last bit, after each begin, end and change of a bandwidth."""
    scene = Scene(seed)
    for _ in range(60):
        scene.step()
        limits = [list(activity.limits) for activity in scene.active]
        crowded = [list(filter(is_crowded, activity.resources)) for activity in scene.active]
        assert scene.rates(limits) == scene.rates(crowded)
        assert [activity.private_limit()[0] for activity in scene.active] == [
            private_limit(each)[0] for each in scene.active
        ]
        for activity, resources in zip(scene.active, crowded, strict=True):
            for resource in resources:
                assert (resource in activity.limits) == (resource.stricter is None)


@pytest.mark.parametrize("seed", range(20))
def test_a_limit_has_all_users_of_what_it_is_stricter_than(seed: int) -> None:
    """Through others, too; thus limits connect the activities that affect each other."""
    scene = Scene(seed)
    compared = 0
    for _ in range(60):
        scene.step()
        for resource in dict.fromkeys(each for activity in scene.active for each in activity.resources):
            last = resource
            while last.stricter is not None:
                last = last.stricter
                compared += 1
            assert resource.users.keys() <= last.users.keys()
    assert compared > 300


def test_one_of_equal_links_limits() -> None:
    """Whatever their number, and until one of them is slower."""
    links = [Link(f"l{number}", 10.0, 0.0) for number in range(50)]
    demand = ActivityDemand(links=tuple((link, 4.0) for link in links))
    table = ResourceTable(Processors([], []))
    activities = [Activity(number, demand, demand, 0.0, RANK_TASK_END, lambda: None) for number in range(3)]
    for activity in activities:
        table.enter(activity)
    assert [[resource.key for resource in each.limits] for each in activities] == [["l0"]] * 3
    slower = table.get("l7")
    assert slower is not None
    table.change_capacity(slower, 5.0)
    assert all(slower in each.limits for each in activities)
    table.leave(activities[0])
    assert [[resource.key for resource in each.limits] for each in activities[1:]] == [["l7"]] * 2
    table.leave(activities[1])
    assert not activities[2].limits
    assert activities[2].private_limit() == (1.25, 4.0)

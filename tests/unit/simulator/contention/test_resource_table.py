"""The resources that limit activities, compared with all that they share."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from batsched_py.model.zone import Link
from batsched_py.simulator.contention.activities import Activity, SharedResource
from batsched_py.simulator.contention.demand import ActivityDemand, Processors
from batsched_py.simulator.contention.fair_bottleneck import Rates
from batsched_py.simulator.contention.resource_table import EXPECTED_ROUNDS, ResourceTable
from batsched_py.simulator.time.event_queue import RANK_TASK_END
from tests.thoroughness import thorough
from tests.unit.simulator.contention.systems import TaskNeeds, fair

HOSTS = 6
PROCESSORS = Processors([5.0] * HOSTS, [1, 2] * (HOSTS // 2))


class Scene:
    """Drawn activities on links of two bandwidths, of which some may be FATPIPE, that begin and end."""

    def __init__(self, seed: int, bounds: Sequence[float] = (0.05, 0.1, 0.5, 5.0)) -> None:
        self.draw, self.bounds = random.Random(seed), bounds
        self.table = ResourceTable(PROCESSORS)
        self.links = [
            Link(f"l{number}", self.draw.choice([10.0, 30.0]), 0.0, shared=seed % 2 == 0 or self.draw.random() < 0.9)
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
        self.begun += 1
        activity = activity_of(self.begun, ActivityDemand(tuple(computing), links))
        measure(activity, self.draw.choice(self.bounds))
        crowded = self.table.enter(activity)
        assert crowded == [each for each in in_order(activity) if len(each.users) > 1]
        self.active.append(activity)

    def change_bandwidth(self) -> None:
        """Change the bandwidth of a link in use, perhaps to none, and let its users see it."""
        position = self.draw.randrange(len(self.links))
        link = self.links[position] = replace(self.links[position], bandwidth=self.draw.choice([0.0, 10.0, 30.0]))
        for user in self.table.users(link.name):
            give(user, link)
            self.table.follow_rate(user)
        self.table.change_capacity(link.name, link.bandwidth)

    def rates(self, seen: Sequence[Sequence[SharedResource]]) -> Rates:
        """Return the rates by the solver that sees these resources of each activity."""
        everything = list(dict.fromkeys(resource for resources in seen for resource in resources))
        tasks = [
            TaskNeeds(
                [(everything.index(each), amount) for each in resources for amount in amounts(each, activity)],
                activity.bound,
                *private_limit(activity),
            )
            for activity, resources in zip(self.active, seen, strict=True)
        ]
        return fair([(each.capacity, each.shared) for each in everything], tasks)

    def rates_by_limits(self) -> Rates:
        """Return them by the limits, which may be more if the solver takes more rounds than ever."""
        while True:
            found = self.rates([list(activity.limits) for activity in self.active])
            if self.table.expect(found.rounds):
                return found


def activity_of(number: int, demand: ActivityDemand) -> Activity:
    """An activity that is not active."""
    return Activity(number, demand, demand, 0.0, RANK_TASK_END, lambda: None)


def measure(activity: Activity, bound: float) -> None:
    """Let it know how fast it can be."""
    demand = activity.demand
    activity.bound = min(bound, demand.bound(PROCESSORS))
    activity.fastest = demand.fastest(demand.seconds_alone(PROCESSORS), activity.bound)


def give(activity: Activity, changed: Link) -> None:
    """Let it have a link as it is now."""
    links = tuple((changed if link.name == changed.name else link, amount) for link, amount in activity.demand.links)
    activity.demand = replace(activity.demand, links=links)
    measure(activity, activity.bound)
    activity.forget_ceiling()


def in_order(activity: Activity) -> list[SharedResource]:
    """Its resources that others use, or several of its executors: hosts, then links."""
    return [activity.shared[key] for key in activity.needs if key in activity.shared]


def private_limit(activity: Activity) -> tuple[float, float]:
    """The least of the resources that the activity uses alone, by one executor."""
    cores, speeds = PROCESSORS.cores, PROCESSORS.speeds
    needed = [
        *((host, cores[host] * speeds[host], amount) for host, amount in activity.demand.flops),
        *((link.name, link.bandwidth, amount) for link, amount in activity.demand.links),
    ]
    limits = [(capacity / amount, amount) for key, capacity, amount in needed if key not in activity.shared]
    return min(limits, default=(float("inf"), 1.0), key=lambda limit: limit[0])


def amounts(resource: SharedResource, user: Activity) -> list[float]:
    """The needs of the executors of an activity."""
    return [resource.users[user], *user.further.get(resource, ())]


@pytest.mark.parametrize("seed", range(thorough(30)))
def test_rates_by_limits_are_those_by_all_resources(seed: int) -> None:
    """To the last bit, after each begin, end and change of a bandwidth."""
    scene, slack = Scene(seed), 0
    for _ in range(60):
        scene.step()
        shared = [in_order(activity) for activity in scene.active]
        assert scene.rates_by_limits().values == scene.rates(shared).values
        assert [scene.table.private_limit(activity)[0] for activity in scene.active] == [
            private_limit(each)[0] for each in scene.active
        ]
        for activity, resources in zip(scene.active, shared, strict=True):
            for resource in resources:
                assert (resource in activity.limits) == resource.limiting
                assert resource.stricter is None or not resource.limiting
                slack += resource.stricter is None and not resource.limiting
    assert slack > 30


@pytest.mark.parametrize("seed", range(20))
def test_a_limit_has_all_users_of_what_it_is_stricter_than(seed: int) -> None:
    """Through others, too; thus limits connect the activities that affect each other."""
    scene = Scene(seed, bounds=(0.5, 5.0))
    compared = 0
    for _ in range(60):
        scene.step()
        for resource in dict.fromkeys(each for activity in scene.active for each in activity.shared.values()):
            last = resource
            while last.stricter is not None:
                last = last.stricter
                compared += 1
            assert resource.users.keys() <= last.users.keys()
    assert compared > 50


def test_one_of_equal_links_limits() -> None:
    """For any number of them, until one of them is slower."""
    demand = ActivityDemand(links=tuple((Link(f"l{number}", 10.0, 0.0), 4.0) for number in range(50)))
    table = ResourceTable(PROCESSORS)
    activities = [activity_of(number, demand) for number in range(3)]
    for activity in activities:
        table.enter(activity)
    assert [[resource.key for resource in each.limits] for each in activities] == [["l0"]] * 3
    for activity in activities:
        give(activity, Link("l7", 5.0, 0.0))
    table.change_capacity("l7", 5.0)
    assert all("l7" in {resource.key for resource in each.limits} for each in activities)
    assert table.leave(activities[0]) == activities[1:]
    assert [[resource.key for resource in each.limits] for each in activities[1:]] == [["l7"]] * 2
    assert table.leave(activities[1]) == activities[2:]
    assert not activities[2].limits
    assert not activities[2].shared
    assert table.private_limit(activities[2]) == (1.25, 4.0)
    assert table.users("l7") == activities[2:]
    assert table.leave(activities[2]) == table.users("l7") == []


def test_a_link_with_enough_for_all_does_not_limit() -> None:
    """It does as soon as the solver takes more rounds, a user is faster, or there is one more."""
    table, link = ResourceTable(PROCESSORS), Link("l", 100.0, 0.0)
    activities = [activity_of(number, ActivityDemand(links=((link, 10.0),))) for number in range(4)]
    for activity in activities[:3]:
        measure(activity, 1.0)
        table.enter(activity)
    assert not any(activity.limits for activity in activities)  # 2 times 30, and 3 times 10
    assert table.expect(EXPECTED_ROUNDS)
    assert not table.expect(EXPECTED_ROUNDS + 1)
    assert [len(activity.limits) for activity in activities] == [1, 1, 1, 0]
    assert table.leave(activities[2]) == activities[:2]
    assert not any(activity.limits for activity in activities)  # 3 times 20, and 2 times 10
    measure(activities[0], 3.0)
    assert table.follow_rate(activities[0]) == []
    assert [len(activity.limits) for activity in activities] == [1, 1, 0, 0]
    measure(activities[0], 1.0)
    assert table.follow_rate(activities[0]) == activities[:2]
    measure(activities[3], 2.0)
    table.enter(activities[3])
    assert [len(activity.limits) for activity in activities] == [1, 1, 0, 1]

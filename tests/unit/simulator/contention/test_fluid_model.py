"""Activities that begin, slow each other down and end: by hand, by properties, and against small steps of time."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Sequence
from functools import partial
from math import inf

import pytest

from batsched_py.model.zone import Link
from batsched_py.simulator.contention.activities import Activity
from batsched_py.simulator.contention.demand import ActivityDemand, Processors
from batsched_py.simulator.contention.fluid_model import UNSETTLED, FluidModel
from batsched_py.simulator.time.event_queue import RANK_SUBMISSION, EventQueue
from tests.unit.simulator.contention.systems import TaskNeeds, fair

LINK = Link("link", 100.0, 0.0)
PIPE = Link("pipe", 100.0, 0.0, shared=False)


def sends(amount: float, *links: Link, latency: float = 0.0) -> ActivityDemand:
    """A transfer over these links."""
    return ActivityDemand(links=tuple((link, amount) for link in links or (LINK,)), latency=latency)


class Scene:
    """A fluid model with four hosts of 10 flop/s, the first of which has two cores; and when what ended."""

    def __init__(self) -> None:
        self.queue = EventQueue()
        self.processors = Processors([10.0] * 4, [2, 1, 1, 1])
        self.approximations: set[str] = set()
        self.fluid = FluidModel(self.queue, self.processors, self.approximations)
        #: name -> time of its end; name -> the activity.
        self.ends: dict[str, float] = {}
        self.running: dict[str, Activity] = {}

    def begin(self, time: float, name: str, demand: ActivityDemand, deadline: float = 1e9) -> None:
        """Begin an activity at a time."""
        self.at(time, partial(self._begin, name, demand, deadline))

    def at(self, time: float, action: Callable[[], object]) -> None:
        """Do something at a time."""
        self.queue.at(time, RANK_SUBMISSION, lambda _: _do(action), None)

    def run(self) -> dict[str, float]:
        """Return when what ended."""
        while self.queue.run_next():
            pass
        return self.ends

    def stop(self, name: str) -> float:
        """Stop an activity; return its progress."""
        progress = self.fluid.progress(self.running[name])
        self.fluid.stop(self.running[name])
        return progress

    def _begin(self, name: str, demand: ActivityDemand, deadline: float) -> None:
        self.running[name] = self.fluid.begin(demand, partial(self._end, name), deadline=deadline)

    def _end(self, name: str) -> None:
        self.ends[name] = self.queue.now


def _do(action: Callable[[], object]) -> None:
    action()


def play(*activities: tuple[float, ActivityDemand]) -> list[float]:
    """Ends of activities, each given by its begin and its demand."""
    scene = Scene()
    for number, (time, demand) in enumerate(activities):
        scene.begin(time, str(number), demand)
    ends = scene.run()
    return [ends[str(number)] for number in range(len(activities))]


def test_alone_an_activity_takes_its_bottleneck_and_its_latency() -> None:
    """To the last bit: what computes a job's end beforehand says the same."""
    latency, start = 0.1, 1 / 3
    demand = ActivityDemand(((1, 7.0), (2, 3.0)), ((LINK, 10.0),), latency)
    assert play((start, demand)) == [start + (7.0 / 10.0 + latency)]


def test_two_transfers_share_a_link() -> None:
    """From the begin of the second to the end of the first."""
    assert play((0.0, sends(1000.0)), (3.0, sends(600.0))) == pytest.approx([16.0, 15.0])


def test_during_its_latency_an_activity_uses_nothing() -> None:
    """The other advances as if it were alone."""
    assert play((0.0, sends(200.0)), (0.0, sends(100.0, latency=1.5))) == pytest.approx([2.5, 3.0])


def test_what_shares_nothing_is_not_slowed_down() -> None:
    """Nor what uses a FATPIPE."""
    other = Link("other", 100.0, 0.0)
    assert play((0.0, sends(100.0)), (0.0, sends(100.0, other))) == [1.0, 1.0]
    assert play((0.0, sends(100.0, PIPE)), (0.0, sends(100.0, PIPE))) == [1.0, 1.0]


def test_each_computation_has_at_most_one_core() -> None:
    """Two on two cores are not slowed down, three share them."""
    task = ActivityDemand(((0, 10.0),))
    assert play((0.0, task), (0.0, task)) == [1.0, 1.0]
    assert play((0.0, task), (0.0, task), (0.0, task)) == pytest.approx([1.5] * 3)


def test_several_executors_on_a_host_share_it() -> None:
    """One core between two, two cores between three, whose amounts differ: they advance together."""
    twice, thrice = ActivityDemand(((1, 5.0), (1, 10.0))), ActivityDemand(((0, 10.0), (0, 10.0), (0, 10.0)))
    assert play((0.0, twice)) == pytest.approx([1.5])
    assert play((0.0, thrice)) == pytest.approx([1.5])


def test_an_activity_without_work_is_over_at_once() -> None:
    """With a latency it is over after that."""
    assert play((2.0, ActivityDemand()), (2.0, ActivityDemand(latency=0.5))) == [2.0, 2.5]


@pytest.mark.parametrize("amount", [1e308, inf])
def test_what_would_never_end_ends_very_late(amount: float) -> None:
    """So that no rate is 0: sums of amounts, and the seconds that they take, may be more than a number can be."""
    slow = Link("slow", 1e-300, 0.0)
    demand = ActivityDemand(((1, amount), (1, amount), (2, amount)), ((LINK, amount), (slow, amount)), window=amount)
    assert all(1e100 <= end < inf for end in play((0.0, demand), (0.0, demand), (5.0, sends(amount, slow))))


def test_a_change_goes_as_far_as_resources_are_shared() -> None:
    """The third is connected with the first through the second: it has what the second leaves."""
    left, right = Link("left", 100.0, 0.0), Link("right", 300.0, 0.0)
    ends = play((0.0, sends(100.0, left)), (0.0, sends(100.0, left, right)), (0.0, sends(500.0, right)))
    assert ends == pytest.approx([2.0, 2.0, 2.0])


def test_what_is_stopped_frees_its_share_and_tells_its_progress() -> None:
    """In its latency it has none."""
    scene = Scene()
    scene.begin(0.0, "a", sends(400.0))
    scene.begin(0.0, "b", sends(400.0))
    scene.begin(0.0, "c", sends(400.0, latency=3.0))
    progress: dict[str, float] = {}
    scene.at(2.0, lambda: progress.update(a=scene.stop("a"), c=scene.stop("c")))
    assert scene.run() == pytest.approx({"b": 5.0})
    assert progress == {"a": 0.25, "c": 0.0}
    scene.fluid.stop(scene.running["b"])  # which is over


def test_stopping_all_leaves_nothing_due() -> None:
    """Else the clock would go on to an end that never comes."""
    scene = Scene()
    for name in "ab":
        scene.begin(0.0, name, sends(400.0))
    scene.at(2.0, lambda: (scene.stop("a"), scene.stop("b")))
    assert (scene.run(), scene.queue.now) == ({}, 2.0)


def test_a_change_of_speed_is_followed() -> None:
    """Half of the work at one speed, the other at half of it; what has not begun to compute begins at the new one."""
    scene = Scene()
    scene.begin(0.0, "a", ActivityDemand(((1, 20.0),)))
    scene.begin(0.0, "late", ActivityDemand(((2, 20.0),), latency=2.0))
    scene.at(1.0, lambda: _set_speed(scene, 5.0))
    assert scene.run() == pytest.approx({"a": 3.0, "late": 6.0})


def test_a_host_that_becomes_faster_is_followed_beside_others() -> None:
    """Computing is what limits the first, its link has room enough."""
    scene = Scene()
    scene.begin(0.0, "a", ActivityDemand(((1, 20.0),), ((LINK, 20.0),)))
    scene.begin(0.0, "other", sends(500.0))
    scene.at(1.0, lambda: _set_speed(scene, 20.0))
    assert scene.run() == pytest.approx({"a": 1.5, "other": 5.2})


def _set_speed(scene: Scene, speed: float) -> None:
    scene.processors.speeds[:] = [speed] * 4  # type: ignore[index]
    for activity in scene.running.values():
        scene.fluid.follow_speeds(activity)


def test_an_end_within_a_nanosecond_of_the_deadline_is_at_the_deadline() -> None:
    """So that rounding does not decide between a walltime and the end of the work."""
    scene = Scene()
    scene.begin(0.1, "a", sends(100.0), deadline=1.1 + 5e-10)
    scene.begin(5.0, "b", sends(100.0, PIPE), deadline=6.0 + 5e-9)
    assert scene.run() == {"a": 1.1 + 5e-10, "b": 6.0}


def test_activities_that_are_over_are_freed_at_once() -> None:
    """Not only by the garbage collector, which runs rarely."""
    scene = Scene()
    gc.collect()
    gc.disable()
    try:
        before = _living_activities()
        for amount in (100.0, 200.0, 300.0):
            scene.fluid.begin(sends(amount), lambda: None)
        assert _living_activities() == before + 3
        scene.run()
        assert _living_activities() == before
    finally:
        gc.enable()


def _living_activities() -> int:
    return sum(isinstance(each, Activity) for each in gc.get_objects())


def test_those_who_watch_are_told_the_pace() -> None:
    """Seconds that the whole would take: 1 alone, 2 beside another."""
    scene = Scene()
    paces: list[tuple[float, float]] = []
    scene.fluid.begin(sends(100.0), lambda: None, on_pace=lambda seconds: paces.append((scene.queue.now, seconds)))
    scene.begin(0.5, "other", sends(10.0))
    scene.run()
    assert paces == [(0.0, 1.0), (0.5, 2.0), (pytest.approx(0.7), 1.0)]


def test_rates_that_are_not_settled_are_told() -> None:
    """A very slow user of a FATPIPE."""
    scene = Scene()
    scene.begin(0.0, "slow", ActivityDemand(links=((PIPE, 1.0),), window=1e4))
    scene.begin(0.0, "fast", ActivityDemand(links=((PIPE, 100.0),)))
    assert scene.run() == pytest.approx({"slow": 1e4, "fast": 1.0})
    assert scene.approximations == {UNSETTLED}


def draw(rng: random.Random) -> list[tuple[float, ActivityDemand]]:
    """Up to eight activities on four links and four hosts; some alike, some that begin together."""
    links = [Link(f"l{number}", rng.choice([50.0, 100.0, 200.0]), 0.0) for number in range(4)]
    drawn: list[tuple[float, ActivityDemand]] = []
    for _ in range(rng.randint(1, 8)):
        begin = rng.choice([0.0, 1.0, rng.uniform(0.0, 5.0)])
        used = rng.sample(links, rng.randint(0, 3))
        hosts = rng.sample(range(4), rng.randint(0 if used else 1, 2))
        drawn.append(
            (
                begin,
                ActivityDemand(
                    tuple((host, rng.choice([10.0, rng.uniform(1.0, 50.0)])) for host in hosts),
                    tuple((link, rng.choice([100.0, rng.uniform(10.0, 500.0)])) for link in used),
                    rng.choice([0.0, 0.0, 0.5, rng.random()]),
                    rng.choice([0.0, 0.0, rng.uniform(0.0, 5.0)]) if used else 0.0,
                ),
            )
        )
    return drawn


def step_by_step(activities: Sequence[tuple[float, ActivityDemand]]) -> list[float]:
    """The ends, by a model that computes all rates anew at each event, and knows no components."""
    processors = Scene().processors
    left = [1.0] * len(activities)
    ends = [0.0] * len(activities)
    begins = [begin + demand.latency for begin, demand in activities]
    now = 0.0
    while any(left):
        active = [number for number, begin in enumerate(begins) if begin <= now and left[number]]
        rates = dict(zip(active, _rates([activities[number][1] for number in active], processors), strict=True))
        ahead = [begin for begin in begins if begin > now]
        step = min([*(begin - now for begin in ahead), *(left[number] / rates[number] for number in active)])
        later = min([*ahead, now + step]) if ahead and min(ahead) - now == step else now + step
        for number in active:
            left[number] -= rates[number] * step
            if left[number] < 1e-12:
                left[number], ends[number] = 0.0, later
        now = later
    return ends


def _rates(demands: Sequence[ActivityDemand], processors: Processors) -> Sequence[float]:
    names: dict[object, int] = {}
    resources, tasks = [], []
    for demand in demands:
        uses = []
        for key, capacity, amount in [
            *((host, processors.cores[host] * processors.speeds[host], amount) for host, amount in demand.flops),
            *((link.name, link.bandwidth, amount) for link, amount in demand.links),
        ]:
            if key not in names:
                names[key] = len(names)
                resources.append((capacity, True))
            uses.append((names[key], amount))
        tasks.append(TaskNeeds(uses, demand.bound(processors)))
    return fair(resources, tasks).values


def test_small_steps_give_the_same_ends() -> None:
    """Many random scenes, each computed with and without knowledge of who shares with whom."""
    rng = random.Random(3)
    for _ in range(1000):
        activities = draw(rng)
        assert play(*activities) == pytest.approx(step_by_step(activities), rel=1e-9), activities


def test_no_activity_ends_earlier_than_alone() -> None:
    """This holds beside any others."""
    rng = random.Random(4)
    for _ in range(300):
        activities = draw(rng)
        for end, activity in zip(play(*activities), activities, strict=True):
            assert end >= play(activity)[0] * (1 - 1e-9)


def test_activities_alike_that_begin_together_end_together() -> None:
    """At the very same instant, to the last bit."""
    rng = random.Random(5)
    for _ in range(300):
        activities = draw(rng)
        twin = rng.choice(activities)
        ends = play(*activities, twin, twin)
        assert ends[-1] == ends[-2]


def test_work_is_neither_lost_nor_invented() -> None:
    """A link that is always full is done with all bytes when it could have carried them."""
    rng = random.Random(6)
    for _ in range(300):
        amounts = [rng.uniform(1.0, 1000.0) for _ in range(rng.randint(1, 9))]
        ends = play(*((0.0, sends(amount)) for amount in amounts))
        assert max(ends) == pytest.approx(sum(amounts) / 100.0)
        assert sorted(range(len(ends)), key=ends.__getitem__) == sorted(range(len(ends)), key=amounts.__getitem__)

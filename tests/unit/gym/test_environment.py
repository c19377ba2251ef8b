"""The environment as Gymnasium wants it, and its schedules as `simulate` gives them."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from batsched_py.campaigns import Drawn, simulate
from batsched_py.errors import DeadlockError, ExtraError, OptionError, WorkloadError
from batsched_py.gym import (
    FreeHosts,
    LogWindows,
    Makespan,
    Model,
    PickJob,
    PickJobAndHosts,
    PickOrder,
    ScheduleEnv,
    Wait,
)
from batsched_py.model.settings import Settings
from batsched_py.testing import Case
from tests.drawing import given_once
from tests.integration.variants import PLATFORM, SPECS, workload
from tests.unit.gym.runs import play
from tests.unit.simulator.scenario import workload as jobs

MACHINE, LUBLIN = "platforms/cluster32.xml", "workloads/lublin200.json"


def test_the_checker_of_gymnasium_passes() -> None:
    """With a workload, and with what Gymnasium makes by the environment's name."""
    env = gymnasium.make("batsched/Schedule-v0", platform=MACHINE, workload=LUBLIN)
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize(
    ("source", "seed"),
    [(LUBLIN, None), (Drawn(150, 32, seed=4, load=1.3), None), (LogWindows(LUBLIN, 90), 3), (Model(Drawn(80, 32)), 5)],
)
@pytest.mark.parametrize(("algorithm", "backfilling"), [("fcfs", "none"), ("easy", "easy")])
def test_who_always_picks_the_first_job_has_the_schedule_of_the_algorithm(
    source: Any, seed: int | None, algorithm: str, backfilling: Any
) -> None:
    """To the last record and message, whatever the episode."""
    env = ScheduleEnv(MACHINE, source, actions=PickJob(backfilling=backfilling))
    play(env, seed=seed)
    episodes = np.random.default_rng(seed)
    played = source.draw(episodes) if isinstance(source, (LogWindows, Model)) else source
    expected = simulate(MACHINE, played, algorithm)
    assert env.run.result.jobs == expected.result.jobs
    assert env.run.result.messages == expected.result.messages
    assert env.run.metrics == expected.metrics


@pytest.mark.parametrize(("algorithm", "backfilling"), [("fcfs", "none"), ("easy", "easy")])
@given_once(SPECS)
def test_picking_the_first_job_is_the_algorithm(
    algorithm: str, backfilling: Any, specs: list[tuple[int, int, int, int]]
) -> None:
    """On any workload."""
    env = ScheduleEnv(PLATFORM, workload(specs), actions=PickJob(backfilling=backfilling), window=2)
    play(env)
    assert env.run.result.jobs == simulate(PLATFORM, workload(specs), algorithm).result.jobs


def test_the_same_seed_and_actions_give_the_same_episodes() -> None:
    """Observations, rewards and masks; another seed gives others."""

    def episodes(seed: int) -> list[tuple[bytes, float, float]]:
        env, random = ScheduleEnv(MACHINE, Model(Drawn(40, 32)), window=8), Random(1)
        steps = [
            *play(env, lambda seen, info: random.randrange(8), seed=seed),
            *play(env, lambda seen, info: random.randrange(8)),
        ]
        return [(seen.tobytes(), reward, info["now"]) for seen, reward, info in steps]

    assert episodes(7) == episodes(7)
    assert episodes(7) != episodes(8)


def test_the_sum_of_rewards_is_the_mean_bounded_slowdown() -> None:
    """With a minus; `info` has the same number at the end."""
    steps = play(ScheduleEnv(MACHINE, LUBLIN))
    total = sum(reward for _, reward, _ in steps)
    assert total == pytest.approx(-steps[-1][2]["metrics"]["mean_bounded_slowdown"])
    assert not any("metrics" in info for _, _, info in steps[:-1])


def test_a_workload_may_be_given_for_one_episode() -> None:
    """For an evaluation; the next episode is drawn again."""
    env = ScheduleEnv(MACHINE, Model(Drawn(30, 32)))
    play(env, options={"workload": LUBLIN})
    assert len(env.run.result.jobs) == 200
    play(env)
    assert len(env.run.result.jobs) == 30


def test_masks_show_the_jobs_that_wait() -> None:
    """In `info`, and as a method for MaskablePPO."""
    env = ScheduleEnv(PLATFORM, workload([(0, 6, 9, 9), (1, 1, 1, 9), (2, 1, 1, 9)]), window=4)
    _, info = env.reset()
    assert info["action_mask"].tolist() == [1, 0, 0, 0]
    assert info["action_mask"].dtype == np.int8
    _, _, _, _, info = env.step(0)
    assert (info["now"], info["waiting"]) == (1.0, 1)
    env.step(0)  # it waits for hosts; at 9 s it starts, and the last job is asked for
    assert env.action_masks().tolist() == [True, False, False, False]


def test_an_episode_that_is_not_being_played_has_no_steps() -> None:
    """Neither before `reset` nor after the end; its run can be had after the end alone."""
    env = ScheduleEnv(PLATFORM, workload([(0, 1, 1, 9)]))
    with pytest.raises(OptionError, match="call reset first"):
        env.step(0)
    env.reset()
    with pytest.raises(OptionError, match="when it is over"):
        _ = env.run
    env.step(0)
    with pytest.raises(OptionError, match="call reset first"):
        env.step(0)


def test_an_episode_that_cannot_go_on_is_told_once() -> None:
    """Here hosts fail for good; then `reset` is needed."""
    case = Case(hosts=2, jobs=((0, 1, 5, 9), (2, 2, 5, 9)), outages=((1, "1", None),))
    env = ScheduleEnv(case.platform(), case.workload(), settings=case.settings())
    env.reset()
    env.step(0)
    with pytest.raises(DeadlockError, match="w0!001"):
        env.step(0)
    with pytest.raises(OptionError, match="call reset first"):
        env.step(0)
    env.reset()


def test_a_workload_without_a_decision_is_an_error() -> None:
    """Here it has no job at all."""
    with pytest.raises(WorkloadError, match=r"^test workload: has no job to decide about$"):
        ScheduleEnv(PLATFORM, jobs()).reset()


def test_wrong_sizes_are_errors() -> None:
    """A window without jobs, one longer than the log, and messages that take time."""
    with pytest.raises(OptionError, match=r"^window: must be at least 1, not 0$"):
        ScheduleEnv(MACHINE, LUBLIN, window=0)
    with pytest.raises(WorkloadError, match="has 200 jobs: windows must have from 1 to as many, not 201"):
        LogWindows(LUBLIN, 201)
    with pytest.raises(OptionError, match="turn by turn"):
        ScheduleEnv(MACHINE, LUBLIN, settings=Settings(message_latency=True)).reset()


def test_a_missing_extra_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    for name in [name for name in sys.modules if name.startswith("batsched_py.gym")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ExtraError, match=r'^batsched_py.gym: needs gymnasium: pip install "\.\[gym\]" in a clone$'):
        import_module("batsched_py.gym")


def pickled(env: ScheduleEnv) -> ScheduleEnv:
    """The environment as another process would have it."""
    found = pickle.loads(pickle.dumps(env))
    assert isinstance(found, ScheduleEnv)
    return found


#: Environments of all kinds of actions, with episodes that are drawn.
KINDS: dict[str, Callable[[], ScheduleEnv]] = {
    "job": lambda: ScheduleEnv(MACHINE, LogWindows(LUBLIN, 30), actions=PickJob(backfilling="easy")),
    "hosts": lambda: ScheduleEnv(MACHINE, LogWindows(LUBLIN, 30), actions=PickJobAndHosts(), observation=FreeHosts()),
    "order": lambda: ScheduleEnv(MACHINE, LogWindows(LUBLIN, 30), actions=PickOrder(), reward=Wait()),
    "end": lambda: ScheduleEnv(MACHINE, Model(Drawn(30, 32)), reward=Makespan(paid="end")),
}


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickled])
@pytest.mark.parametrize("steps", [None, 0, 7], ids=["not reset", "reset", "in the middle"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_goes_on_like_the_original(
    kind: str, steps: int | None, duplicate: Callable[[ScheduleEnv], ScheduleEnv]
) -> None:
    """With the same random numbers, wherever in an episode; what is done with it does not change the original."""
    env = KINDS[kind]()
    env.action_space.seed(3)
    if steps is not None:
        env.reset(seed=5)
        for _ in range(steps):
            env.step(env.action_space.sample())
    twin = duplicate(env)
    told = []
    for one in (twin, env):
        if steps is None:
            one.reset(seed=5)
        one.action_space.seed(4)
        rewards, over = [], False
        while not over:
            _, reward, over, _, _ = one.step(one.action_space.sample())
            rewards.append(reward)
        told.append((rewards, one.run.result.jobs))
    assert told[0] == told[1]


def test_a_made_environment_can_be_copied() -> None:
    """With the wrappers of Gymnasium."""
    env = gymnasium.make("batsched/Schedule-v0", platform=MACHINE, workload=LUBLIN)
    copy.deepcopy(env).reset()


def test_unknown_options_of_reset_are_refused() -> None:
    """A misspelt one would play another workload than the one that is meant."""
    env = ScheduleEnv(MACHINE, LUBLIN)
    with pytest.raises(OptionError, match=r"^options of reset: unknown; did you mean workload\? There are: workload$"):
        env.reset(options={"workloads": LUBLIN})
    with pytest.raises(OptionError, match=r"^options of reset: must be a dict or None, not 3$"):
        env.reset(options=3)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:.*render_mode")  # what Gymnasium itself has to say
@pytest.mark.parametrize("made", [ScheduleEnv, partial(gymnasium.make, "batsched/Schedule-v0")])
def test_the_only_render_mode_is_none(made: Callable[..., Any]) -> None:
    """As Gymnasium's wrappers give it; others are refused in words."""
    assert made(platform=MACHINE, workload=LUBLIN, render_mode=None).render_mode is None
    with pytest.raises(OptionError, match=r"^render_mode: must be None, not 'ansi': .*gantt\(\) draws"):
        made(platform=MACHINE, workload=LUBLIN, render_mode="ansi")

"""Observations: what an agent sees at a moment that is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from batsched_py.errors import OptionError
from batsched_py.gym import (
    FREE_HOSTS,
    SHOWN,
    WAIT,
    Feature,
    FreeHosts,
    HostReleases,
    Observation,
    QueueWindow,
    ScheduleEnv,
    Together,
)
from batsched_py.gym.features import LONG
from batsched_py.testing import Case

#: On 4 hosts: one job that runs on hosts 0 to 2 until 7200 s at the latest, and two that come while it does.
CASE = Case(hosts=4, jobs=((0, 3, 3600, 7200), (1200, 4, 60, 21600), (2400, 1, 60, None)))


def seen_at(time: float, observation: Observation) -> Any:
    """Return the observation at this time: the agent picks the first jobs, and no job overtakes."""
    env = ScheduleEnv(CASE.platform(), CASE.workload(), observation=observation, window=3)
    seen, info = env.reset()
    while info["now"] < time:
        seen, _, _, _, info = env.step(0)
    assert info["now"] == time
    assert env.observation_space.contains(seen)
    return seen


def test_the_queue_has_the_features_of_rlscheduler() -> None:
    """Wait, walltime, size and whether it fits, as shares; other rows are 0."""
    row = [0.0, 21600 / LONG, 1.0, 0.0]
    np.testing.assert_allclose(seen_at(1200, QueueWindow()), [row, [0.0] * 4, [0.0] * 4])


def test_waits_are_those_of_the_instant_and_a_missing_walltime_is_long() -> None:
    """The second job waits from 1200 s on and starts at 3600 s; then the third is asked for."""
    np.testing.assert_allclose(seen_at(3600, QueueWindow())[0], [1200 / LONG, 1, 0.25, 0])


def test_features_can_be_chosen() -> None:
    """In the order in which they are given; what is above 1 is 1."""
    tall = Feature("tall", lambda question: [job.size / 2 for job in question.jobs])
    np.testing.assert_allclose(seen_at(1200, QueueWindow((tall, FREE_HOSTS, SHOWN, WAIT)))[0], [1, 0.25, 1, 0])


def test_hosts_are_bits_and_times() -> None:
    """Hosts 0 to 2 are busy until 7200 s, by the walltime."""
    assert seen_at(1200, FreeHosts()).tolist() == [0, 0, 0, 1]
    np.testing.assert_allclose(seen_at(1200, HostReleases(12_000)), [0.5, 0.5, 0.5, 0])


def test_several_observations_have_names() -> None:
    """The checker of Gymnasium takes them, too."""
    env = ScheduleEnv(
        CASE.platform(), CASE.workload(), observation=Together({"queue": QueueWindow(), "hosts": FreeHosts()})
    )
    assert isinstance(env.observation_space, spaces.Dict)
    check_env(env, skip_render_check=True)
    assert set(seen_at(1200, Together())) == {"queue", "hosts"}


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (lambda question: [1.0, 2.0], r"must give a number for each of the 1 jobs that are shown"),
        (lambda question: ["much"], r"must give a number for each of the 1 jobs that are shown"),
        (lambda question: [float("nan")], "must give numbers, not nan"),
    ],
)
def test_a_feature_that_gives_no_numbers_is_an_error(column: Any, why: str) -> None:
    """One line that names it."""
    with pytest.raises(OptionError, match=f"^feature odd: {why}"):
        seen_at(0, QueueWindow((Feature("odd", column),)))

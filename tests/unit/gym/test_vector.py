"""Several environments at once, as Gymnasium makes them, in this process and in others."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv

import batsched_py.gym
from batsched_py.campaigns import Drawn

STEPS = 40


def trace(mode: str, **options: Any) -> list[tuple[bytes, list[float], list[bool], bytes]]:
    """Take steps in three environments, beyond the ends of episodes: what all of them gave."""
    envs = gymnasium.make_vec(
        "batsched/Schedule-v0",
        num_envs=3,
        vectorization_mode=mode,
        vector_kwargs=options,
        platform="platforms/cluster32.xml",
        workload=batsched_py.gym.Model(Drawn(20, 32)),
        window=16,
    )
    assert isinstance(envs, AsyncVectorEnv) == (mode == "async")
    try:
        envs.reset(seed=5)
        steps = []
        for _ in range(STEPS):
            seen, rewards, over, _, info = envs.step(np.zeros(3, np.int64))
            steps.append((seen.tobytes(), list(rewards), list(over), info["action_mask"].tobytes()))
        return steps
    finally:
        envs.close()


def test_environments_in_processes_do_what_those_in_this_one_do() -> None:
    """The same seeds, the same numbers; the episodes of the three are not the same."""
    elsewhere = trace("async", context="spawn")
    assert elsewhere == trace("sync")
    assert any(any(over) for _, _, over, _ in elsewhere)
    assert any(len(set(rewards)) > 1 for _, rewards, _, _ in elsewhere)

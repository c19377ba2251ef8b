"""Episodes for tests: played to their end, with what was said on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from batsched_py.gym import ScheduleEnv

#: Gives the action for an observation and its info.
Policy = Callable[[Any, dict[str, Any]], Any]


def first(seen: Any, info: dict[str, Any]) -> int:
    """Pick the first job."""
    return 0


def play(env: ScheduleEnv, policy: Policy = first, **reset: Any) -> list[tuple[Any, float, dict[str, Any]]]:
    """Play an episode; return what each step gave: observation, reward and info."""
    seen, info = env.reset(**reset)
    steps, over = [], False
    while not over:
        seen, reward, over, cut, info = env.step(policy(seen, info))
        assert not cut
        assert env.observation_space.contains(seen)
        steps.append((seen, reward, info))
    return steps

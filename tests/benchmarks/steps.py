"""Steps of the environment: how many a core makes in a second, and what of one is messages of the run below."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final, NamedTuple

import numpy as np

from batsched_py.campaigns import simulate
from batsched_py.gym import (
    FreeHosts,
    Observation,
    PickJob,
    PickJobAndHosts,
    PickOrder,
    QueueWindow,
    ScheduleEnv,
    Together,
)
from batsched_py.gym.actions import Actions
from tests.benchmarks.inputs import poisson_workload
from tests.platforms import plain_platform

HOSTS: Final = 128
JOBS: Final = 3_000
QUEUE: Final = QueueWindow()
BOTH: Final = Together({"queue": QUEUE, "hosts": FreeHosts()})
#: What is measured: load, observation, actions.
KINDS: Final[tuple[tuple[float, Observation, Actions], ...]] = (
    (1.3, QUEUE, PickJob()),
    (1.3, BOTH, PickJob()),
    (1.3, QUEUE, PickJobAndHosts()),
    (1.3, QUEUE, PickOrder()),
    (1.3, QUEUE, PickJob(backfilling="easy")),
    (0.8, QUEUE, PickJob(backfilling="easy")),
)


class Steps(NamedTuple):
    """One kind of environment.

    Attributes:
        title: what is seen and decided.
        load: of the workload.
        shown: jobs that were shown, on average.
        messages: of the run, for each step.
        seconds: of CPU, for each step.
        below: the same of a run of `fcfs` with as many messages.
    """

    title: str
    load: float
    shown: float
    messages: float
    seconds: float
    below: float


def measure_steps(repeats: int) -> list[Steps]:
    """Play episodes with random answers: the least CPU time of several; a run of `fcfs` before each."""
    return [_measure(*kind, repeats) for kind in KINDS]


def _measure(load: float, observation: Observation, actions: Actions, repeats: int) -> Steps:
    platform, workload = plain_platform(HOSTS), poisson_workload(JOBS, HOSTS, load)
    env = ScheduleEnv(platform, workload, observation=observation, actions=actions)
    least, below = np.inf, np.inf
    for _ in range(repeats):
        began = time.process_time()
        run = simulate(platform, workload, "fcfs")
        below = min(below, (time.process_time() - began) / run.result.messages)
        began = time.process_time()
        steps, shown = _play(env, actions)
        least = min(least, time.process_time() - began)
    messages = env.run.result.messages / steps
    title = f"`{type(actions).__name__}({'backfilling=easy' if actions.needs_walltime else ''})`"
    seen = "queue and hosts" if observation is BOTH else "queue"
    return Steps(f"{seen} | {title}", load, shown / steps, messages, least / steps, below * messages)


def _play(env: ScheduleEnv, actions: Actions) -> tuple[int, int]:
    """Play an episode; return its steps, and the jobs that were shown in all."""
    random, scores = Random(1), np.linspace(0, 1, HOSTS, dtype=np.float32)
    _, info = env.reset()
    steps, shown, over = 0, 0, False
    while not over:
        steps += 1
        shown += min(info["waiting"], 128)
        number: Any = random.randrange(int(info["action_mask"].sum()))
        action = {"job": number, "hosts": scores} if isinstance(actions, PickJobAndHosts) else number
        _, _, over, _, info = env.step(action)
    return steps, shown


def markdown(rows: Sequence[Steps]) -> Iterator[str]:
    """The lines of the page's table."""
    yield "| seen | decided | load | jobs shown | messages/step | us/step | of it in the run below | steps/s |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        figures = f"{row.load} | {row.shown:.0f} | {row.messages:.1f} | {1e6 * row.seconds:.0f} | {1e6 * row.below:.0f}"
        yield f"| {row.title} | {figures} | {round(1 / row.seconds):,} |".replace(",", " ")

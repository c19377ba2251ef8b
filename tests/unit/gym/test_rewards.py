"""Rewards: their sums are the metrics of the schedule, whenever they are paid."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from batsched_py.gym import BoundedSlowdown, JobCost, Makespan, PickJob, Reward, ScheduleEnv, Utilisation, Wait
from tests.unit.gym.runs import play

MACHINE, LUBLIN = "platforms/cluster32.xml", "workloads/lublin200.json"


def rewards(paid: Literal["step", "end"]) -> list[tuple[Reward, str, float]]:
    """Each reward, the metric of its sum, and the sign of that."""
    return [
        (BoundedSlowdown(paid=paid), "mean_bounded_slowdown", -1),
        (Wait(paid=paid), "mean_wait", -1),
        (JobCost(lambda record: record.turnaround, paid=paid), "mean_turnaround", -1),
        (Utilisation(paid=paid), "utilisation", 1),
        (Makespan(paid=paid), "makespan", -1),
    ]


@pytest.mark.parametrize("paid", ["step", "end"])
@pytest.mark.parametrize("number", range(5))
def test_the_sum_is_the_metric(paid: Any, number: int) -> None:
    """At the end in one sum, or step by step."""
    reward, metric, sign = rewards(paid)[number]
    steps = play(ScheduleEnv(MACHINE, LUBLIN, reward=reward, actions=PickJob(backfilling="easy")))
    paid_out = [reward for _, reward, _ in steps]
    assert sum(paid_out) == pytest.approx(sign * steps[-1][2]["metrics"][metric])
    assert (len([one for one in paid_out if one]) > 1) == (paid == "step")


def test_the_bound_of_the_slowdown_is_an_option() -> None:
    """The longer the shortest run that counts, the smaller the slowdown."""
    sums = [
        sum(reward for _, reward, _ in play(ScheduleEnv(MACHINE, LUBLIN, reward=BoundedSlowdown(tau))))
        for tau in (1, 10, 1000)
    ]
    assert sums == sorted(sums)
    assert len(set(sums)) == 3

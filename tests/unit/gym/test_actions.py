"""Actions: orders and hosts that agents pick, and what becomes of actions that name no job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from batsched_py.campaigns import Run, simulate
from batsched_py.errors import OptionError
from batsched_py.gym import Actions, PickJob, PickJobAndHosts, PickOrder, ScheduleEnv
from batsched_py.planning.policies.selection import SELECTIONS
from batsched_py.scheduling.placement_options import PlacementOptions
from batsched_py.testing import Case
from tests.drawing import given_once
from tests.integration.variants import PLATFORM, SPECS, workload
from tests.unit.gym.runs import first, play

MACHINE, LUBLIN = "platforms/cluster32.xml", "workloads/lublin200.json"
SCORES = np.arange(6, dtype=np.float32) / 6


@pytest.mark.parametrize(
    "actions", [PickJob(backfilling="easy"), PickOrder(), PickOrder(backfilling="easy"), PickJobAndHosts()]
)
def test_the_checker_passes_with_all_actions(actions: Actions) -> None:
    """Random actions play whole episodes."""
    env = ScheduleEnv(MACHINE, LUBLIN, actions=actions)
    check_env(env, skip_render_check=True)
    env.action_space.seed(3)
    play(env, lambda seen, info: env.action_space.sample())
    assert len(env.run.result.jobs) == 200


@pytest.mark.parametrize("order", ["fcfs", "asc_size", "wfp3"])
@given_once(SPECS)
def test_always_the_same_order_is_priority(order: str, specs: list[tuple[int, int, int, int]]) -> None:
    """The algorithm of that order, on any workload."""
    env = ScheduleEnv(PLATFORM, workload(specs), actions=PickOrder((order,)))
    play(env)
    expected = simulate(PLATFORM, workload(specs), "priority", {"order": order})
    assert env.run.result.jobs == expected.result.jobs


@given_once(SPECS)
def test_arrival_with_backfilling_is_easy(specs: list[tuple[int, int, int, int]]) -> None:
    """On any workload."""
    env = ScheduleEnv(PLATFORM, workload(specs), actions=PickOrder(("fcfs",), backfilling="easy"))
    play(env)
    assert env.run.result.jobs == simulate(PLATFORM, workload(specs), "easy").result.jobs


def test_the_files_of_an_episode_are_those_of_a_run(tmp_path: Path) -> None:
    """Its jobs byte for byte; the description has the inputs, and no algorithm: the agent is another program."""
    env = ScheduleEnv(MACHINE, LUBLIN, actions=PickOrder(("fcfs",), backfilling="easy"))
    play(env)
    env.run.write(tmp_path / "episode")
    easy = simulate(MACHINE, LUBLIN, "easy")
    easy.write(tmp_path / "easy")
    assert (tmp_path / "episode_jobs.csv").read_bytes() == (tmp_path / "easy_jobs.csv").read_bytes()
    assert Run.read(tmp_path / "episode").metrics == Run.read(tmp_path / "easy").metrics
    told, other = (json.loads((tmp_path / f"{name}_run.json").read_text()) for name in ("episode", "easy"))
    assert (told["algorithm"], told["platform"], told["settings"]) == (None, other["platform"], other["settings"])
    assert [one["path"] for one in told["workloads"]] == [LUBLIN]


@given_once(SPECS)
def test_where_jobs_run_does_not_change_when(specs: list[tuple[int, int, int, int]]) -> None:
    """Hosts are alike: scores move the jobs of `fcfs` to other hosts, and their starts stay."""
    env = ScheduleEnv(PLATFORM, workload(specs), actions=PickJobAndHosts())
    play(env, lambda seen, info: {"job": 0, "hosts": SCORES})
    ours, theirs = env.run.result.jobs, simulate(PLATFORM, workload(specs), "fcfs").result.jobs
    assert [(record.job.id, record.start) for record in ours] == [(record.job.id, record.start) for record in theirs]


def test_a_job_gets_the_free_hosts_with_the_highest_scores() -> None:
    """Hosts 4 and 5 first; then, of what is free, 2 and 3; of equal scores the lowest numbers."""
    case = Case(hosts=6, jobs=((0, 2, 9, 9), (0, 2, 9, 9), (20, 3, 9, 9)))
    env = ScheduleEnv(case.platform(), case.workload(), actions=PickJobAndHosts())
    play(env, lambda seen, info: {"job": 0, "hosts": SCORES if info["now"] < 20 else [0, 1, 0, 0, 1, 0]})
    assert [str(record.hosts) for record in env.run.result.jobs] == ["4-5", "2-3", "0-1 4"]


def test_scores_wait_with_their_job() -> None:
    """The second job was picked at 1 s; it starts at 9 s, on the hosts that were best for it."""
    case = Case(hosts=4, jobs=((0, 4, 9, 9), (1, 2, 9, 9), (2, 2, 9, 9)))
    env = ScheduleEnv(case.platform(), case.workload(), actions=PickJobAndHosts())
    play(env, lambda seen, info: {"job": 0, "hosts": [0, 0, 1, 1]})
    assert [str(record.hosts) for record in env.run.result.jobs] == ["0-3", "2-3", "0-1"]


def test_an_action_that_names_no_job_picks_the_last() -> None:
    """Both others wait at 0 s."""
    case = Case(hosts=2, jobs=((0, 2, 5, 9), (0, 2, 5, 9), (0, 2, 5, 9)))
    env = ScheduleEnv(case.platform(), case.workload(), window=2)
    play(env, lambda seen, info: 1)
    assert [record.job.id for record in env.run.result.jobs] == ["w0!001", "w0!002", "w0!000"]


def test_hosts_are_selected_as_in_algorithms() -> None:
    """Here by the selection `contiguous`, for which a job of two hosts waits."""
    options = PlacementOptions(selection=SELECTIONS["contiguous"])
    env = ScheduleEnv(MACHINE, LUBLIN, actions=PickJob(placement=options))
    play(env, first)
    assert env.run.result.jobs == simulate(MACHINE, LUBLIN, "fcfs", {"selection": "contiguous"}).result.jobs


@pytest.mark.parametrize(
    ("actions", "why"),
    [
        (PickOrder(("fcfs", "first")), "^orders: must be fcfs"),
        (PickOrder(()), "^orders: must be at least one$"),
        (
            PickJob(backfilling="easy", placement=PlacementOptions(selection=SELECTIONS["contiguous"])),
            "^selection contiguous lets no job overtake: promises are of numbers of hosts$",
        ),
    ],
)
def test_wrong_choices_are_errors(actions: Any, why: str) -> None:
    """One line, before the first step."""
    with pytest.raises(OptionError, match=why):
        ScheduleEnv(MACHINE, LUBLIN, actions=actions).reset()


def test_jobs_without_walltimes_are_rejected_where_these_are_needed() -> None:
    """Backfilling needs them."""
    case = Case(hosts=2, jobs=((0, 1, 5, None), (0, 1, 5, 9)))
    env = ScheduleEnv(case.platform(), case.workload(), actions=PickJob(backfilling="easy"))
    steps = play(env)
    assert len(steps) == 1
    assert env.run.rejections == {"w0!000": "has no walltime, and the algorithm needs one"}

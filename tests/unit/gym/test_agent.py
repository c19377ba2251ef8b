"""Agents as algorithms: the decisions of the environment, from a file, by `simulate` and the bench."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batsched_py.campaigns import simulate
from batsched_py.errors import AlgorithmError
from batsched_py.gym import Agent, PickJob, PickJobAndHosts, PickOrder
from batsched_py.scheduling.options import NoOptions
from batsched_py.testing import Case, ContractTests
from batsched_py.testing import play as play_case
from tests.drawing import given_once
from tests.integration.variants import PLATFORM, SPECS, workload
from tests.unit.gym.runs import play

MACHINE, LUBLIN = "platforms/cluster32.xml", "workloads/lublin200.json"


class Shortest(Agent[NoOptions]):
    """Pick the job with the shortest walltime; others may overtake it."""

    name = "shortest"
    actions = PickJob(backfilling="easy")
    window = 8

    def choose(self, seen: Any, mask: Any) -> int:
        return int(np.where(mask, seen[:, 1], np.inf).argmin())


class Placing(Agent[NoOptions]):
    """Pick the widest job, and the hosts of the highest numbers."""

    name = "placing"
    actions = PickJobAndHosts()
    window = 3

    def choose(self, seen: Any, mask: Any) -> dict[str, Any]:
        return {"job": int(np.where(mask, seen[:, 2], -1).argmax()), "hosts": np.linspace(0, 1, 6, dtype=np.float32)}


class Turning(Agent[NoOptions]):
    """Serve by size if the first job is large, else by arrival."""

    name = "turning"
    actions = PickOrder(("fcfs", "asc_size"))

    def choose(self, seen: Any, mask: Any) -> int:
        return int(seen[0, 2] > 0.5)


@pytest.mark.parametrize("agent", [Shortest, Placing, Turning])
@given_once(SPECS)
def test_an_agent_decides_as_in_its_environment(
    agent: type[Agent[NoOptions]], specs: list[tuple[int, int, int, int]]
) -> None:
    """The same schedule, on any workload."""
    env, chooser = agent.environment(PLATFORM, workload(specs)), agent(NoOptions())
    play(env, lambda seen, info: chooser.choose(seen, info["action_mask"]))
    assert simulate(PLATFORM, workload(specs), agent).result.jobs == env.run.result.jobs


FILE = '''
"""An agent in a file."""
from batsched_py.api import NoOptions
from batsched_py.gym import Agent

class First(Agent[NoOptions]):
    """Pick the first job."""
    name = "first"
    def choose(self, seen, mask):
        {}
'''


def test_a_file_with_an_agent_is_an_algorithm(tmp_path: Path) -> None:
    """Under `-s`, as any other."""
    file = tmp_path / "first.py"
    file.write_text(FILE.format("return 0"))
    assert simulate(MACHINE, LUBLIN, str(file)).result.jobs == simulate(MACHINE, LUBLIN, "fcfs").result.jobs


def test_an_agent_that_fails_is_told_with_its_line(tmp_path: Path) -> None:
    """In one line."""
    file = tmp_path / "first.py"
    file.write_text(FILE.format("return {}['job']"))
    with pytest.raises(AlgorithmError, match=r"first failed on JobSubmitted .*KeyError: 'job' \(first.py:10\)$"):
        simulate(MACHINE, LUBLIN, str(file))


def test_an_agent_keeps_its_decisions_where_messages_are_late() -> None:
    """Beside a Batsim that sends the events of an instant one by one, late: each job runs."""
    case = Case(hosts=6, jobs=((0, 3, 5, 9), (0, 6, 5, 9), (1, 2, 5, 9), (1, 1, 5, 9)), peer="late", seed=4)
    assert sorted(record.job.id for record in play_case(Shortest, {}, case).endings) == [f"w0!{n:03}" for n in range(4)]


class TestShortest(ContractTests):
    """The contract of every algorithm, for an agent."""

    algorithm = Shortest
    examples = 10


class TestTurning(ContractTests):
    """Likewise."""

    algorithm = Turning
    examples = 10

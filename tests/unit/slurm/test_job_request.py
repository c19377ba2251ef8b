"""The request of sbatch that a job stands for."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.model.demand import TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.reading.faults import FieldError
from batsched_py.slurm.configuration import UNLIMITED, GresCount
from batsched_py.slurm.job_member import read_member
from batsched_py.slurm.job_request import job_request
from batsched_py.slurm.submission import BatchRequest


def request(slurm: dict[str, Any] | None = None, now: float = 100.4, **changes: Any) -> BatchRequest:
    """The request of a job of two."""
    job = Job.create("w0!a", **{"size": 2, "profile": "p", "walltime": 90.0, "extra": {"user": "ada"}, **changes})
    return job_request(job, read_member({"slurm": slurm or {}}), now=now)


def test_a_job_without_a_demand_has_whole_nodes() -> None:
    """As many as its size, whatever its tasks."""
    found = request({"ntasks": 5, "cpus_per_task": 3})
    assert (found.min_nodes, found.max_nodes, found.exclusive) == (2, 2, "node")
    assert (found.tasks, found.cpus_per_task, found.user) == (5, 3, "ada")


@pytest.mark.parametrize(
    ("walltime", "limit", "minutes"),
    [(90.0, None, 2), (60.0, None, 1), (0.5, None, 1), (None, None, None), (1e9, None, UNLIMITED), (600.0, 61.0, 2)],
)
def test_limits_are_whole_minutes(walltime: float | None, limit: float | None, minutes: int | None) -> None:
    """Rounded up, at most a year; time_limit comes before the walltime."""
    member = {} if limit is None else {"time_limit": limit}
    assert request(member, walltime=walltime).time_limit == minutes


def test_instants_count_from_the_whole_second_of_the_submission() -> None:
    """Those from time zero, too."""
    found = request({"begin": 130, "deadline": "+60"})
    assert (found.begin, found.deadline) == (30, 60)


def demand(tasks: int = 2, *, spread: bool = False, licences: tuple[tuple[str, int], ...] = (), **task: Any) -> Any:
    """The changes of a job with a demand."""
    made = JobDemand(tasks=tasks, task=TaskDemand(**{"cores": 1500, **task}), spread=spread, licences=licences)
    return {"size": tasks, "demand": made}


def test_a_demand_is_that_of_tasks() -> None:
    """Cores and memory are rounded up: a part of a core is a whole one."""
    found = request(**demand(memory=301, licences=(("matlab", 1),)))
    assert (found.tasks, found.cpus_per_task, found.mem_per_cpu) == (2, 2, 151)
    assert (found.min_nodes, found.max_nodes, found.exclusive) == (None, None, "")
    assert found.licences == (("matlab", 1),)


def test_tasks_that_are_alone_on_their_node_have_resources_by_node() -> None:
    """GPUs with a model, and others; otherwise GPUs are those of a task."""
    alone = request(**demand(spread=True, gpus=2, models=("A100",), others=(("fpga", 1),)))
    assert alone.gres == (GresCount("fpga", "", 1), GresCount("gpu", "A100", 2))
    assert (alone.gpus_per_task, alone.tasks_per_node, alone.min_nodes) == (None, 1, 2)
    assert request(**demand(gpus=2)).gpus_per_task == 2


@pytest.mark.parametrize(
    ("slurm", "changes", "rule"),
    [
        ({"nodes": 3}, {}, "slurm.nodes: must be res, 2, for a job without a demand"),
        ({"ntasks": 1}, {}, "slurm.ntasks: must be at least res, 2"),
        ({"ntasks": 2}, demand(), "slurm.ntasks: must be absent from a job with a demand"),
        ({"mem": 100}, demand(memory=1), "slurm.mem: cannot be combined with demand.memory"),
        ({"nodes": 3}, demand(), "slurm.nodes: must be at most the number of tasks, res: 2"),
        ({"gpus": 1}, demand(gpus=1), "slurm.gpus: cannot be combined with demand.gpus"),
        ({}, demand(gpus=1, share=500), "demand.gpu_share: must be 1"),
        ({}, demand(gpus=1, models=("a", "b")), "demand.gpu_models: must have one model"),
        ({}, demand(others=(("fpga", 1),)), "demand.others: needs demand.spread"),
        ({"ntasks_per_node": 2}, demand(spread=True), "slurm.ntasks_per_node: must be 1 with demand.spread"),
    ],
)
def test_members_that_contradict_each_other_are_refused(
    slurm: dict[str, Any], changes: dict[str, Any], rule: str
) -> None:
    """With the member and the rule."""
    with pytest.raises(FieldError) as caught:
        request(slurm, **changes)
    assert str(caught.value).startswith(rule)

"""Submissions of jobs to the controller: arrays, and jobs that wait for others."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.errors import ConfigurationError
from batsched_py.model.demand import TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.slurm.adapter.files import OperatorFile, TimedCommand, commands_of
from batsched_py.slurm.adapter.submissions import JobSubmissions, Refusal
from tests.unit.slurm.clusters import controller


def submissions(parameters: str = "") -> JobSubmissions:
    """Those of a new controller."""
    return JobSubmissions(controller(parameters), stops_at_strangers=True, dump="accounts")


def job(name: str, **members: Any) -> Job:
    """A job of one whole node."""
    return Job.create(f"w0!{name}", size=1, profile="p", walltime=60.0, extra=members)


def keys(made: JobSubmissions, *jobs: Job, now: float = 0.0) -> list[str]:
    """The keys of submitted jobs, and the reasons of those that are refused."""
    return [one.why if isinstance(one, Refusal) else one[1].key for one in made.submit(jobs, now)]


def test_the_only_task_of_an_array_keeps_its_number() -> None:
    """Without one it is a job like any other."""
    found = submissions()
    assert keys(found, job("a", array={"id": "t"}, slurm={"array_task": 7})) == ["w0!a_7"]
    assert found.by_key["w0!a_7"].task == 7
    assert keys(found, job("b", array={"id": "u"})) == ["w0!b"]


def test_tasks_of_an_array_have_their_numbers_or_places() -> None:
    """All of them, or none; they are submitted in the order of their numbers."""
    array = {"array": {"id": "t"}}
    tasks = [job(name, **array, slurm={"array_task": number}) for name, number in (("a", 4), ("b", 2))]
    assert keys(submissions(), *tasks) == ["w0!b_2", "w0!b_4"]
    assert keys(submissions(), job("a", **array), job("b", **array)) == ["w0!a_0", "w0!a_1"]
    mixed = keys(submissions(), job("a", **array), tasks[1])
    assert mixed == ["slurm.array_task: must be given for all tasks of an array, or none, each once"] * 2


def test_a_job_waits_for_one_that_was_not_submitted() -> None:
    """It is submitted after it; until then it can be forgotten."""
    found = submissions()
    assert keys(found, job("late", depends_on=["first"]), job("gone", depends_on=["first"])) == []
    assert [one.name for one in found.waiting] == ["late", "gone"]
    assert found.forget("w0!gone")
    assert keys(found, job("first"), now=5.0) == ["w0!first", "w0!late"]
    assert not found.has_waiting


def test_a_command_names_jobs_in_braces() -> None:
    """One that was not submitted is a fault."""
    found = submissions()
    assert keys(found, job("a")) == ["w0!a"]
    assert found.command(TimedCommand(1.0, "scontrol hold {a}", 1), 1.0) == ([], "")
    assert found.by_key["w0!a"].is_held
    assert found.command(TimedCommand(1.0, "scontrol hold {b}", 1), 1.0)[1] == "b was not submitted before"


def test_commands_are_in_the_order_of_their_times() -> None:
    """Comments are left out; a line that is no command is named."""
    file = OperatorFile("commands", "# first\n5 scontrol hold 1 # now\n7.5 scancel 1\n")
    assert [(one.at, one.text, one.line) for one in commands_of(file)] == [
        (5.0, "scontrol hold 1", 2),
        (7.5, "scancel 1", 3),
    ]
    for text, rule in (("5 reboot\n", "must be seconds"), ("5 scancel 1\n4 scancel 1\n", "must not be before")):
        with pytest.raises(ConfigurationError, match=rule):
            commands_of(OperatorFile("commands", text))


def test_memory_that_the_cluster_does_not_count_is_refused() -> None:
    """A host would count it."""
    task = TaskDemand(cores=1000, memory=10)
    wanted = Job.create("w0!a", size=1, profile="p", demand=JobDemand(tasks=1, task=task))
    [found] = submissions("SelectTypeParameters=CR_Core").submit([wanted], 0.0)
    assert isinstance(found, Refusal)
    assert found.why.startswith("demand.memory: is not counted: SelectTypeParameters must count memory")

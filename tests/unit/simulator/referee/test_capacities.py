"""Starts of tasks that share hosts: those that exceed a capacity are refused, in one line."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import PlatformError, RefusedError
from batsched_py.model.demand import TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.platform import Platform
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import Command, Script, execute, job, platform, workload

PROPERTIES = {"mem": "1000", "gpus": "2", "gpu_model": "T4", "capacity": "fpga:1", "licences": "matlab:2"}


def machine(**properties: str) -> Platform:
    """Hosts of eight cores, 1000 MiB, two GPUs and an FPGA."""
    plain, own = platform(3), {**PROPERTIES, **properties}
    return replace(plain, hosts=tuple(replace(host, cores=8, properties=own) for host in plain.hosts))


def wants(name: str, *, res: int = 1, at: float = 1, spread: bool = False, licences: int = 0, **task: Any) -> Job:
    """A job of ten seconds with a demand."""
    demand = JobDemand(
        tasks=res, task=TaskDemand(**task), spread=spread, licences=(("matlab", licences),) if licences else ()
    )
    return Job.create(name, size=res, profile="d10", submit_time=at, demand=demand)


def play(jobs: list[Job], commands: list[Command], settings: Settings = DEFAULTS, **later: list[Command]) -> Script:
    """A simulation in which all these commands come at instant 1."""
    peer = Script({1.0: commands, **{float(time[1:]): said for time, said in later.items()}})
    Simulation(machine(), [workload(*jobs)], settings).run(peer)
    return peer


HALF: dict[str, Any] = {"gpus": 1, "share": 500}


@pytest.mark.parametrize(
    ("jobs", "commands", "rule"),
    [
        (
            [wants("a", cores=5000), wants("b", cores=4000)],
            [execute("a", "0", task_gpus=[[]]), execute("b", "0", task_gpus=[[]])],
            "job w0!b on hosts 0 exceeds the cores: 5 of 8 are used, it requests 4",
        ),
        (
            [wants("a", memory=600), wants("b", memory=401)],
            [execute("a", "2", task_gpus=[[]]), execute("b", "2", task_gpus=[[]])],
            "job w0!b on hosts 2 exceeds the memory: 600 of 1000 are used, it requests 401",
        ),
        (
            [wants("a", others=(("fpga", 1),)), wants("b", others=(("fpga", 1),))],
            [execute("a", "0", task_gpus=[[]]), execute("b", "0", task_gpus=[[]])],
            "job w0!b on hosts 0 exceeds the fpga: 1 of 1 are used, it requests 1",
        ),
        (
            [wants("a", **HALF), wants("b", gpus=1)],
            [execute("a", "0", task_gpus=[[1]]), execute("b", "0", task_gpus=[[1]])],
            "job w0!b on hosts 0 exceeds the GPU 1: 0.5 of 1 are used, it requests 1",
        ),
        (
            [wants("a", gpus=2), wants("b", **HALF)],
            [execute("a", "0", task_gpus=[[0, 1]]), execute("b", "0", task_gpus=[[0]])],
            "job w0!b on hosts 0 exceeds the GPUs: 2 of 2 are used, it requests 0.5",
        ),
        (
            [wants("a", res=3, **HALF)],
            [execute("a", "0", mapping={"0": "0", "1": "0", "2": "0"}, task_gpus=[[0], [0], [0]])],
            "job w0!a on hosts 0 exceeds the GPU 0: 1 of 1 are used, it requests 0.5",
        ),
        ([wants("a", gpus=1)], [execute("a", "0", task_gpus=[[2]])], "gets GPU 2, and the host has 2 GPUs"),
        (
            [wants("a", gpus=2)],
            [execute("a", "0", task_gpus=[[1, 1]])],
            "must get 2 GPUs there in",
        ),
        ([wants("a", gpus=2)], [execute("a", "0", task_gpus=[[1]])], "must get 2 GPUs there in task_gpus"),
        (
            [wants("a", gpus=1, models=("V100",))],
            [execute("a", "0", task_gpus=[[1]])],
            "job w0!a on hosts 0 requests GPUs of another model than T4, that of the host",
        ),
        (
            [wants("a", cores=1), wants("b", cores=1, exclusive=True)],
            [execute("a", "0", task_gpus=[[]]), execute("b", "0", task_gpus=[[]])],
            "job w0!b on hosts 0 cannot run there: a task needs the host for itself",
        ),
        (
            [wants("a", cores=1, exclusive=True), wants("b", cores=1)],
            [execute("a", "0", task_gpus=[[]]), execute("b", "0", task_gpus=[[]])],
            "job w0!b on hosts 0 cannot run there: a task needs the host for itself",
        ),
        (
            [wants("a", res=2, cores=1, spread=True)],
            [execute("a", "0", mapping={"0": "0", "1": "0"}, task_gpus=[[], []])],
            "job w0!a on hosts 0 has 2 tasks there, and each needs a host of its own",
        ),
        (
            [wants("a", cores=1, licences=2), wants("b", cores=1, licences=1)],
            [execute("a", "0", task_gpus=[[]]), execute("b", "1", task_gpus=[[]])],
            "job w0!b exceeds the licences matlab: 2 of 2 are used, it requests 1",
        ),
        (
            [job("whole", at=1), wants("b", cores=1)],
            [execute("whole", "0"), execute("b", "0", task_gpus=[[]])],
            "job w0!b on hosts 0 cannot run there: another job does, and hosts are not shared",
        ),
        (
            [wants("a", cores=1), job("whole", at=1)],
            [execute("a", "0", task_gpus=[[]]), execute("whole", "0")],
            "job w0!whole on hosts 0 cannot run there: another job does, and hosts are not shared",
        ),
        (
            [wants("a", cores=1), wants("b", cores=1)],
            [execute("a", "0", task_gpus=[[]]), execute("b", "0")],
            "job w0!b on hosts 0 cannot run there: another job does, and hosts are not shared",
        ),
        (
            [job("whole", at=1)],
            [execute("whole", "0", task_gpus=[[]])],
            "has task_gpus, and requests no part",
        ),
    ],
)
def test_commands_that_exceed_a_capacity_are_refused_in_one_line(
    jobs: list[Job], commands: list[Command], rule: str
) -> None:
    """The line names the host, the resource and the job."""
    with pytest.raises(RefusedError) as caught:
        play(jobs, commands)
    assert rule in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_host_may_be_filled_exactly() -> None:
    """By tasks of several jobs, on the same GPUs."""
    jobs = [wants("a", res=2, cores=2000, memory=250, **HALF), wants("b", res=2, cores=2000, memory=250, **HALF)]
    pair = {"0": "0", "1": "0"}
    peer = play(
        jobs,
        [
            execute("a", "1", mapping=pair, task_gpus=[[0], [1]]),
            execute("b", "1", mapping=pair, task_gpus=[[1], [0]]),
        ],
    )
    assert [data["job_id"] for _, data in peer.told("JOB_COMPLETED")] == ["w0!a", "w0!b"]


def test_what_ends_is_free_again() -> None:
    """Amounts, licences, and the host for a job that wants it whole."""
    jobs = [wants("a", cores=8000, licences=2), wants("b", cores=8000, licences=2), job("whole", at=1)]
    peer = play(
        jobs,
        [execute("a", "0", task_gpus=[[]])],
        t11=[execute("b", "0", task_gpus=[[]])],
        t21=[execute("whole", "0")],
    )
    assert [time for time, _ in peer.told("JOB_COMPLETED")] == [11, 21, 31]


def test_a_job_without_numbers_of_gpus_has_whole_hosts() -> None:
    """Whatever it requests: a scheduler that does not know demands goes on as before."""
    peer = play([wants("a", gpus=9)], [execute("a", "0")])
    assert len(peer.told("JOB_COMPLETED")) == 1


SHARED = replace(DEFAULTS, compute_sharing=True)


def test_with_compute_sharing_the_amounts_count_by_the_mapping() -> None:
    """The total of the GPUs suffices then, and a note says so."""
    jobs = [wants("a", res=2, cores=2000, gpus=1), wants("b", cores=5000)]
    commands = [execute("a", "0", mapping={"0": "0", "1": "0"}), execute("b", "0")]
    with pytest.raises(RefusedError, match="job w0!b on hosts 0 exceeds the cores: 4 of 8 are used, it requests 5"):
        play(jobs, commands, SHARED)
    result = Simulation(machine(), [workload(jobs[0])], SHARED).run(Script({1.0: commands[:1]}))
    assert any("only the total of the GPUs" in note for note in result.approximations)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ([], "task_gpus: must be a list of the GPUs of each of 1 executors, not []"),
        ({}, "task_gpus: must be a list of the GPUs of each of 1 executors"),
        ([[-1]], "task_gpus[0]: must be a list of numbers of GPUs below 1000, not [-1]"),
        ([[True]], "task_gpus[0]: must be a list of numbers of GPUs below 1000"),
        ([0], "task_gpus[0]: must be a list of numbers of GPUs below 1000, not 0"),
    ],
)
def test_a_list_of_gpus_of_another_form_is_refused(value: object, rule: str) -> None:
    """Before anything starts."""
    with pytest.raises(Exception, match="task_gpus") as caught:
        play([wants("a", gpus=1)], [execute("a", "0", task_gpus=value)])
    assert rule in str(caught.value)


def test_a_property_that_is_no_amount_is_refused_at_the_start() -> None:
    """With the host, the property and the rule."""
    with pytest.raises(PlatformError, match="host h0: gpus: must be a whole number from 0 to 1000, not 'many'"):
        Simulation(machine(gpus="many"), [workload(wants("a", cores=1))], DEFAULTS)
    Simulation(machine(gpus="many"), [workload(job("a"))], DEFAULTS)


def test_more_tasks_than_hosts_may_share_them() -> None:
    """But a job of whole hosts must not be larger than the platform."""
    peer = play(
        [wants("a", res=4, cores=1)], [execute("a", "0", mapping=dict.fromkeys("0123", "0"), task_gpus=[[]] * 4)]
    )
    assert len(peer.told("JOB_COMPLETED")) == 1
    assert peer.heard[0]["events"][0]["data"]["demands"] is True
    assert peer.heard[0]["events"][0]["data"]["compute_resources"][0]["core_count"] == 8


def test_without_demands_the_first_message_is_that_of_batsim() -> None:
    """Neither the member `demands` nor numbers of cores."""
    peer = play([job("a", at=1)], [execute("a", "0")])
    data = peer.heard[0]["events"][0]["data"]
    assert "demands" not in data
    assert "core_count" not in data["compute_resources"][0]

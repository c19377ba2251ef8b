"""Memory of jobs by their partition, through the controller."""

from __future__ import annotations

import pytest

from batsched_py.errors import SlurmRefusalError
from batsched_py.slurm.jobs import SlurmJob
from tests.unit.slurm.clusters import PARTITION, controller, starts, submit

COUNTED = "SelectTypeParameters=CR_Core_Memory\n"


def submitted(parameters: str, partition: str, options: str) -> SlurmJob:
    """A job of such a cluster, whose nodes have four processors and 1000 MB."""
    slurm = controller(COUNTED + parameters, f"{PARTITION.strip()} {partition}\n")
    return slurm.cluster.jobs[submit(slurm, f"-J a {options}")][0]


@pytest.mark.parametrize(
    ("parameters", "partition", "options", "memory"),
    [
        ("DefMemPerCPU=100", "", "-n 2", (100, None)),
        ("DefMemPerNode=300", "", "-n 2", (None, 300)),
        ("DefMemPerCPU=100", "DefMemPerNode=300", "-n 2", (None, 300)),
        ("DefMemPerCPU=100", "DefMemPerNode=300", "-n 2 --mem-per-cpu=50", (50, None)),
        ("", "", "-n 2", (None, None)),
    ],
)
def test_a_job_that_names_no_memory_has_the_default(
    parameters: str, partition: str, options: str, memory: tuple[int | None, int | None]
) -> None:
    """That of the partition, or else of the cluster."""
    request = submitted(parameters, partition, options).request
    assert (request.mem_per_cpu, request.mem_per_node) == memory


@pytest.mark.parametrize(
    ("partition", "options", "cpus", "per_cpu"),
    [
        ("MaxMemPerCPU=200", "-n 1 --mem-per-cpu=500", 3, 167),
        ("MaxMemPerCPU=200", "-n 1 --mem-per-cpu=200", 1, 200),
        ("MaxMemPerCPU=200", "-n 1 --mem=500", 3, None),
        ("MaxMemPerCPU=200", "-N 2 -n 4 --mem=700", 2, None),
        ("MaxMemPerCPU=500", "-n 1 -c 2 --mem-per-cpu=400", 2, 400),
    ],
)
def test_a_job_with_more_memory_gets_more_processors(
    partition: str, options: str, cpus: int, per_cpu: int | None
) -> None:
    """As many as its memory takes."""
    request = submitted("", partition, options).request
    assert (request.cpus_per_task, request.mem_per_cpu) == (cpus, per_cpu)


def test_a_node_has_no_more_than_its_bound() -> None:
    """Tasks are spread over more nodes; what no node may have is refused."""
    slurm = controller(f"{COUNTED}MaxMemPerNode=500\n")
    submit(slurm, "-J a -n 4 --mem-per-cpu=200")
    assert starts(slurm, 10) == [("a", 6.0, "n[1-2]")]
    for options in ("-n 1 --mem=501", "-n 1 -c 3 --mem-per-cpu=200"):
        with pytest.raises(SlurmRefusalError, match="Memory specification can not be satisfied"):
            submit(slurm, f"-J b {options}", 20)


def test_jobs_of_an_exclusive_partition_have_whole_nodes() -> None:
    """Their requests do not matter."""
    slurm = controller("", f"{PARTITION.strip()} OverSubscribe=EXCLUSIVE\n")
    for number in range(5):
        submit(slurm, f"-J j{number} -n 1 -t 1")
    assert [nodes for _, _, nodes in starts(slurm, 10)] == ["n1", "n2", "n3", "n4"]
    assert {
        job.allocation.cpus(slurm.cluster.configuration.nodes) for job in slurm.cluster.running if job.allocation
    } == {4}


def test_nodes_that_are_down_take_no_jobs_until_they_are_resumed() -> None:
    """By a command."""
    slurm = controller("DownNodes=n[2-4]\n")
    submit(slurm, "-J a -N 2 -t 1")
    assert starts(slurm, 10) == []
    slurm.action("scontrol update nodename=n3 state=resume", 10)
    assert [(job, nodes) for job, _, nodes in starts(slurm, 60)] == [("a", "n[1,3]")]

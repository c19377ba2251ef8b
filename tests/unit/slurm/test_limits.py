"""Limits of QOS and associations, in cases computed by hand."""

from __future__ import annotations

import pytest

from batsched_py.errors import ConfigurationError, SlurmRefusalError
from batsched_py.slurm.sacctmgr import read_accounts
from tests.unit.slurm.clusters import controller, starts, submit

ENFORCED = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits"
ACCOUNTS = (
    *("add account phys", "add user ada account=phys", "add user bob account=phys", "add qos cap", "add qos high"),
    "modify user ada,bob set qos+=high",
)
CAPPED = "PartitionName=batch Nodes=n[1-4] Default=YES QOS=cap\n"
GPUS = "GresTypes=gpu\nNodeName=g[1-2] CPUs=4 Gres=gpu:a100:4\nPartitionName=batch Nodes=g[1-2] Default=YES\n"


def reasons(*commands: str, jobs: tuple[str, ...], parameters: str = "", partitions: str = "") -> dict[str, str]:
    """The reasons of the jobs that pend after a pass; all are ada's, or bob's if they begin with b."""
    conf = {"partitions": partitions} if partitions else {}
    slurm = controller(f"{ENFORCED}\n{parameters}", commands=(*ACCOUNTS, *commands), **conf)
    for options in jobs:
        name = options.split(maxsplit=1)[0]
        submit(slurm, f"-J {options}", user="bob" if name.startswith("b") else "ada")
    starts(slurm, 10)
    return {job.key: job.reason for job in slurm.cluster.pending}


@pytest.mark.parametrize(
    ("command", "jobs", "reason"),
    [
        ("modify account phys set GrpTRES=mem=800M", ("a -n 1 --mem=500", "c -n 1 --mem=400"), "AssocGrpMemoryLimit"),
        ("modify account phys set GrpTRES=node=2", ("a -N 2", "c -n 1"), "AssocGrpNodeLimit"),
        ("modify account phys set MaxJobs=1", ("a -n 1", "b -n 1", "c -n 1"), "AssocMaxJobsLimit"),
        ("modify account root set GrpJobs=1", ("a -n 1", "c -n 1"), "AssocGrpJobsLimit"),
        ("modify qos normal set MaxJobs=1", ("a -n 1", "b -n 1", "c -n 1"), "QOSMaxJobsPerUserLimit"),
        ("modify qos normal set GrpTRES=cpu=6", ("a -N 1 --exclusive", "c -N 1 --exclusive"), "QOSGrpCpuLimit"),
    ],
)
def test_a_job_waits_with_the_reason_of_its_limit(command: str, jobs: tuple[str, ...], reason: str) -> None:
    """The last one, until others have ended; a job with whole nodes has all of their processors."""
    assert reasons(command, jobs=jobs) == {"c": reason}


def test_generic_resources_are_counted_as_they_are_given() -> None:
    """A limit of a type counts requests of the type only."""
    jobs = ("a -n 1 --gpus=2", "b -n 2 --gpus-per-task=1", "c -n 1 --gres=gpu:a100:1")
    assert reasons("modify account phys set GrpTRES=gres/gpu=4", jobs=jobs, partitions=GPUS) == {
        "c": "AssocGrpGRESLimit"
    }
    assert reasons("modify account phys set GrpTRES=gres/gpu:a100=0", jobs=jobs, partitions=GPUS) == {
        "c": "AssocGrpGRESLimit"
    }


def test_licences_are_counted() -> None:
    """By name, without regard to case."""
    found = reasons(
        "modify user ada set GrpTRES=license/Matlab=1",
        jobs=("a -n 1 -L matlab", "c -n 1 -L matlab"),
        parameters="Licenses=matlab:5",
    )
    assert found == {"c": "AssocGrpLicenseLimit"}


@pytest.mark.parametrize(
    ("commands", "waiting"),
    [
        (("modify qos cap set MaxJobs=1", "modify user ada set MaxJobs=2"), {"c": "QOSMaxJobsPerUserLimit"}),
        (("modify qos cap set MaxJobs=2", "modify user ada set MaxJobs=1"), {}),
        (("modify qos cap set MaxJobs=1", "modify qos high set MaxJobs=2"), {"c": "QOSMaxJobsPerUserLimit"}),
        (("modify qos cap set MaxJobs=1", "modify qos high set MaxJobs=2 flags=OverPartQOS"), {}),
        (("modify account phys set MaxJobs=1", "modify user ada set MaxJobs=2"), {}),
        (("modify account phys set GrpJobs=1", "modify user ada set GrpJobs=2"), {"c": "AssocGrpJobsLimit"}),
    ],
)
def test_the_first_level_that_sets_a_limit_counts(commands: tuple[str, ...], waiting: dict[str, str]) -> None:
    """The QOS of the partition, that of the job, the user, the account; of groups of accounts all count."""
    assert reasons(*commands, jobs=("a -n 1 -q high", "c -n 1 -q high"), partitions=CAPPED) == waiting


def test_a_limit_that_is_taken_back_is_none() -> None:
    """By -1; other resources stay."""
    accounts = read_accounts(("add qos q GrpTRES=cpu=4,node=2", "modify qos q set GrpTRES=cpu=-1 GrpJobs=-1"))
    assert (accounts.qos["q"].bounds.grp_tres, accounts.qos["q"].bounds.grp_jobs) == ({"node": 2}, None)


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("modify qos normal set GrpTRES=billing=4", "billing is not supported: must be of cpu, mem, node, gres/NAME"),
        ("modify account root set MaxTRESPerUser=cpu=4", "maxtresperuser is not supported"),
        ("modify account root set MaxJobsPerUser=4", "maxjobsperuser is not supported"),
        ("modify qos normal set GrpJobs=-2", "must be a number from 0, or -1 for no limit"),
        ("modify qos normal set flags=NoDecay", "flag nodecay is not supported"),
    ],
)
def test_limits_that_are_not_obeyed_are_refused(command: str, rule: str) -> None:
    """By name."""
    with pytest.raises(ConfigurationError, match=rule):
        read_accounts((command,))


@pytest.mark.parametrize("limit", ["MaxTRES=cpu=2", "GrpTRES=cpu=2", "MaxWall=1", "MaxTRESPerUser=cpu=2"])
def test_jobs_beyond_a_limit_alone_are_refused_by_a_qos_that_denies(limit: str) -> None:
    """Limits of groups are treated like those of a job."""
    commands = (*ACCOUNTS, f"modify qos high set {limit} flags=DenyOnLimit")
    slurm = controller(ENFORCED, commands=commands)
    with pytest.raises(SlurmRefusalError, match="violates accounting/QOS policy"):
        submit(slurm, "-J a -n 4 -t 2 -q high", user="ada")
    submit(slurm, "-J a -n 1 -t 1 -q high", user="ada")


def test_a_qos_may_exceed_the_bounds_of_a_partition() -> None:
    """With its flags."""
    bounded = "PartitionName=batch Nodes=n[1-4] Default=YES MaxTime=1 MaxNodes=1\n"
    flags = "modify qos high set flags=PartitionTimeLimit,PartitionMaxNodes"
    jobs = ("a -N 2 -t 5 -q high", "b -N 1 -t 5", "c -N 2 -t 1")
    assert reasons(flags, jobs=jobs, partitions=bounded) == {"b": "PartitionTimeLimit", "c": "PartitionNodeLimit"}


def test_a_qos_may_have_no_reservations() -> None:
    """Its job is passed by a shorter one that delays it."""
    flags = "modify qos high set flags=NoReserve"
    slurm = controller(f"{ENFORCED}\nSchedulerParameters=bf_interval=5", commands=(*ACCOUNTS, flags))
    for options in ("first -N 3 --exclusive -t 1", "wide -N 4 --exclusive -t 1 -q high", "long -N 1 --exclusive -t 9"):
        submit(slurm, f"-J {options}", user="ada")
    assert [job for job, _, _ in starts(slurm, 40)] == ["first", "long"]

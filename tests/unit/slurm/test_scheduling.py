"""Limits, preemption, reservations, priorities and the selection of nodes, in cases computed by hand."""

from __future__ import annotations

import pytest

from batsched_py.errors import ConfigurationError, SlurmRefusalError
from batsched_py.slurm.accounts import Accounts
from batsched_py.slurm.decisions import JobRequeue, JobStart, JobSuspension
from batsched_py.slurm.fair_share import association_usages, decay, fair_tree_shares
from batsched_py.slurm.sacctmgr import read_accounts
from tests.unit.slurm.clusters import PARTITION, controller, starts, submit

TIERS = "PartitionName=low Nodes=n[1-4] Default=YES\nPartitionName=high Nodes=n[1-4] PriorityTier=10\n"
ACCOUNTS = ("add cluster c", "add account phys", "add user alice account=phys", "add user bob account=phys")
LIMITS = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits,qos"


def test_tasks_fill_the_node_on_which_the_fewest_processors_are_left_over() -> None:
    """One task leaves three processors on n1; four tasks get a node of their own, three join the one."""
    slurm = controller()
    for options in ("-J one -n 1 -t 1", "-J four -n 4 -t 1", "-J three -n 3 -t 1"):
        submit(slurm, options)
    assert [nodes for _, _, nodes in starts(slurm, 10)] == ["n1", "n2", "n1"]


def test_a_limit_of_a_qos_keeps_a_job_but_not_those_behind_it() -> None:
    """Two jobs of a user may run; another user's starts beside them."""
    slurm = controller(LIMITS, commands=(*ACCOUNTS, "modify qos normal set MaxJobsPerUser=2"))
    for name, user in (("a1", "alice"), ("a2", "alice"), ("a3", "alice"), ("b1", "bob")):
        submit(slurm, f"-J {name} -n 1 -t 1", user=user)
    assert [job for job, _, _ in starts(slurm, 20)] == ["a1", "a2", "b1"]
    slurm.ended("a1", 20.5)
    assert [job for job, _, _ in starts(slurm, 30)] == ["a3"]


def test_users_without_association_are_refused_where_associations_are_enforced() -> None:
    """The message is that of Slurm."""
    with pytest.raises(SlurmRefusalError, match="Invalid account"):
        submit(controller(LIMITS, commands=ACCOUNTS), "-J a -n 1", user="carol")


def test_a_job_of_a_higher_tier_requeues_one_of_a_lower_tier() -> None:
    """The job that started first goes; it pends again until its credential has expired."""
    slurm = controller("PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nAuthInfo=cred_expire=5", TIERS)
    for name in ("l1", "l2", "l3", "l4"):
        submit(slurm, f"-J {name} -n 4 -t 9 -p low")
    slurm.advance(9)
    submit(slurm, "-J h -n 4 -t 1 -p high", 9.5)
    decisions = slurm.advance(12)
    assert [type(one).__name__ for one in decisions] == ["JobRequeue", "JobStart"]
    assert isinstance(decisions[0], JobRequeue)
    assert (decisions[0].job, decisions[1].job) == ("l1", "h")


def test_a_job_asks_no_second_time_until_its_victims_have_gone() -> None:
    """The victim has a time of grace: others are spared, and the plan holds the first node, not that of the victim."""
    tiers = TIERS.replace("Default=YES", "Default=YES GraceTime=60")
    slurm = controller(
        "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\nSchedulerParameters=bf_interval=5", tiers
    )
    for name in ("l1 -N 2", "l3 -N 1", "l4 -N 1"):
        submit(slurm, f"-J {name} -t 9 -p low --exclusive")
    slurm.advance(9)
    submit(slurm, "-J h -n 4 -t 1 -p high", 9.5)
    assert slurm.advance(60) == []
    assert slurm.backfill.last is not None
    assert [slurm.cluster.names(one.nodes) for one in slurm.backfill.last.plan] == ["n1"]
    assert [one.key for one in slurm.cluster.running if one.grace_until is not None] == ["l3"]
    stop, start = slurm.advance(100)
    assert isinstance(start, JobStart)
    assert (stop.job, start.job, start.nodes) == ("l3", "h", "n3")


def test_a_requeued_job_is_behind_those_of_its_priority_that_were_submitted_before_the_requeue() -> None:
    """Its submission is that of the requeue, in whole seconds."""
    parameters = "PriorityType=priority/multifactor\nAuthInfo=cred_expire=5"
    partition = "PartitionName=one Nodes=n1 Default=YES\n"
    slurm = controller(parameters, partition)
    submit(slurm, "-J requeued -n 4 -t 1")
    slurm.advance(9)
    submit(slurm, "-J waiting -n 4 -t 1", 9.5)
    slurm.action("scontrol requeue 1", 10.5)
    submit(slurm, "-J late -n 4 -t 1", 10.9)
    started = starts(slurm, 20)
    for name in ("waiting", "requeued"):
        slurm.ended(name, 30 if name == "waiting" else 45)
        started += starts(slurm, 40 if name == "waiting" else 60)
    assert [job for job, _, _ in started] == ["waiting", "requeued", "late"]


def test_gpu_jobs_of_one_task_take_the_first_node_and_larger_ones_the_fullest() -> None:
    """The first node is free, the second has three processors."""
    nodes = "NodeName=g[1-2] CPUs=8 Gres=gpu:2\nPartitionName=gpus Nodes=g[1-2]\n"
    for tasks, taken in ((1, "g1"), (2, "g2")):
        slurm = controller("GresTypes=gpu", PARTITION + nodes)
        slurm.action("scontrol update nodename=g1 state=drain", 0)
        submit(slurm, "-J other -n 5 -t 1 -p gpus")
        slurm.advance(9)
        slurm.action("scontrol update nodename=g1 state=resume", 10)
        submit(slurm, f"-J job -n {tasks} -t 1 -p gpus --gres=gpu:1", 11)
        assert [place for _, _, place in starts(slurm, 20)] == [taken]


def test_jobs_that_ask_for_it_share_cores_when_none_are_free() -> None:
    """Two on a core; a job that does not share waits for the last of them, whichever ends first."""
    parameters = "SchedulerParameters=bf_interval=5"
    for first, last in (("a", "c"), ("c", "a")):
        slurm = controller(parameters, "PartitionName=p Nodes=n[1-2] Default=YES OverSubscribe=YES:2\n")
        for name, share in (("a", True), ("b", True), ("c", True), ("alone", False), ("e", True)):
            submit(slurm, f"-J {name} -n {2 if name == 'e' else 4} -t 5{' --oversubscribe' if share else ''}")
        started = [("a", "n1"), ("b", "n2"), ("c", "n1"), ("e", "n2")]
        assert [(job, nodes) for job, _, nodes in starts(slurm, 30)] == started
        slurm.cluster.check()
        assert slurm.backfill.last is not None
        assert [(one.job, slurm.cluster.names(one.nodes)) for one in slurm.backfill.last.plan] == [("alone", "n1")]
        slurm.ended(first, 40)
        assert starts(slurm, 70) == []
        slurm.cluster.check()
        slurm.ended(last, 70)
        assert [(job, nodes) for job, _, nodes in starts(slurm, 80)] == [("alone", "n1")]
        slurm.cluster.check()


def test_with_gang_scheduling_a_preempted_job_is_suspended_and_resumes() -> None:
    """It keeps its nodes, and its limit moves by the time of the suspension."""
    slurm = controller("PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG", TIERS)
    submit(slurm, "-J low -N 4 -n 16 -t 1 -p low")
    slurm.advance(9)
    submit(slurm, "-J high -n 4 -t 1 -p high", 9.5)
    suspension, start = slurm.advance(12)
    assert isinstance(start, JobStart)
    assert suspension == JobSuspension("low", start.at, True)
    slurm.ended("high", 30)
    assert slurm.advance(30) == [JobSuspension("low", 30, False)]
    assert next(iter(slurm.cluster.running)).limit_end == 6 + 60 + 30 - start.at
    slurm.cluster.check()


def test_a_reservation_keeps_its_nodes_for_its_users() -> None:
    """A job whose limit reaches into it gets other nodes; one of its users runs inside once it has begun."""
    slurm = controller()
    slurm.action(
        "scontrol create reservation reservationname=r starttime=now+60 duration=5 nodes=n[1-2] users=alice", 0
    )
    submit(slurm, "-J other -n 4 -t 2", user="bob")
    submit(slurm, "-J inside -n 4 -t 2 --reservation=r", user="alice")
    assert [(job, nodes) for job, _, nodes in starts(slurm, 50)] == [("other", "n3")]
    slurm.ended("other", 50)
    assert [(job, nodes) for job, _, nodes in starts(slurm, 130)] == [("inside", "n1")]
    with pytest.raises(SlurmRefusalError, match="Access denied"):
        submit(slurm, "-J b -n 1 --reservation=r", 130, user="bob")


def test_a_reservation_of_busy_nodes_is_refused() -> None:
    """A job may run on n1 until its limit; with ignore_jobs the reservation is made, and only maint may overlap it."""
    slurm = controller()
    submit(slurm, "-J a -n 4 -t 2")
    slurm.advance(9)
    create = "scontrol create reservation reservationname={} starttime=now+60 duration=5 nodes=n1 users=alice flags={}"
    for name, flags in (("r", ""), ("s", "maint")):
        with pytest.raises(SlurmRefusalError, match="Requested nodes are busy"):
            slurm.action(create.format(name, flags), 10)
    slurm.action(create.format("r", "ignore_jobs"), 10)
    with pytest.raises(SlurmRefusalError, match="Requested nodes are busy"):
        slurm.action(create.format("s", "ignore_jobs"), 10)
    slurm.action(create.format("s", "ignore_jobs,maint"), 10)
    assert len(slurm.cluster.reservations.all) == 2


def test_a_dependency_on_no_job_is_refused() -> None:
    """The message is that of Slurm."""
    with pytest.raises(SlurmRefusalError, match="Job dependency problem"):
        submit(controller(), "-J a -n 1 --dependency=afterok:7")


def test_small_nodes_are_left_out_if_a_job_of_few_nodes_does_not_fit_with_them() -> None:
    """The block n[2-4] has enough processors, but from its low end two nodes have only six."""
    slurm = controller()
    for options in ("-J a -n 4 -t 1", "-J b -n 2 -t 1", "-J c -N 2 -n 8 -t 1"):
        submit(slurm, options)
    assert [nodes for _, _, nodes in starts(slurm, 20)] == ["n1", "n2", "n[3-4]"]


def test_a_dependency_opens_when_the_other_job_has_ended_well() -> None:
    """After a failure it is never satisfied."""
    slurm = controller()
    first = submit(slurm, "-J first -n 1 -t 1")
    submit(slurm, f"-J then -n 1 -t 1 --dependency=afterok:{first}")
    submit(slurm, f"-J never -n 1 -t 1 --dependency=afternotok:{first}")
    assert [job for job, _, _ in starts(slurm, 10)] == ["first"]
    slurm.ended("first", 10)
    assert [job for job, _, _ in starts(slurm, 200)] == ["then"]


def test_size_counts_half_by_nodes_and_half_by_processors() -> None:
    """One node of four and one processor of sixteen are 0.15625 of 10000; nice is subtracted."""
    slurm = controller("PriorityType=priority/multifactor\nPriorityWeightJobSize=10000")
    submit(slurm, "-J a -N 1 -n 1 --nice=100")
    assert slurm.cluster.pending[0].priority == 1562 - 100


def test_memory_has_no_weight_where_nodes_have_none() -> None:
    """RealMemory=0 is less than a megabyte: the part that a job asks for cannot be computed."""
    partitions = "NodeName=m CPUs=4 RealMemory=0\nPartitionName=p Nodes=m Default=YES\n"
    slurm = controller("PriorityType=priority/multifactor\nPriorityWeightTRES=cpu=1000,mem=500", partitions)
    submit(slurm, "-J a -n 1")
    assert slurm.cluster.pending[0].priority == 250


def test_usage_counts_the_hardware_threads_of_each_node() -> None:
    """A node of four cores with two threads each costs twice as much as one of four cores with one."""
    wide = "NodeName=m CPUs=8 CoresPerSocket=4 ThreadsPerCore=2\n"
    parameters = "PriorityType=priority/multifactor\nAccountingStorageType=accounting_storage/slurmdbd\n"
    parameters += "PriorityDecayHalfLife=0"
    accounts = ("add account p", "add user ada account=p", "add user bob account=p")
    slurm = controller(parameters, f"{wide}{PARTITION}PartitionName=wide Nodes=m\n", accounts)
    for user, partition in (("ada", "batch"), ("bob", "wide")):
        submit(slurm, f"-n 1 -t 60 --exclusive -p {partition}", user=user)
    assert len(starts(slurm, 660)) == 2
    ada, bob = (slurm.cluster.accounts.by_user[user][0].usage for user in ("ada", "bob"))
    assert bob == pytest.approx(2 * ada)
    assert ada > 4 * 300


def test_fair_tree_ranks_users_below_the_account_that_used_less() -> None:
    """Without usage all are first; with usage of alice, users of other accounts are before bob, and he before her."""
    accounts = Accounts()
    for account, users in (("a", ("alice", "bob")), ("b", ("carol",))):
        accounts.add_account(account, "root")
        for user in users:
            accounts.add_user(user, account)

    def ranks() -> list[float | None]:
        shares = fair_tree_shares(accounts, association_usages(accounts))
        return [shares[id(accounts.by_user[user][0])].factor for user in ("root", "carol", "bob", "alice")]

    assert ranks() == [1.0] * 4
    accounts.by_user["alice"][0].usage = 100.0
    assert ranks() == [1.0, 1.0, 0.5, 0.25]
    decay(accounts, 60, 60)
    assert accounts.by_user["alice"][0].usage == 50


RESERVE = "scontrol create reservation reservationname=r starttime=now duration=1 users=alice"


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        (
            "scontrol create reservation reservationname=r starttime=2030-01-01 duration=1 nodes=n1",
            "starttime must be now",
        ),
        ("scontrol create reservation reservationname=r duration=1 nodes=n1", "a reservation must have starttime"),
        (
            f"{RESERVE} nodes=n1 licenses=lic:-5",
            "must be different licences such as .*, with counts from 1",
        ),
        (f"{RESERVE} nodes=n1 licenses=nope:7", "must be licences of the configuration, which has 0 of 'nope'"),
        (f"{RESERVE} nodes=n1 licenses=lic:50", "must be licences of the configuration, which has 2 of 'lic'"),
        (f"{RESERVE} nodes=n1 nodes=n2", "nodes is given twice"),
        (f"{RESERVE.replace('=1 ', '=0 ')} nodes=n1", "duration must be longer than 0"),
        (f"{RESERVE},-bob nodes=n1", "names with - are not supported"),
        (RESERVE, "a reservation must have nodes or licenses"),
        (f"{RESERVE.removesuffix('users=alice')} nodes=n1", "a reservation must have users or accounts"),
        ("scontrol delete reservationname=r", "there is no reservation r"),
        ("scontrol update nodename=n1 state=drain weight=5", "update of weight is not supported"),
        ("scontrol update nodename=n1 state=drain now", "must have options NAME=VALUE, not now"),
        ("scontrol", "is not supported"),
        ("scancel", "Invalid job id specified"),
    ],
)
def test_a_command_is_obeyed_whole_or_refused(command: str, rule: str) -> None:
    """No part of it is dropped."""
    with pytest.raises(SlurmRefusalError, match=rule):
        controller("Licenses=lic:2").action(command, 10)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("priority=5 Priority=6", "Priority is given twice"),
        ("priority=-5", "priority must be a whole number from 1: hold jobs with scontrol hold"),
        ("priority=0", "priority must be a whole number from 1"),
        ("timelimit=0", "timelimit must be longer than 0"),
        ("numnodes=0", "numnodes must be a number from 1, or a range such as 2-4, not 0"),
        ("numnodes=3-2", "numnodes must be a number from 1"),
        ("numnodes=-2", "numnodes must be a number from 1"),
    ],
)
def test_an_update_with_a_wrong_value_is_refused(change: str, rule: str) -> None:
    """The job stays as it was."""
    slurm = controller()
    number = submit(slurm, "-n 1 -t 5")
    with pytest.raises(SlurmRefusalError, match=rule):
        slurm.action(f"scontrol update jobid={number} {change}", 10)


def test_a_reservation_has_a_name_of_its_own() -> None:
    """It would otherwise be deleted with another one."""
    slurm = controller()
    slurm.action(f"{RESERVE} nodes=n1", 0)
    with pytest.raises(SlurmRefusalError, match="there is a reservation r already"):
        slurm.action(f"{RESERVE} nodes=n2", 1)
    slurm.action("scontrol delete reservationname=r", 2)
    slurm.action(f"{RESERVE} nodes=n2", 3)


def test_commands_are_for_all_jobs_that_they_name() -> None:
    """Separated by blanks or commas."""
    slurm = controller()
    numbers = [submit(slurm, "-n 1 -t 5 --hold") for _ in range(3)]
    slurm.action(f"scontrol release {numbers[0]} {numbers[1]}", 10)
    slurm.action(f"scancel {numbers[1]} {numbers[2]}", 10)
    assert len(starts(slurm, 60)) == 1
    assert [slurm.cluster.jobs[number][0].state for number in numbers] == ["RUNNING", "CANCELLED", "CANCELLED"]


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("modify user ada where account=p set maxjobs=0", "must be modify user NAME set OPTIONS"),
        ("modify account p set parent=q", "parent is not supported"),
        ("modify user ada set maxjobs+=5", r"maxjobs\+= is not supported: must be maxjobs=VALUE"),
    ],
)
def test_a_command_of_sacctmgr_is_obeyed_whole_or_refused(command: str, rule: str) -> None:
    """The number of the command is named."""
    with pytest.raises(ConfigurationError, match=rf"command 3: .*{rule}"):
        read_accounts(("add account p", "add user ada account=p", command))

"""Passes that would decide nothing are not run: the decisions are those of a controller that runs all of them."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.errors import SlurmRefusalError
from batsched_py.slurm.backfill import BackfillPass, BackfillScheduler
from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.decisions import Decision
from batsched_py.slurm.pass_outcome import PassOutcome
from batsched_py.slurm.pass_tests import PassTests
from batsched_py.slurm.queue import Candidate
from tests.thoroughness import thorough
from tests.unit.slurm.clusters import controller, submit

#: Parameters of clusters: both selections, priorities that change, limits of passes, licences and preemption.
PARAMETERS = st.sampled_from(
    [
        "SelectType=select/linear",
        "SchedulerParameters=bf_interval=20,default_queue_depth=2,bf_max_job_test=3",
        "SchedulerParameters=bf_window=2,bf_resolution=30,bf_min_age_reserve=40",
        "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityWeightJobSize=90\nPriorityCalcPeriod=1\n"
        "PriorityMaxAge=5\nAccountingStorageType=accounting_storage/slurmdbd",
        "SchedulerParameters=bf_licenses\nLicenses=l:2",
        "Licenses=l:2\nSchedulerParameters=partition_job_depth=1,bf_interval=45",
        "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nAuthInfo=cred_expire=9",
    ]
)
PARTITIONS = "PartitionName=batch Nodes=n[1-4] Default=YES\nPartitionName=high Nodes=n[3-4] PriorityTier=2\n"
#: Seconds until it, nodes, minutes of limit, seconds of run time, partition, and other options.
JOBS = st.tuples(
    st.integers(0, 90),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(5, 300),
    st.sampled_from(["batch", "high", "batch,high"]),
    st.sampled_from(["", "-n 6", "--exclusive", "-L l:2", "--begin=now+100", "--deadline=now+200"])
    | st.integers(1, 4).flatmap(
        lambda job: st.sampled_from([f"--dependency={kind}:{job}" for kind in ("afterok", "after", "afternotok")])
    ),
)
COMMANDS = st.lists(
    st.tuples(
        st.integers(0, 400),
        st.sampled_from(
            [
                "scontrol hold 2",
                "scontrol release 2",
                "scontrol update jobid=3 timelimit=9",
                "scontrol update jobid=1 priority=7",
                "scontrol update nodename=n2 state=drain",
                "scontrol update nodename=n2 state=resume",
                "scancel 4",
                "scontrol create reservation reservationname=r starttime=now+60 duration=2 nodes=n1 users=root",
            ]
        ),
    ),
    max_size=4,
)


def play(parameters: str, jobs: list[tuple[int, int, int, int, str, str]], commands: list[tuple[int, str]]) -> object:
    """The decisions, with jobs that end after their run times, and the reasons in the end."""
    slurm = controller(parameters, PARTITIONS)
    at, events = 0, list[tuple[float, int, str]]()
    for number, (gap, nodes, minutes, _, partition, options) in enumerate(jobs):
        at += gap
        events.append((at, number, f"-J j{number} -N {nodes} -t {minutes} -p {partition} {options}"))
    events += [(instant, 100 + number, command) for number, (instant, command) in enumerate(commands)]
    found, ends, now = list[Decision](), dict[str, float](), 0.0
    while now < 2000:
        now = min([event[0] for event in events] + list(ends.values()) + [slurm.next_decision(), now + 500])
        found += slurm.advance(now, is_open=True)
        running = {job.key: job for job in slurm.cluster.running}
        for key in [key for key, end in ends.items() if end <= now or key not in running]:
            del ends[key]
            if key in running and running[key] not in slurm.cluster.completing:
                slurm.ended(key, now)
        for event in sorted(event for event in events if event[0] <= now):
            events.remove(event)
            with suppress(SlurmRefusalError):
                if event[2].startswith("-J"):
                    submit(slurm, event[2], now)
                else:
                    found += slurm.action(event[2], now)
        found += slurm.advance(now)
        for job in slurm.cluster.running:
            ends.setdefault(job.key, now + jobs[int(job.key[1:])][3])
        slurm.cluster.check()
    return found, [(job.key, job.state, job.priority) for jobs in slurm.cluster.jobs.values() for job in jobs]


@given(PARAMETERS, st.lists(JOBS, min_size=1, max_size=9), COMMANDS)
@settings(max_examples=thorough(60), deadline=None)
def test_the_decisions_are_those_of_all_passes(
    parameters: str, jobs: list[tuple[int, int, int, int, str, str]], commands: list[tuple[int, str]]
) -> None:
    """Each pass is run, on a queue that is looked at anew, at each of its instants."""
    found = play(parameters, jobs, commands)
    candidates = ClusterState.candidates

    def anew(cluster: ClusterState, now: float) -> list[Candidate]:
        cluster.queue.note_changes()
        return candidates(cluster, now)

    with ExitStack() as changed:
        changed.enter_context(patch.object(PassOutcome, "holds", lambda *_: False))
        changed.enter_context(patch.object(ClusterState, "candidates", anew))
        assert play(parameters, jobs, commands) == found


WHOLE_PARAMETERS = (
    "bf_interval=30",
    "bf_interval=45,bf_resolution=300",
    "bf_interval=20,bf_window=20",
    "bf_interval=10,bf_max_job_test=6",
)


def whole_jobs(seed: int) -> list[tuple[int, int, int, int, str]]:
    """Seconds until each job of whole nodes, its nodes, minutes of limit, per cent of it that it runs, partition."""
    draw = Random(seed)
    gap, partitions = draw.choice([20, 60, 200]), draw.choice([["batch"], ["batch", "batch", "alone", "alone,batch"]])
    return [
        (
            int(draw.expovariate(1 / gap)),
            min(12, 1 + int(draw.expovariate(1 / draw.choice([2, 4])))),
            draw.choice([1, 2, 5, 10, 30, 60, 240]),
            draw.choice([5, 30, 60, 95, 100, 130]),
            draw.choice(partitions),
        )
        for _ in range(60)
    ]


def plans(parameters: str, jobs: list[tuple[int, int, int, int, str]]) -> tuple[list[Decision], list[object]]:
    """The decisions on jobs of whole nodes, and what each pass of backfill has tested and planned, if it is new."""
    conf = f"SelectType=select/linear\nSchedulerParameters={parameters}\nNodeName=m[1-12] CPUs=4"
    partitions = (
        "PartitionName=batch Nodes=n[1-4],m[1-12] Default=YES\nPartitionName=alone Nodes=m[1-12] ExclusiveUser=YES\n"
    )
    slurm, found, seen = controller(conf, partitions), list[Decision](), list[object]()
    run = BackfillScheduler.run

    def noted(backfill: BackfillScheduler, now: float) -> PassOutcome:
        outcome, last = run(backfill, now), backfill.last
        assert isinstance(last, BackfillPass)
        if not seen or seen[-1] != (last.plan, last.tested):
            seen.append((last.plan, last.tested))
        return outcome

    at, arrivals, ends, now = 0, list[tuple[int, str, str]](), dict[str, float](), 0.0
    for number, (gap, nodes, minutes, _, partition) in enumerate(jobs):
        at += gap
        arrivals.append((at, f"-J j{number} -N {nodes} -t {minutes} -p {partition}", "ab"[number % 2]))
    with patch.object(BackfillScheduler, "run", noted):
        while now < 50_000:
            now = min([arrival[0] for arrival in arrivals] + [*ends.values(), slurm.next_decision(), now + 1_000])
            assert not slurm.advance(now, is_open=True)
            for job in [job for job in slurm.cluster.running if ends.get(job.key, now + 1) <= now]:
                slurm.ended(job.key, now)
            while arrivals and arrivals[0][0] <= now:
                _, options, user = arrivals.pop(0)
                with suppress(SlurmRefusalError):
                    submit(slurm, options, now, user)
            found += slurm.advance(now)
            ends = {
                job.key: ends.get(job.key, now + 0.6 * job.limit * jobs[int(job.key[1:])][3])
                for job in slurm.cluster.running
            }
            if not (arrivals or slurm.cluster.running or slurm.cluster.pending):
                break
    return found, seen


@pytest.mark.parametrize("parameters", WHOLE_PARAMETERS)
def test_plans_of_whole_nodes_are_those_of_tests_made_anew(parameters: str) -> None:
    """Starts and early ends of jobs leave most tests as they are: it is as if each pass tested all jobs again."""
    for seed in range(thorough(2)):
        found = plans(parameters, whole_jobs(seed))
        with ExitStack() as changed:
            changed.enter_context(patch.object(PassOutcome, "holds", lambda *_: False))
            changed.enter_context(patch.object(PassTests, "find", lambda *_, **__: None))
            assert plans(parameters, whole_jobs(seed)) == found, seed

"""Whole runs of jobs that request parts of hosts: no capacity is ever exceeded, whatever the algorithm."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.model.demand import TaskDemand
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.plugins import load
from batsched_py.protocol.dialect import V4
from batsched_py.protocol.dialects import V5
from tests.drawing import drawn
from tests.integration.packed_runs import JOBS, packed_workload, run_packed
from tests.integration.variants import EACH, SPECIAL, VARIANTS

#: Algorithms that place tasks, one variant of each, and with each selection.
PLACING: list[tuple[str, dict[str, str]]] = [
    *((name, options) for name, options in EACH if load(name).places_tasks),
    *(("filler", {"packing": packing}) for packing in PACKED_SELECTIONS),
    ("filler", {"order": "desc_size"}),
    ("fcfs", {"constraint": "query", "packing": "fgd"}),
    *((name, options) for name, options in SPECIAL if "sleeper" in name or name in ("energy_budget", "killer")),
    ("energy_budget", {"power_cap": "460"}),
    ("energy_budget", {"power_cap": "460", "shutdown": "true", "idle_time": "0", "packing": "worst_fit"}),
    ("energy_budget", {"power_cap": "500", "energy": "45000", "period": "100", "backfill_order": "sjf"}),
]
#: Algorithms for tests that end a run, or end and refuse jobs, on purpose.
WILFUL = ("crasher", "killer", "rejecter")
#: Algorithms that know hosts only, one variant of each.
OTHERS = [(name, options) for name, options in EACH if (name, options) in VARIANTS and not load(name).places_tasks]


@pytest.mark.parametrize(("name", "options"), PLACING)
def test_no_capacity_is_exceeded_and_all_jobs_run(name: str, options: dict[str, Any]) -> None:
    """The checker counts by the messages; each job can run, and does."""
    if name == "crasher":
        options = {"message": "1000"}
    for specs in drawn(JOBS, 8):
        workload = packed_workload(specs)
        result, session, _ = run_packed(name, options, workload)
        refused = session.plan.rejections
        own = [record for record in result.jobs if record.job.workload == "dynamic"]
        assert len(result.jobs) - len(own) == len(workload.jobs)
        if name in WILFUL:
            continue
        assert {record.state for record in result.jobs if record.job.id not in refused} <= {
            "COMPLETED_SUCCESSFULLY",
            "COMPLETED_WALLTIME_REACHED",
        }
        if "power_cap" not in options and "energy" not in options:
            assert all("fit" in why or "on the idle machine" in why for why in refused.values())


@pytest.mark.parametrize(("name", "options"), OTHERS)
def test_algorithms_that_know_hosts_only_give_whole_hosts(name: str, options: dict[str, Any]) -> None:
    """They waste what they do not know, and exceed nothing."""
    for specs in drawn(JOBS, 4):
        _, _, checker = run_packed(name, options, packed_workload(specs))
        assert checker.shared == 0


@pytest.mark.parametrize("settings", [{}, {"compute_sharing": True}])
def test_batsim_5_reads_the_same_starts(settings: dict[str, Any]) -> None:
    """The mapping of executors is there in both protocols."""
    for specs in drawn(JOBS, 4):
        runs = [run_packed("filler", {}, packed_workload(specs), dialect, **settings)[0] for dialect in (V4, V5)]
        first, second = ([(one.job.id, one.start, one.hosts) for one in run.jobs] for run in runs)
        assert sorted(first) == sorted(second)


def test_small_tasks_share_a_host() -> None:
    """Eight tasks of half a core run at once, on the host with the least left."""
    workload = packed_workload([(0, 4, 5, 9, TaskDemand(cores=500), False, 0)] * 2)
    result, _, checker = run_packed("fcfs", {}, workload)
    assert [record.start for record in result.jobs] == [0, 0]
    assert checker.shared > 0
    assert len({record.hosts for record in result.jobs}) == 1


def test_a_job_with_more_tasks_than_hosts_runs_if_they_fit() -> None:
    """Its size is the number of its tasks, which is more than that of the hosts."""
    specs = [(0, 9, 5, 9, TaskDemand(cores=2000), False, 0)]
    result, _, _ = run_packed("fcfs", {}, packed_workload(specs))
    assert [record.state for record in result.jobs] == ["COMPLETED_SUCCESSFULLY"]
    _, session, _ = run_packed("ar_preempt", {}, packed_workload(specs))
    assert session.plan.rejections == {"w0!000": "needs 9 hosts, the platform has 4"}


def test_demands_that_no_host_can_meet_are_rejected_in_one_line() -> None:
    """With the resource, what is requested and what there is."""
    tasks = [
        TaskDemand(gpus=9),
        TaskDemand(cores=17_000),
        TaskDemand(memory=2001),
        TaskDemand(others=(("fpga", 3),)),
        TaskDemand(gpus=1, models=("A100",)),
        TaskDemand(cores=16_000),
    ]
    for algorithm in ("fcfs", "ar_preempt"):
        workload = packed_workload([(0, 2 if task.cores == 16_000 else 1, 1, 9, task, False, 0) for task in tasks])
        _, session, _ = run_packed(algorithm, {}, workload)
        assert session.plan.rejections == {
            "w0!000": "needs 9 GPUs on one host, the largest has 4",
            "w0!001": "needs 17 cores on one host, the largest has 16",
            "w0!002": "needs 2001 MiB on one host, the largest has 2000 MiB",
            "w0!003": "needs 3 fpga on one host, the largest has 2",
            "w0!004": "needs GPUs of model A100 on one host, and no host with enough else has them",
            "w0!005": "has 2 tasks, on the idle machine 1 fit",
        }


def test_a_cap_counts_a_shared_host_once() -> None:
    """Two jobs on one host add what one adds, and a third one on another host has to wait."""
    task = TaskDemand(cores=2000)
    workload = packed_workload(
        [(0, 1, 9, 9, task, False, 0), (1, 1, 9, 9, task, False, 0), (2, 1, 5, 9, None, False, 0)]
    )
    result, _, _ = run_packed("energy_budget", {"power_cap": "330"}, workload)
    jobs = sorted(result.jobs, key=lambda record: record.job.id)
    assert [round(record.start) for record in jobs] == [0, 1, 10]
    assert len({record.hosts for record in jobs[:2]}) == 1


def test_a_sleeping_host_is_woken_for_the_tasks_that_only_it_can_run() -> None:
    """And no other; hosts with tasks stay awake."""
    gpus = TaskDemand(gpus=3)
    for name in ("sleeper", "easy_idle_sleeper", "easy_subpart_sleeper", "energy_budget"):
        options = {
            "easy_idle_sleeper": {"idle_time": "0"},
            "easy_subpart_sleeper": {"awake": "0"},
            "energy_budget": {"shutdown": "true", "idle_time": "0"},
        }.get(name, {})
        jobs = [(0, 1, 9, 12, TaskDemand(cores=500), False, 0), (8, 1, 5, 9, gpus, False, 0)]
        result, _, checker = run_packed(name, options, packed_workload(jobs))
        assert checker.slept, name
        assert [record.state for record in result.jobs] == ["COMPLETED_SUCCESSFULLY"] * 2, name
        assert str(result.jobs[1].hosts) == "3", name

"""Whole runs of jobs that request parts of hosts: no capacity is ever exceeded, whatever the algorithm."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import OptionError
from batsched_py.model.demand import TaskDemand
from batsched_py.model.workload import Workload
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.plugins import load
from batsched_py.protocol.dialect import V4
from batsched_py.protocol.dialects import V5
from batsched_py.schedulers import BUILT_INS
from tests.drawing import drawn
from tests.integration.packed_runs import JOBS, TASKS, packed_workload, run_packed
from tests.integration.variants import EACH, SPECIAL
from tests.thoroughness import thorough

#: Algorithms with several variants here.
SPECIALISTS = ("energy_budget", "killer", "leases")
#: Algorithms that place tasks, one variant of each, and with each selection.
PLACING: list[tuple[str, dict[str, str]]] = [
    *((name, options) for name, options in EACH if load(name).places_tasks),
    *(("filler", {"packing": packing}) for packing in PACKED_SELECTIONS),
    ("filler", {"order": "desc_size"}),
    ("fcfs", {"constraint": "query", "packing": "fgd"}),
    *(
        (name, options)
        for name, options in SPECIAL
        if "sleeper" in name or name in ("energy_budget", "killer", "leases")
    ),
    *(("placer", {"place": name, "alternatives": "2"}) for name in ("random", "round-robin")),
    ("placer", {"staleness": "5", "keep": "next", "retries": "2"}),
    ("placer", {"refuse": "0.2", "pause": "2"}),
    ("easy_dvfs", {"policy": "slowest", "speeds": "1e9,5e8,1,1,1"}),
    ("energy_budget", {"power_cap": "460"}),
    ("energy_budget", {"power_cap": "460", "shutdown": "true", "idle_time": "0", "packing": "worst_fit"}),
    ("energy_budget", {"power_cap": "500", "energy": "45000", "period": "100", "backfill_order": "sjf"}),
]
#: Algorithm -> beginnings of the reasons for which it refuses demands that it documents as not supported.
REFUSALS = {"slurm": ("demand.gpu_share: must be 1", "demand.gpu_models: must have one", "demand.others: needs demand")}
#: Algorithms that end or refuse jobs by rules of their own.
WILFUL = ("crasher", "killer", "rejecter")
#: An algorithm that knows hosts only.
HOSTS_ONLY = str(Path(__file__).with_name("hosts_only.py"))


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
            fitting = [why for why in refused.values() if not why.startswith(REFUSALS.get(name, ("?",)))]
            assert all("fit" in why or "on the idle machine" in why for why in fitting)


def test_algorithms_that_know_hosts_only_give_whole_hosts() -> None:
    """They waste what they do not know, and exceed nothing."""
    for specs in drawn(JOBS, 4):
        _, _, checker = run_packed(HOSTS_ONLY, {}, packed_workload(specs))
        assert checker.shared == 0


def test_all_built_in_algorithms_place_tasks() -> None:
    """None of them wastes hosts."""
    assert all(load(name).places_tasks for name in BUILT_INS)


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
    _, session, _ = run_packed(HOSTS_ONLY, {}, packed_workload(specs))
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
    for algorithm in ("fcfs", HOSTS_ONLY):
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


def reserved(seed: int) -> list[tuple[Any, Any]]:
    """Jobs as in JOBS, each with its `lease`: None, "now", or seconds from its submission."""
    chance = Random(seed)
    found = []
    for _ in range(15):
        task, run = chance.choice(TASKS), chance.randint(1, 9)
        specs = (chance.randint(0, 12), chance.randint(1, 3), run, run + chance.randint(0, 3), task, False, 0)
        found.append((specs, chance.choice((None, None, None, "now", 0, 3, 8))))
    return found


def with_leases(drawn_jobs: list[tuple[Any, Any]]) -> Workload:
    """Jobs of which some are reservations, that many seconds after their submission."""
    workload = packed_workload([specs for specs, _ in drawn_jobs])
    jobs = []
    for job in workload.jobs:
        ahead = drawn_jobs[int(job.id)][1]
        start = ahead if ahead == "now" or ahead is None else job.submit_time + ahead
        jobs.append(job if start is None else replace(job, members={**job.members, "lease": {"start": start}}))
    return replace(workload, jobs=tuple(jobs))


@pytest.mark.parametrize("options", [{}, {"depth": "3", "margin": "1", "victims": "oldest"}, {"preempt": "none"}])
def test_reservations_start_on_time_among_tasks(options: dict[str, str]) -> None:
    """Best-effort tasks give back what they held; no capacity is exceeded, and accepted reservations start."""
    stopped = 0
    for seed in range(thorough(12)):
        workload = with_leases(reserved(seed))
        result, session, _ = run_packed("ar_preempt", options, workload, dynamic_jobs=True)
        for record in result.jobs:
            start = record.job.members.get("lease", {}).get("start")
            stopped += "#" in record.job.id
            if record.job.id in session.plan.rejections:
                continue
            assert record.hosts
            if isinstance(start, (int, float)):
                assert record.start == pytest.approx(start, abs=1e-3)
    assert (stopped > 0) == ("preempt" not in options)


def test_all_jobs_on_a_host_are_stopped_for_a_reservation_of_its_gpus() -> None:
    """Reserved is the whole host; once the tasks have started, others share it."""
    gpus = [TaskDemand(gpus=number, models=("V100",)) for number in (2, 2, 3, 1)]
    workload = packed_workload([(0, 1, 9, 9, gpus[0], False, 0), (0, 1, 9, 9, gpus[1], False, 0),
                                (1, 1, 9, 9, gpus[2], False, 0), (2, 1, 2, 9, gpus[3], False, 0)])  # fmt: skip
    jobs = [replace(job, members={**job.members, **({"lease": {"start": 5}} if job.id == "002" else {})})
            for job in workload.jobs]  # fmt: skip
    result, _, _ = run_packed("ar_preempt", {}, replace(workload, jobs=tuple(jobs)), dynamic_jobs=True)
    starts = {record.job.id.partition("!")[2]: round(record.start, 2) for record in result.jobs}
    assert starts["002"] == 5
    assert {"000", "001", "000#1", "001#1"} <= starts.keys()
    assert starts["003"] == 5
    assert starts["000#1"] == 14


def test_tasks_compute_at_full_speed_and_a_cap_on_them_is_refused() -> None:
    """A host that a slow job has left is switched before tasks start there; the option is named."""
    jobs = [(0, 4, 5, 50, None, False, 0), (6, 1, 5, 9, TaskDemand(cores=500), False, 0)]
    result, _, checker = run_packed("easy_dvfs", {"policy": "fixed", "pstate": "1"}, packed_workload(jobs))
    assert [record.state for record in result.jobs] == ["COMPLETED_SUCCESSFULLY"] * 2
    assert checker.states == ["1", "0"]
    with pytest.raises(OptionError, match="power_cap counts jobs with whole hosts"):
        run_packed("easy_dvfs", {"power_cap": "700"}, packed_workload(jobs))

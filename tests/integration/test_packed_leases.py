"""Leases of jobs that request parts of hosts: with all terms and options, no capacity is ever exceeded."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.model.demand import TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.workload import Workload
from tests.integration.packed_runs import TASKS, Checker, packed_workload, run_packed
from tests.thoroughness import thorough

#: Capacities of nodes of leases, for jobs without demands: parts of hosts, and GPUs.
CAPACITIES: list[dict[str, Any] | None] = [
    None,
    {"cpu": 50, "memory": 100},
    {"cpu": 400},
    {"cpu": 100, "memory": 300, "fpga": 1},
    {"cpu": 200, "gpus": 2},
]
#: Options of leases.
VARIANTS: list[dict[str, str]] = [
    {},
    {
        "backfilling": "conservative",
        "policy_preemption": "ar-preempts-everything",
        "suspend_rate": "1e4",
        "resume_rate": "1e4",
    },
    {"backfilling": "off", "policy_preemption": "deadline", "victim_order": "oldest"},
    {"backfilling": "conservative", "policy_preemption": "deadline", "migration": "yes", "override_suspend_time": "1"},
    {"policy_preemption": "ar-preempts-everything", "suspension": "none", "shutdown_time": "1"},
    {
        "policy_preemption": "ar-preempts-everything",
        "unneeded_victims": "stop",
        "policy_host_selection": "no-policy",
        "override_suspend_time": "0",
        "override_resume_time": "0",
    },
]


class LeaseChecker(Checker):
    """The same sums, with those of leases without demands, which may be next to tasks if hosts are shared."""

    terms: Mapping[str, Any] = {}

    def _check_host(self, host: int, cores: int, properties: dict[str, str]) -> None:
        there = [command for command in self._running.values() if host in command.hosts]
        plain = [command for command in there if not command.places]
        if any(self._capacity(command.job_id) is None for command in plain):
            assert len(there) == 1
            return
        used = dict.fromkeys(("cpu", "memory", "fpga", "gpus"), 0.0)
        for command in plain:
            positions = list(command.mapping.values()) if command.mapping else list(range(len(command.hosts)))
            nodes = positions.count(list(command.hosts).index(host))
            for name, amount in (self._capacity(command.job_id) or {}).items():
                used[name] += amount * nodes
        for command in there:
            task = self._demand(command.job_id).task
            for place in command.places:
                if place.host == host:
                    assert not task.exclusive or len(there) == 1
                    used["cpu"] += task.cores * place.tasks / 10
                    used["memory"] += task.memory * place.tasks
                    used["fpga"] += dict(task.others).get("fpga", 0) * place.tasks
                    used["gpus"] += 0 if task.exclusive else task.gpus * task.share * place.tasks / 1000
        assert used["cpu"] <= cores * 100
        assert used["memory"] <= int(properties["mem"])
        assert used["fpga"] <= (2 if "capacity" in properties else 0)
        assert used["gpus"] <= int(properties.get("gpus", "0"))
        self.shared += bool(plain) and len(plain) < len(there)
        running = self._running
        self._running = {name: command for name, command in running.items() if command.places}
        super()._check_host(host, cores, properties)
        self._running = running

    def _check_tasks(self, command: Any) -> None:
        if command.places or self._capacity(command.job_id) is None:
            super()._check_tasks(command)
        else:
            assert len(command.mapping or command.hosts) == self._jobs[command.job_id.partition("#")[0]].size

    def _capacity(self, job_id: str) -> dict[str, Any] | None:
        job = self._jobs[job_id.partition("#")[0]]
        lease = job.members.get("lease") or {}
        return None if job.demand is not None else lease.get("capacity")


def drawn_leases(seed: int) -> Workload:
    """Jobs with demands and without, best effort, in advance, immediate, with deadlines, and in groups."""
    chance, specs, terms = Random(seed), [], []
    for _ in range(14):
        run = chance.randint(1, 9)
        task = chance.choice(TASKS)
        size = chance.randint(1, 3)
        specs.append((chance.randint(0, 12), size, run, run + chance.randint(0, 3), task, chance.random() < 0.3,
                      chance.choice((0, 0, 1))))  # fmt: skip
        wanted: dict[str, Any] = chance.choice(
            ({}, {}, {"start": "now"}, {"start": f"+{chance.randint(0, 9)}"}, {"deadline": f"+{chance.randint(9, 30)}"},
             {"group": "g"}, {"preemptible": False})
        )  # fmt: skip
        capacity = chance.choice(CAPACITIES) if task is None else None
        terms.append({**wanted, **({"capacity": capacity} if capacity else {})})
    workload = packed_workload(specs)
    jobs = [replace(job, members={**job.members, "lease": terms[int(job.id)]}) for job in workload.jobs]
    return replace(workload, jobs=tuple(jobs))


@pytest.mark.parametrize("sharing", [False, True], ids=["whole", "sharing"])
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_no_capacity_is_exceeded_by_leases(options: dict[str, str], *, sharing: bool) -> None:
    """Accepted ones run, reservations at their time; with compute sharing, tasks run next to nodes with a capacity."""
    shared = 0
    for seed in range(thorough(4)):
        workload = drawn_leases(seed)
        result, session, checker = run_packed(
            "leases", options, workload, checking=LeaseChecker, dynamic_jobs=True, compute_sharing=sharing
        )
        shared += checker.shared
        for record in result.jobs:
            if record.job.id in session.plan.rejections:
                continue
            start = str((workload_terms(workload, record.job.id)).get("start", ""))
            if start.startswith("+") and "#" not in record.job.id:
                submitted = next(job for job in workload.jobs if f"w0!{job.id}" == record.job.id).submit_time
                assert record.start == pytest.approx(submitted + float(start), abs=1e-3)
            assert record.state in ("COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED")
    assert shared > 0


#: Constraints -> the hosts for which they are true; they read fixed properties of the four hosts.
CONSTRAINTS: dict[str, set[int]] = {"$gpus >= 1": {0, 3}, "$id >= 1": {1, 2, 3}, "$free_cpu > 0 and $id == 3": {3}}


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_leases_have_hosts_for_which_their_constraint_is_true(options: dict[str, str]) -> None:
    """Preempted, resumed and moved ones, too; a lease without such hosts is refused."""
    ran, chance = 0, Random(7)
    for seed in range(thorough(2)):
        workload = drawn_leases(seed)
        jobs = list[Job]()
        for job in workload.jobs:
            terms = {**job.members["lease"], "constraint": chance.choice([*CONSTRAINTS, "$id > 9"])}
            jobs.append(replace(job, members={**job.members, "lease": terms}))
        workload = replace(workload, jobs=tuple(jobs))
        result, session, _ = run_packed("leases", options, workload, checking=LeaseChecker, dynamic_jobs=True)
        for record in result.jobs:
            constraint = workload_terms(workload, record.job.id)["constraint"]
            if record.job.id in session.plan.rejections:
                continue
            ran += 1
            assert set(record.hosts) <= CONSTRAINTS[constraint]
    assert ran > 0


def workload_terms(workload: Workload, job_id: str) -> dict[str, Any]:
    """Return the terms of a job, or of the first segment of it."""
    name = job_id.partition("!")[2].partition("#")[0]
    found: dict[str, Any] = next(job for job in workload.jobs if job.id == name).members["lease"]
    return found


def test_tasks_on_gpus_are_suspended_for_a_reservation_of_these_gpus() -> None:
    """Those on other hosts, and those that need no GPUs, run on; GPUs are numbered again after the suspension."""
    tasks = [
        TaskDemand(gpus=1, share=300, models=("V100",)),
        TaskDemand(cores=1000, gpus=1, models=("T4",)),
        TaskDemand(gpus=4, models=("V100",)),
    ]
    workload = packed_workload(
        [(0, 2, 9, 12, task, False, 0) for task in tasks[:2]] + [(1, 1, 3, 3, tasks[2], False, 0)]
    )
    jobs = list(workload.jobs)
    jobs[2] = replace(jobs[2], members={**jobs[2].members, "lease": {"start": 5}})
    options = {"policy_preemption": "ar-preempts-everything", "suspend_rate": "1e6", "resume_rate": "1e6"}
    result, _, _ = run_packed("leases", options, replace(workload, jobs=tuple(jobs)), dynamic_jobs=True)
    found = {record.job.id.partition("!")[2]: record for record in result.jobs}
    starts = {name: round(record.start, 1) for name, record in found.items()}
    assert starts == {"000": 0.0, "001": 0.0, "002": 5.0, "000#1": 8.0}
    gpus = {name: [place.gpus for place in record.places.places] for name, record in found.items() if record.places}
    assert gpus == {"000": [(0, 0)], "001": [(0, 1)], "002": [(0, 1, 2, 3)], "000#1": [(0, 0)]}


@pytest.mark.parametrize(
    ("members", "why"),
    [
        (
            {"capacity": {"cpu": 100}},
            "lease.capacity: must not be there, since the job's demand says what each node has",
        ),
        ({"start": "soon"}, "lease.start: must be"),
    ],
)
def test_terms_that_contradict_a_demand_are_refused(members: dict[str, Any], why: str) -> None:
    """In one line, with the member and the rule."""
    workload = packed_workload([(0, 1, 5, 9, TaskDemand(cores=500), False, 0)])
    jobs = tuple(replace(job, members={**job.members, "lease": members}) for job in workload.jobs)
    _, session, _ = run_packed("leases", {}, replace(workload, jobs=jobs))
    assert session.plan.rejections["w0!000"].startswith(why)


def test_licences_are_shared_by_leases_over_time() -> None:
    """Two of three jobs with one of two licences run; the third waits, although there is room."""
    workload = packed_workload([(0, 1, 5, 6, TaskDemand(cores=500), False, 1)] * 3)
    result, _, _ = run_packed("leases", {"backfilling": "conservative"}, workload)
    assert sorted(round(record.start) for record in result.jobs) == [0, 0, 5]


def test_a_lease_without_a_capacity_has_a_host_alone_whatever_its_size() -> None:
    """Two such leases share no host, although the largest one has as much as several others together."""
    workload = packed_workload([(0, 4, 5, 9, None, False, 0), (0, 1, 5, 9, None, False, 0)])
    result, _, _ = run_packed("leases", {}, workload, compute_sharing=True)
    assert [round(record.start) for record in result.jobs] == [0, 5]


def test_small_tasks_of_leases_share_a_host_and_gpus_are_numbered() -> None:
    """Two jobs with shares of GPUs have the same one."""
    task = TaskDemand(cores=500, gpus=1, share=250)
    workload = packed_workload([(0, 2, 5, 9, task, False, 0), (0, 2, 5, 9, task, False, 0)])
    result, _, _ = run_packed(
        "leases",
        {"policy_host_selection": "no-policy", "override_suspend_time": "0", "override_resume_time": "0"},
        workload,
    )
    places = [record.places for record in result.jobs]
    assert all(each is not None and not each.whole for each in places)
    assert [record.start for record in result.jobs] == [0, 0]

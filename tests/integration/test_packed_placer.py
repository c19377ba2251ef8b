"""`placer` and jobs that request parts of hosts: each task is an object for which a host is asked."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.model.demand import TaskDemand
from batsched_py.results.records import JobRecord
from tests.integration.packed_runs import machine, packed_workload, run_packed

SMALL = TaskDemand(cores=1000)
SHARE = TaskDemand(gpus=1, share=400)


def placed(
    jobs: list[tuple[int, int, int, TaskDemand | None, int]],
    options: dict[str, str],
    members: dict[int, Any],
    **flags: Any,
) -> tuple[dict[str, JobRecord], dict[str, str]]:
    """Job -> its record, and the reasons of rejections; jobs are (submit time, tasks, run time, task, licences)."""
    specs = [(submit, tasks, run, run + 1, task, False, licences) for submit, tasks, run, task, licences in jobs]
    workload = packed_workload(specs)
    changed = tuple(replace(job, members={**job.members, **members.get(int(job.id), {})}) for job in workload.jobs)
    result, session, _ = run_packed("placer", options, replace(workload, jobs=changed), **flags)
    return {record.job.id.partition("!")[2]: record for record in result.jobs}, session.plan.rejections


def hosts_of(record: JobRecord) -> list[tuple[int, int]]:
    """The hosts of a job, each with its number of tasks."""
    return [(place.host, place.tasks) for place in record.places.places] if record.places else []


def test_tasks_are_placed_on_hosts_that_their_query_finds() -> None:
    """Several on one host, next to those of other jobs; GPUs are numbered by the hosts."""
    members = {
        0: {"constraint": '$gpu_model == "V100"'},
        1: {"constraint": "$gpus >= 2"},
        2: {"constraint": "$fpga > 1"},
    }
    found, rejections = placed([(0, 6, 5, SMALL, 0), (0, 2, 5, SHARE, 0), (0, 1, 5, SMALL, 0)], {}, members)
    assert hosts_of(found["000"]) == [(3, 6)]
    assert found["001"].places is not None
    assert sum(len(place.gpus) for place in found["001"].places.places) == 2
    assert rejections == {"w0!002": "has 1 task, on the hosts that its constraint allows 0 fit"}


def test_hosts_may_refuse_tasks() -> None:
    """With one job at most on each host, all tasks of one count as one, and other jobs have other hosts."""
    found, _ = placed([(0, 4, 5, SMALL, 0)] * 5, {"max_jobs": "1", "alternatives": "8", "pause": "1"}, {})
    first = [hosts_of(found[name])[0][0] for name in ("000", "001", "002", "003")]
    assert sorted(first) == [0, 1, 2, 3]
    assert [round(found[name].start) for name in ("000", "003")] == [0, 0]
    assert found["004"].start >= 5


def test_jobs_without_demands_have_hosts_alone() -> None:
    """They wait until the last task has ended, and tasks until they have ended."""
    jobs = [(0, 4, 5, TaskDemand(exclusive=True), 0), (1, 4, 5, None, 0), (2, 1, 5, SMALL, 0)]
    found, _ = placed(jobs, {}, {})
    assert [round(found[name].start) for name in ("000", "001", "002")] == [0, 5, 10]


@pytest.mark.parametrize("options", [{}, {"share": "time"}, {"staleness": "3"}])
def test_licences_are_counted(options: dict[str, str]) -> None:
    """Two of three jobs run, although hosts would accept all."""
    found, _ = placed([(0, 1, 5, SMALL, 1)] * 3, options, {}, compute_sharing=True)
    assert sorted(round(record.start) for record in found.values())[:2] == [0, 0]
    assert 5 <= max(record.start for record in found.values()) <= 6.1


def test_own_alternatives_are_tried_in_order() -> None:
    """Each names a host for each task, which may be the same for several."""
    hosts = [host.name for host in machine().hosts if host.role != "master" and host.name != "master_host"]
    pairs = ((3, 3), (0, 1))
    wanted = [[{"object": name, "host": hosts[at]} for name, at in zip("ab", pair, strict=True)] for pair in pairs]
    alternatives = [{"placements": placements} for placements in wanted]
    found, rejections = placed([(0, 2, 5, SMALL, 0)], {}, {0: {"alternatives": alternatives}})
    assert rejections == {}
    assert hosts_of(found["000"]) == [(3, 2)]

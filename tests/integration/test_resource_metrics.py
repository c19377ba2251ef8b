"""Metrics of runs whose jobs share hosts, against sums over tasks that are independent of the package."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.model.demand import TaskDemand
from batsched_py.reporting.api import Schedule, measure_run, schedule_of, utilisation
from batsched_py.reporting.metrics.gpu_fragmentation import free_gpus
from batsched_py.reporting.metrics.resource_use import resource_curves
from batsched_py.reporting.metrics.steps import integral
from batsched_py.reporting.metrics.summary import summarise
from batsched_py.reporting.schedules.consistency import find_contradictions
from batsched_py.reporting.schedules.contradictions import ContradictionKind
from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.results.records import Result
from batsched_py.runs.result_writer import write_result
from tests.clone import ROOT
from tests.drawing import drawn
from tests.integration.packed_runs import JOBS, LICENCES, machine, packed_workload, run_packed
from tests.integration.programs import run_here
from tests.integration.test_packed_conversations import SPECS

#: An algorithm that gives jobs with demands whole hosts.
HOSTS_ONLY = str(ROOT / "tests" / "integration" / "hosts_only.py")
ALGORITHMS = ["filler", "easy", "ar_preempt", "leases"]


def hosts() -> list[dict[str, float]]:
    """The amounts of each host, from the platform's properties."""
    found = []
    for host in machine().hosts:
        if "licences" in host.properties:
            text = host.properties
            fpgas = float(text.get("capacity", "fpga:0").partition(":")[2])
            amounts = {"cores": float(host.cores), "memory": float(text["mem"]), "gpus": float(text.get("gpus", "0"))}
            found.append({**amounts, "other fpga": fpgas, "licence matlab": 0.0})
    return found


def asked(task: TaskDemand) -> dict[str, float]:
    """The amounts of a task."""
    amounts = {"cores": task.cores / 1000, "memory": float(task.memory), "gpus": task.gpus * task.share / 1000}
    return {**amounts, "other fpga": float(dict(task.others).get("fpga", 0)), "licence matlab": 0.0}


def sums(result: Result) -> dict[str, float]:
    """Resource -> sum of amount x run over all tasks, and over whole hosts."""
    there, total = hosts(), defaultdict[str, float](float)
    for record in result.jobs:
        if record.rejected:
            continue
        demand, places = record.job.demand, record.places
        whole = demand is None or places is None or places.whole
        for host in record.hosts:
            tasks = 1 if places is None else sum(one.tasks for one in places.places if one.host == host)
            each = there[host] if whole or demand is None else asked(demand.task)
            for resource, amount in each.items():
                total[resource] += amount * (1 if whole else tasks) * (record.finish - record.start)
        for name, number in () if demand is None else demand.licences:
            total[f"licence {name}"] += number * (record.finish - record.start)
    return total


@pytest.mark.parametrize("name", ALGORITHMS)
def test_integrals_are_the_sums_over_tasks_and_nothing_exceeds_what_there_is(name: str) -> None:
    """Resource by resource and for each algorithm; what was requested is at most what was allocated."""
    for specs in drawn(JOBS, 6):
        result, _, _ = run_packed(name, {}, packed_workload(specs))
        schedule = schedule_of(result, "")
        expected = sums(result)
        for curve in resource_curves(schedule):
            found = integral(curve.allocated, 0.0, math.inf) * curve.capacity
            if curve.resource.kind != "gpus" or not curve.resource.name:
                assert found == pytest.approx(expected[str(curve.resource)], abs=1e-6)
            assert all(0 <= value <= 1 for _, value in curve.allocated)
            assert integral(curve.requested, 0.0, math.inf) <= integral(curve.allocated, 0.0, math.inf) + 1e-9


@pytest.mark.parametrize("name", ALGORITHMS)
def test_packed_runs_do_not_contradict_themselves(name: str) -> None:
    """No utilisation exceeds 100 %, and the summary of `simulate` agrees with the metrics."""
    for specs in drawn(JOBS, 4):
        result, _, _ = run_packed(name, {}, packed_workload(specs))
        schedule = schedule_of(result, "")
        assert not find_contradictions(schedule)
        metrics = measure_run(schedule)
        shares = [value for key, value in vars(metrics).items() if "utilisation" in key or key.startswith("requested_")]
        assert all(value is None or 0 <= value <= 1 + 1e-9 for value in shares)
        assert all(value <= 1 for _, value in utilisation(schedule))
        summary = summarise(result)
        assert (summary.utilisation or 0) == pytest.approx(metrics.utilisation or 0, abs=1e-4)


def in_use(schedule: Schedule) -> float:
    """Host seconds with at least one task, counted for each host by the ends of intervals."""
    total = 0.0
    for host in range(schedule.hosts):
        spans = sorted((one.start, one.finish) for one in schedule.ran if host in one.hosts)
        until = 0.0
        for start, finish in spans:
            total += max(finish - max(start, until), 0.0)
            until = max(until, finish)
    return total


def test_a_host_is_in_use_when_at_least_one_task_runs_on_it() -> None:
    """However many there are."""
    for specs in drawn(JOBS, 6):
        result, _, _ = run_packed("filler", {}, packed_workload(specs))
        schedule = schedule_of(result, "")
        metrics = measure_run(schedule)
        if metrics.utilisation is not None:
            assert metrics.utilisation * schedule.hosts * metrics.makespan == pytest.approx(in_use(schedule))


def known() -> Schedule:
    """Two jobs of five seconds: half a core for each of four tasks, and a GPU with 0.3 of it."""
    specs = [(0, 4, 5, 9, TaskDemand(cores=500), False, 0), (5, 1, 5, 9, TaskDemand(gpus=1, share=300), False, 2)]
    return schedule_of(run_packed("filler", {}, packed_workload(specs))[0], "known")


def test_figures_that_are_computed_by_hand() -> None:
    """32 cores, 4 000 MiB, 6 GPUs, 2 FPGAs and 2 licences for 10 s."""
    metrics = measure_run(known())
    assert metrics.makespan == 10
    assert metrics.core_utilisation == pytest.approx(2 * 5 / (32 * 10))
    assert metrics.memory_utilisation == 0
    assert metrics.gpu_utilisation == pytest.approx(0.3 * 5 / (6 * 10))
    assert metrics.requested_gpus == metrics.gpu_utilisation
    assert metrics.other_utilisation == 0
    assert metrics.licence_utilisation == pytest.approx(0.5)
    assert metrics.utilisation == pytest.approx(10 / 40)


def test_fragmentation_is_that_of_the_paper() -> None:
    """Half of the expected tasks need no GPU, for which all free ones are fragments; a share of 0.3 fits anywhere."""
    rows = free_gpus(known())
    assert [(row.time, row.free) for row in rows] == [(0, 6), (5, pytest.approx(5.7)), (10, 6)]
    assert [row.fragments for row in rows] == [pytest.approx(3), pytest.approx(2.85), pytest.approx(3)]
    assert measure_run(known()).gpu_fragmentation == pytest.approx(0.5)


def test_a_window_measures_its_time() -> None:
    """From 5 to 10 s only the second job runs."""
    metrics = measure_run(known(), window=TimeWindow(5, 10))
    assert metrics.core_utilisation == 0
    assert metrics.gpu_utilisation == pytest.approx(0.05)
    assert metrics.licence_utilisation == 1
    assert metrics.utilisation == pytest.approx(0.25)


def test_an_algorithm_that_knows_whole_hosts_wastes_the_rest() -> None:
    """Whole hosts are allocated for a part of them."""
    specs = [(0, 1, 5, 9, TaskDemand(cores=500), False, 0)]
    metrics = measure_run(schedule_of(run_packed(HOSTS_ONLY, {}, packed_workload(specs))[0], ""))
    assert metrics.core_utilisation == pytest.approx(8 / 32)
    assert metrics.requested_cores == pytest.approx(0.5 / 32)
    assert metrics.gpu_utilisation == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"tasks": 3}, ContradictionKind.TASKS),
        ({"cores": 9000}, ContradictionKind.EXCEEDED),
        ({"licences": (("matlab", LICENCES + 1),)}, ContradictionKind.EXCEEDED),
    ],
)
def test_more_than_there_is_contradicts(change: dict[str, Any], kind: ContradictionKind) -> None:
    """The job, the time and the resource are named."""
    schedule = known()
    first = schedule.jobs[0]
    assert first.places is not None
    [place] = first.places.places
    task = replace(first.places.task, cores=change.get("cores", 500))
    places = replace(first.places, task=task, licences=change.get("licences", ()))
    places = replace(places, places=(place._replace(tasks=change.get("tasks", 4)),))
    found = find_contradictions(replace(schedule, jobs=(replace(first, places=places), schedule.jobs[1])))
    assert [one.kind for one in found] == [kind]
    assert found.lines()[0].startswith(f"{kind.value}: 1 time, w0!000: ")


def test_a_gpu_cannot_be_used_twice() -> None:
    """Even if the sum of the host's GPUs suffices."""
    specs = [(0, 2, 5, 9, TaskDemand(gpus=1, share=700), False, 0)]
    schedule = schedule_of(run_packed("filler", {}, packed_workload(specs))[0], "")
    [record] = schedule.jobs
    assert record.places is not None
    places = replace(record.places, places=(record.places.places[0]._replace(gpus=(1, 1)),))
    [one] = find_contradictions(replace(schedule, jobs=(replace(record, places=places),)))
    assert one.what == "starts at 0.000000, exceeding the GPU 1 of host 0"


def test_metrics_in_files_have_resources_only_if_jobs_share_hosts(tmp_path: Path) -> None:
    """The columns of other runs are as they were."""
    plain = [(0, 2, 5, 9, None, False, 0)]
    for name, specs in (("packed", SPECS), ("plain", plain)):
        write_result(f"{tmp_path}/{name}", run_packed("filler", {}, packed_workload(specs))[0])
        for form in ("csv", "json"):
            assert run_here(tmp_path, "metrics", name, "-o", f"{name}.{form}") == 0
    headers = [(tmp_path / f"{name}.csv").read_text().splitlines()[0].split(",") for name in ("packed", "plain")]
    assert set(headers[0]) - set(headers[1]) == {
        *("core_utilisation", "memory_utilisation", "gpu_utilisation", "other_utilisation", "licence_utilisation"),
        *("requested_cores", "requested_memory", "requested_gpus", "gpu_fragmentation"),
    }
    figures = [
        json.loads((tmp_path / f"{name}.json").read_text())["runs"][0]["figures"] for name in ("packed", "plain")
    ]
    assert [list(one) for one in figures] == [header[1:] for header in headers]

"""Workflows of WfCommons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import Limits
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.formats import FORMATS, WFFORMAT, ReadOptions, find_format

Members = dict[str, Any]

SPLIT, LEFT, RIGHT = {"name": "s", "id": "1"}, {"name": "l", "id": "2"}, {"name": "r", "id": "3"}
MEASURED = [
    {"id": "1", "runtimeInSeconds": 1.5},
    {"id": "2", "runtimeInSeconds": 20, "coreCount": 2.5},
    {"id": "3", "runtimeInSeconds": 0},
]


def later(tasks: list[Members], measured: list[Members] | None = None, **execution: Any) -> Members:
    """Return a workflow of version 1.5."""
    done = {"tasks": MEASURED[: len(tasks)] if measured is None else measured, **execution}
    return {"schemaVersion": "1.5", "workflow": {"specification": {"tasks": tasks}, "execution": done}}


def read(folder: Path, document: Members, unit: str = "nodes", limits: Limits | None = None) -> Workload:
    """Read a workflow of which nothing but the content says what it is."""
    path = folder / "w.txt"
    path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))
    assert find_format(path) is WFFORMAT
    options = ReadOptions(limits or Limits(), "cpus" if unit == "cpus" else "nodes")
    workload = WFFORMAT.read(path, options)
    assert isinstance(workload, Workload)
    return workload


def parents(workload: Workload) -> dict[str, list[str]]:
    """Return the jobs before each job."""
    return {job.id: job.members.get("depends_on", []) for job in workload.jobs}


def test_tasks_become_jobs_that_depend_on_their_parents(tmp_path: Path) -> None:
    """An edge may be given at its parent, at its child, or at both."""
    tasks = [{**SPLIT, "children": ["2"]}, {**LEFT, "parents": ["1"]}, {**RIGHT, "parents": ["2", "1", "2"]}]
    workload = read(tmp_path, later(tasks, machines=[{"cpu": {"coreCount": 4}}, {}]))
    assert parents(workload) == {"1": [], "2": ["1"], "3": ["1", "2"]}
    shapes = [
        (job.submit_time, job.size, job.walltime, workload.profiles[job.profile].members) for job in workload.jobs
    ]
    delays = [{"type": "delay", "delay": run} for run in (1.5, 20.0, 0.0)]
    assert shapes == [(0.0, 1, 11.5, delays[0]), (0.0, 1, 30.0, delays[1]), (0.0, 1, 10.0, delays[2])]
    assert (workload.host_count, workload.notes) == (2, ())


def test_a_host_may_be_a_core(tmp_path: Path) -> None:
    """A part of a core is a whole one."""
    workload = read(tmp_path, later([SPLIT, LEFT], machines=[{"cpu": {"coreCount": 4}}, {"cpu": {}}]), "cpus")
    assert [job.size for job in workload.jobs] == [1, 3]
    assert workload.host_count == 5
    assert read(tmp_path, later([SPLIT, LEFT]), "cpus").host_count == 0


@pytest.mark.parametrize("member", ["tasks", "jobs"])
@pytest.mark.parametrize("time", ["runtime", "runtimeInSeconds"])
def test_edges_of_old_versions_refer_to_names(tmp_path: Path, member: str, time: str) -> None:
    """Or to ids, where names are not all different."""
    tasks = [{"name": "a", "id": "7", time: 1, "children": ["b"]}, {"name": "b", "id": "8", time: 2, "cores": 3}]
    machines = [{"cpu": {"count": 2}}]
    document = {"name": "old", "schemaVersion": "1.3", "workflow": {member: tasks, "machines": machines}}
    workload = read(tmp_path, document, "cpus")
    assert parents(workload) == {"a": [], "b": ["a"]}
    assert [job.size for job in workload.jobs] == [1, 3]
    assert workload.host_count == 3  # the largest job fits
    for task in tasks:
        task.update(name="same", children=[])
    tasks[1]["parents"] = ["7"]
    assert parents(read(tmp_path, document)) == {"7": [], "8": ["7"]}


def test_members_without_effect_are_named(tmp_path: Path) -> None:
    """Known and unknown ones, of the file, of the workflow and of tasks."""
    document = later([{**SPLIT, "inputFiles": ["f"], "colour": 1}], [{**MEASURED[0], "memoryInBytes": 5, "avgCPU": 9}])
    document["workflow"]["metrics"] = {}
    notes = "\n".join(read(tmp_path, {**document, "extra": 1}).notes)
    for note in ("member inputFiles of a task is not obeyed: data is not moved", "member colour of a task is unknown",
                 "member memoryInBytes of a task is not obeyed", "metrics of a workflow is unknown",
                 "extra of a file of WfCommons is unknown"):  # fmt: skip
        assert note in notes
    assert "avgCPU" not in notes


SPECIFIED = r"workflow\.specification\.tasks"


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        ({"workflow": 1}, r"workflow: must be an object"),
        ({"workflow": {}}, r"workflow\.tasks: is missing"),
        ({"workflow": {"specification": {"tasks": []}}}, r"workflow\.execution: is missing"),
        ({"workflow": {"specification": {"tasks": []}, "execution": {}}}, r"workflow\.execution\.tasks: is missing"),
        (later([]), rf"{SPECIFIED}: must not be empty"),
        (later([{"name": "s"}]), rf"{SPECIFIED}\[0\]: task s has no run time: it is not in workflow\.execution"),
        ({"workflow": {"tasks": [{"id": "1"}]}}, r"workflow\.tasks\[0\]: task 1 has no run time: it has neither"),
        ({"workflow": {"tasks": [{"runtime": 1}]}}, r"workflow\.tasks\[0\]\.id: is missing"),
        ({"workflow": {"tasks": [{"id": "a!b", "runtime": 1}]}}, r"workflow\.tasks\[0\]\.id: must have no '!'"),
        (later([SPLIT, SPLIT]), rf"{SPECIFIED}\[0\]\.id: is the id of two tasks: '1'"),
        (later([{**SPLIT, "parents": ["9"]}]), r"task 1\.parents: no task is called '9'"),
        (later([{**SPLIT, "children": ["9"]}]), r"task 1\.children: no task is called '9'"),
        (later([{**SPLIT, "parents": ["1"]}]), r"job 1\.depends_on: jobs depend on each other"),
        (later([{**SPLIT, "parents": ["2"]}, {**LEFT, "parents": ["1"]}]), r"jobs depend on each other"),
        (later([{**SPLIT, "parents": "2"}]), rf"{SPECIFIED}\[0\]\.parents: must be a list of names of tasks"),
        (later([{**SPLIT, "id": "a,b"}]), rf"{SPECIFIED}\[0\]\.id: must"),
        (
            later([SPLIT], [{"id": "1", "runtimeInSeconds": -1}]),
            rf"{SPECIFIED}\[0\]\.runtimeInSeconds: must be a number",
        ),
        (later([SPLIT], [{**MEASURED[0], "coreCount": 0}]), rf"{SPECIFIED}\[0\]\.coreCount: must be a number of cores"),
        (later([SPLIT], machines=3), r"workflow\.execution\.machines: must be a list of objects, not 3"),
        (later([SPLIT], [MEASURED[0]] * 2), r"workflow\.execution\.tasks\[1\]\.id: is the id of two tasks: '1'"),
        (later([SPLIT], [{"runtimeInSeconds": 1}]), r"workflow\.execution\.tasks\[0\]\.id: is missing"),
        (later([SPLIT], MEASURED[:2]), r"workflow\.execution\.tasks: is not in workflow\.specification\.tasks: '2'"),
    ],
)
def test_a_workflow_that_cannot_run_is_refused(tmp_path: Path, document: Members, rule: str) -> None:
    """With the place and the rule."""
    with pytest.raises(WorkloadError, match=rf"w\.txt: .*{rule}"):
        read(tmp_path, document)


def test_doubled_members_and_too_many_tasks_are_refused(tmp_path: Path) -> None:
    """As in workloads."""
    with pytest.raises(WorkloadError, match=r"must be at most 1 jobs \(--limit jobs=N"):
        read(tmp_path, later([SPLIT, LEFT]), limits=Limits(jobs=1))
    (tmp_path / "w.json").write_text('{"workflow": {"tasks": [{"id": "1", "runtime": 1, "runtime": 2}]}}')
    with pytest.raises(WorkloadError, match=r"workflow\.tasks\[0\]: has the member 'runtime' twice"):
        WFFORMAT.read(tmp_path / "w.json", ReadOptions())


def test_a_workload_is_no_workflow(tmp_path: Path) -> None:
    """A user's member of a job may be called as one of WfCommons; a simulation names the command for workflows."""
    path = tmp_path / "w.json"
    path.write_text('{"nb_res": 1, "jobs": [{"id": "1", "workflow": 3}], "profiles": {}}')
    assert find_format(path) is FORMATS["json"]
    path.write_bytes(orjson.dumps(later([SPLIT])))
    with pytest.raises(WorkloadError, match="it looks like a workflow of WfCommons, of which batsched-py convert"):
        read_workload(path)

"""Workflows in DAX."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.workflow import WorkflowTask
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.traces.dax import read_workflow


def read(folder: Path, inside: str, start: float | None = None, limits: Limits = LIMITS) -> Workload:
    """Read a workflow of these elements."""
    path = folder / "w.dax"
    path.write_text(f'<?xml version="1.0"?><adag xmlns="http://pegasus.isi.edu/schema/DAX">{inside}</adag>')
    return read_workflow(path, start, limits)


A, B = '<job id="A" runtime="3.5" num_procs="2"/>', '<job id="B" runtime="2" num_procs="-1"><uses file="x"/></job>'
EDGE = '<child ref="B"><parent ref="A"/></child>'


def test_tasks_and_edges_are_read(tmp_path: Path) -> None:
    """A number of hosts below 1 is 1; files are ignored, as by Batsim."""
    workload = read(tmp_path, A + B + EDGE, 7.0)
    workflow = workload.workflow
    assert workflow is not None
    assert workflow.tasks == {"A": WorkflowTask(3.5, 2, 0), "B": WorkflowTask(2.0, 1, 1)}
    assert (workflow.children, workflow.start) == ({"A": ("B",)}, 7.0)
    assert (workload.host_count, list(workload.jobs), workload.notes) == (2, [], ())


def test_an_edge_that_is_given_twice_is_reported(tmp_path: Path) -> None:
    """It counts twice at its parent, and once at its child."""
    workload = read(tmp_path, A + B + EDGE + EDGE)
    workflow = workload.workflow
    assert workflow is not None
    assert (workflow.tasks["B"].parents, workflow.children["A"]) == (1, ("B", "B"))
    assert "an edge that is given twice counts twice at its parent" in workload.notes[0]


@pytest.mark.parametrize(
    ("inside", "rule"),
    [
        ("", "must have a task"),
        (A + A, "job A: is defined twice"),
        ('<job runtime="1"/>', r"job\.id: must not be empty"),
        ('<job id="a!b" runtime="1"/>', r"job\.id: must not be empty, have no '!'"),
        ('<job id="A"/>', r"job A\.runtime: must be a number of seconds greater than 0 and at most .*, not ''"),
        ('<job id="A" runtime="0"/>', r"job A\.runtime: must be a number of seconds greater than 0"),
        ('<job id="A" runtime="nan"/>', r"job A\.runtime: must be a number of seconds"),
        ('<job id="A" runtime="1" num_procs="1.5"/>', r"job A\.num_procs: must be a whole number, not '1\.5'"),
        (f'<job id="A" runtime="1" num_procs="{"9" * 5000}"/>', r"job A\.num_procs: must be a whole number"),
        (A + '<child ref="C"><parent ref="A"/></child>', r"child\.ref: names 'C', which is not a task before it"),
        (A + '<child ref="A"><parent ref="C"/></child>', r"parent\.ref: names 'C', which is not a task before it"),
    ],
)
def test_a_workflow_that_cannot_run_is_refused(tmp_path: Path, inside: str, rule: str) -> None:
    """With the place and the rule."""
    with pytest.raises(WorkloadError, match=rf"w\.dax: {rule}"):
        read(tmp_path, inside)


def test_other_files_and_too_many_tasks_are_refused(tmp_path: Path) -> None:
    """A lease workload, and what is not XML."""
    (tmp_path / "x.dax").write_text("<lease-workload/>")
    with pytest.raises(WorkloadError, match="must be a workflow in DAX, of the element adag, not 'lease-workload'"):
        read_workflow(tmp_path / "x.dax")
    (tmp_path / "x.dax").write_text("{}")
    with pytest.raises(WorkloadError, match="is not XML"):
        read_workflow(tmp_path / "x.dax")
    with pytest.raises(WorkloadError, match=r"must be at most 1 jobs \(--limit jobs=N"):
        read(tmp_path, A + B, limits=Limits(jobs=1))

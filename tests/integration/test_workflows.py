"""Workflows, as real Batsim 4.2.1 runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.cli.main import run
from batsched_py.errors import BatschedError
from batsched_py.model.settings import Settings
from batsched_py.runs.simulate import simulate
from batsched_py.traces.dax import read_workflow
from tests.platforms import plain_platform


def dax(folder: Path, tasks: dict[str, tuple[float, int]], edges: list[tuple[str, str]]) -> Path:
    """Write a workflow of (run time, hosts) of tasks, and of (parent, child) of edges."""
    jobs = "".join(f'<job id="{name}" runtime="{time}" num_procs="{size}"/>' for name, (time, size) in tasks.items())
    children = "".join(f'<child ref="{child}"><parent ref="{parent}"/></child>' for parent, child in edges)
    path = folder / "w.dax"
    path.write_text(f"<adag>{jobs}{children}</adag>")
    return path


DIAMOND = {"A": (3.5, 1), "B": (2.0, 2), "C": (4.0, 1), "D": (1.0, 1)}
EDGES = [("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")]


def ends(path: Path, start: float | None = None, **settings: int) -> dict[str, float]:
    """Return when each job ends on four hosts, with first come, first served."""
    result = simulate(plain_platform(4), read_workflow(path, start), "fcfs", settings=Settings(**settings)).result  # type: ignore[arg-type]
    return {f"{record.job.id} {record.job.profile}": record.finish for record in result.jobs}


def test_a_task_is_submitted_when_the_last_task_before_it_has_ended(tmp_path: Path) -> None:
    """Recorded from real Batsim: numbers are those of submissions, profiles have the names of tasks."""
    expected = {"wf0!0 wf0_A": 3.5, "wf0!1 wf0_B": 5.5, "wf0!2 wf0_C": 7.5, "wf0!3 wf0_D": 8.5}
    assert ends(dax(tmp_path, DIAMOND, EDGES)) == expected


def test_a_workflow_may_begin_later(tmp_path: Path) -> None:
    """Recorded from real Batsim: its name is another then."""
    expected = {"wfc0!0 wfc0_A": 8.5, "wfc0!1 wfc0_B": 10.5, "wfc0!2 wfc0_C": 12.5, "wfc0!3 wfc0_D": 13.5}
    assert ends(dax(tmp_path, DIAMOND, EDGES), 5.0) == expected


def test_first_tasks_are_in_the_order_of_texts_and_others_in_that_of_the_file(tmp_path: Path) -> None:
    """Recorded from real Batsim: B10 is before B2."""
    tasks = dict.fromkeys(("B2", "B10", "A", "Y", "X"), (1.0, 4))
    ended = ends(dax(tmp_path, tasks, [("A", "Y"), ("A", "X")]))
    assert [name.partition("_")[2] for name in ended] == ["A", "B10", "B2", "Y", "X"]


def test_an_edge_that_is_given_twice_keeps_its_task_back(tmp_path: Path) -> None:
    """Recorded from real Batsim: A counts twice at its end, and Z waits for exactly three."""
    tasks = {"B2": (1.0, 1), "B10": (2.0, 1), "A": (3.0, 1), "Z": (1.0, 1)}
    edges = [("A", "Z"), ("B2", "Z"), ("A", "Z"), ("B10", "Z")]
    assert ends(dax(tmp_path, tasks, edges)) == {"wf0!2 wf0_B2": 1.0, "wf0!1 wf0_B10": 2.0, "wf0!0 wf0_A": 3.0}


def test_a_task_that_would_be_submitted_twice_is_an_error(tmp_path: Path) -> None:
    """Batsim stops."""
    path = dax(tmp_path, {"A": (1.0, 1), "B": (1.0, 1), "Z": (1.0, 1)}, [("A", "Z"), ("A", "Z"), ("B", "Z")])
    with pytest.raises(BatschedError, match="job Z: is submitted twice"):
        ends(path)


def test_a_limit_holds_tasks_back(tmp_path: Path) -> None:
    """So many are submitted and have not ended."""
    path = dax(tmp_path, dict.fromkeys("abcd", (2.0, 1)), [])
    assert sorted(ends(path, workflow_jobs_limit=2).values()) == [2.0, 2.0, 4.0, 4.0]
    assert sorted(ends(path).values()) == [2.0] * 4


def test_a_task_that_is_rejected_has_ended(tmp_path: Path) -> None:
    """In whatever state."""
    path = dax(tmp_path, {"A": (1.0, 9), "B": (1.0, 1)}, [("A", "B")])
    result = simulate(plain_platform(4), read_workflow(path), "fcfs", settings=Settings(allow_oversized=True)).result
    assert [(one.job.profile, one.state) for one in result.jobs] == [
        ("wf0_A", "REJECTED"),
        ("wf0_B", "COMPLETED_SUCCESSFULLY"),
    ]


def test_workflows_stand_beside_workloads_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names are those of Batsim; options that do not go together are refused."""
    dax(tmp_path, DIAMOND, EDGES)
    monkeypatch.chdir(tmp_path)
    platform, workload = "platforms/tiny4.xml", "workloads/first.json"
    works = ["-W", "w.dax", "--WS", "w.dax", "100", "--workflow-jobs-limit", "1"]
    assert run(["simulate", "-p", platform, "-w", workload, *works, "-s", "easy", "-e", "out", "--quiet"]) == 0
    names = {line.split(",")[1] for line in (tmp_path / "out_jobs.csv").read_text().splitlines()[1:]}
    assert names == {"w0", "wf0", "wfc0"}
    for words, rule in (
        ([], "Missing option '-w' / '--workload', '-W' or '--WS'"),
        (["-w", workload, "--workflow-jobs-limit", "2"], "'--workflow-jobs-limit' goes with '-W' or '--WS'"),
        (["--WS", "w.dax", "-1"], "the date must be from 0 to"),
        (["-W", "w.dax", "--protocol", "v5"], "workflows do not go with protocol v5"),
        (["-W", workload], "is not XML"),
    ):
        capsys.readouterr()
        assert run(["simulate", "-p", platform, *words, "-s", "easy", "--quiet"]) == 2
        assert rule in capsys.readouterr().err

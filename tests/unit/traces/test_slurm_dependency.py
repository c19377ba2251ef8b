"""Dependencies of Slurm's jobs, in columns and in commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.traces import log_dependencies
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.sacct import read_sacct
from batsched_py.traces.slurm_dependency import SlurmDependency, dependency_in_command, read_dependency

HEADER = "JobID|JobName|User|State|Submit|Start|End|ReqCPUS|AllocCPUS"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("afterok:12:13", SlurmDependency((("12", "success", 0.0), ("13", "success", 0.0)))),
        ("after:12+5,afterany:7", SlurmDependency((("12", "start", 300.0), ("7", "end", 0.0)))),
        ("afternotok:12_3(unfulfilled)", SlurmDependency((("12_3", "failure", 0.0),))),
        ("afterok:12_*(unfulfilled),singleton", SlurmDependency((("12", "success", 0.0),), singleton=True)),
        ("singleton(unfulfilled)", SlurmDependency(singleton=True)),
        ("", SlurmDependency()),
        ("afterok:1?afterok:2", SlurmDependency(other="one of several (?)")),
        ("aftercorr:12", SlurmDependency(other="aftercorr")),
        ("afterok", SlurmDependency(other="afterok")),
        ("afterok:x", SlurmDependency(other="afterok")),
    ],
)
def test_a_list_of_dependencies_is_read(text: str, found: SlurmDependency) -> None:
    """All types of the manual that have a counterpart; others are named."""
    assert read_dependency(text) == found


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("sbatch --dependency=afterok:12 job.sh", "afterok:12"),
        ("sbatch -n 4 --dependency afterok:12 job.sh", "afterok:12"),
        ("sbatch -d singleton job.sh", "singleton"),
        ("sbatch --depend=afterok:12 job.sh", "afterok:12"),
        ("sbatch --dep singleton job.sh", "singleton"),
        ("sbatch --de=afterok:12 job.sh", ""),
        ("sbatch -dafterany:3 job.sh", "afterany:3"),
        ("sbatch job.sh -d afterok:1", ""),
        ("sbatch --job-name 'a b' -n 4 job.sh --dependency=afterok:1", ""),
        ("sbatch --comment='x y -d afterok:1", "afterok:1"),
        ("sbatch -d", ""),
        ("sbatch job.sh", ""),
    ],
)
def test_the_option_of_a_command_is_found(command: str, found: str) -> None:
    """As long as it is the option of sbatch, and not an argument of the script."""
    assert dependency_in_command(command) == found


def log(folder: Path, extra: str, *rows: tuple[str, str]) -> Path:
    """Write accounting with a further column of these ids and texts."""
    path = folder / "s.txt"
    lines = [
        f"{job}|solve|ada|COMPLETED|2024-05-31T08:00:00|2024-05-31T08:05:00|2024-05-31T09:05:00|16|16|{text}"
        for job, text in rows
    ]
    path.write_text("\n".join([f"{HEADER}|{extra}", *lines]) + "\n")
    return path


@pytest.mark.parametrize("column", ["Dependency", "SubmitLine"])
def test_jobs_wait_as_in_slurm(tmp_path: Path, column: str) -> None:
    """An array is all its tasks; a job that is not in the log is counted."""
    command = "sbatch --dependency={} job.sh" if column == "SubmitLine" else "{}"
    rows = [("1", ""), ("2_1", ""), ("2_2", ""), ("3", command.format("afterok:1,after:2+1,singleton")),
            ("4", command.format("afterany:99")), ("5", command.format("expand:1"))]  # fmt: skip
    read = read_sacct(log(tmp_path, column, *rows), dependencies=True)
    jobs, report = clean(read, CleaningRules(dependencies=True))
    found = {job.id: {name: job.members.get(name) for name in ("depends_on", "singleton")} for job in jobs.jobs}
    nothing = {"depends_on": None, "singleton": None}
    tasks = [{"job": name, "when": "start", "delay": 60.0} for name in ("2_1", "2_2")]
    assert found.pop("3") == {"depends_on": [{"job": "1", "when": "success"}, *tasks], "singleton": "solve"}
    assert found == dict.fromkeys(("1", "2_1", "2_2", "4", "5"), nothing)
    assert report.count("cut_dependencies") == 1
    assert read.notes == (f"{tmp_path}/s.txt: a list of dependencies with expand is not obeyed (line 7)",)


@pytest.mark.parametrize(("column", "text"), [("Dependency", "afterok:1"), ("SubmitLine", "sbatch -d afterok:1 a.sh")])
def test_without_the_option_a_line_says_so(tmp_path: Path, column: str, text: str) -> None:
    """Nothing waits, and nothing is passed over."""
    read = read_sacct(log(tmp_path, column, ("1", ""), ("2", text)))
    assert not read.dependencies
    assert len(read.notes) == 1
    assert "jobs wait for each other only with --dependencies" in read.notes[0]


def test_arrays_cost_no_memory_out_of_proportion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of many jobs may depend on all tasks of a large array."""
    monkeypatch.setattr(log_dependencies, "MOST", 5)
    rows = [("2_1", ""), ("2_2", ""), *((f"{job}", "afterok:2") for job in range(3, 6))]
    read = read_sacct(log(tmp_path, "Dependency", *rows), dependencies=True)
    with pytest.raises(WorkloadError, match="job 5: must not depend on more than 5 tasks of arrays"):
        clean(read, CleaningRules(dependencies=True))


def test_a_singleton_needs_a_name_that_can_be_written(tmp_path: Path) -> None:
    """A line says so; the workload can be read."""
    path = log(tmp_path, "Dependency", ("1", "singleton"))
    path.write_text(path.read_text().replace("|solve|", "|a,b|"))
    read = read_sacct(path, dependencies=True)
    assert "singleton" not in clean(read, CleaningRules(dependencies=True))[0].jobs[0].members
    assert "dependency singleton is not obeyed: JobName must" in read.notes[0]

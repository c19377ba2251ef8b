"""The conditions of the jobs of a workload file on each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.traces import batsim_json
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.batsim_json_writer import write_workload
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.job_conditions import left_to_others
from batsched_py.traces.swf import read_swf
from batsched_py.traces.workload_leases import workload_requests
from batsched_py.traces.workload_parts import jobs_of


def write(tmp_path: Path, *conditions: dict[str, Any], later: bool = False) -> Path:
    """A workload with a job for each of these members; of Batsim 5 on request."""
    jobs = [
        {"id": f"{number}", "subtime": 0, "res": 1, "profile": "p", **({"extra_data": one} if later else one)}
        for number, one in enumerate(conditions)
    ]
    profile = {"type": "DelayProfile" if later else "delay", "delay": 5}
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"p": profile}}))
    return path


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ([{}, {"depends_on": ["9"]}], "job 1.depends_on no job is called 9"),
        ([{"depends_on": ["1"]}, {"depends_on": ["0"]}], "depends_on jobs depend on each other: "),
        ([{"depends_on": [{"job": "0", "when": "done"}]}], "jobs[0].depends_on[0].when must be one of"),
        (
            [{"array": {"id": "a", "limit": 2}}, {"array": {"id": "a"}}],
            "jobs[1].array.limit must be 2, as that of job 0 in the same array",
        ),
        (
            [{"array": {"id": "a"}}, {"array": {"id": "a", "limit": 2}}],
            "jobs[1].array.limit must be absent, as that of job 0 in the same array",
        ),
    ],
)
def test_a_fault_names_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conditions: list[dict[str, Any]], words: str, many: bool
) -> None:
    """In short workloads and in long ones, of any Batsim."""
    if many:
        monkeypatch.setattr(batsim_json, "MANY", 0)
    for later in (False, True):
        with pytest.raises(WorkloadError) as raised:
            read_workload(write(tmp_path, *conditions, later=later))
        assert words in f"{raised.value.field} {raised.value.rule}"


def test_conditions_are_kept(tmp_path: Path) -> None:
    """They are read without a note and written unchanged, for Batsim 5 in extra_data; other workloads are not read."""
    given: list[dict[str, Any]] = [
        {"depends_on": ["1", {"job": "w7!3"}], "singleton": "s"},
        {"array": {"id": "a", "limit": 2}},
    ]
    workload = read_workload(write(tmp_path, *given))
    assert workload.notes == ()
    assert [dict(job.extra) for job in workload.jobs] == given
    write_workload(tmp_path / "v5.json", workload, protocol="v5")
    assert [dict(job.extra) for job in read_workload(tmp_path / "v5.json").jobs] == given


def test_a_lease_trace_has_no_conditions(tmp_path: Path) -> None:
    """They are refused, since nobody could obey them there."""
    with pytest.raises(WorkloadError, match="depends_on: cannot be written to a lease trace"):
        workload_requests(read_workload(write(tmp_path, {}, {"depends_on": ["0"]})))


def test_conditions_that_another_program_obeys_are_noted(tmp_path: Path) -> None:
    """Only where there are any."""
    plain, conditional = (read_workload(write(tmp_path, {}, one)) for one in ({"user": 1}, {"singleton": "s"}))
    assert left_to_others(plain) is plain
    [note] = left_to_others(conditional).notes
    assert note.endswith("w.json: conditions of jobs on other jobs are left to the program that decides")


def test_a_log_has_preceding_jobs(tmp_path: Path) -> None:
    """Their end and the think time; one that is left out is counted, and a job never waits for itself."""
    rows = ((1, 4, -1, -1), (2, 9, -1, -1), (3, 1, 1, 60), (4, 1, 2, 60), (5, 1, 5, 60), (6, 1, 3, -1))
    text = "".join(
        f"{number} {number} -1 30 {size} -1 -1 {size} 60 -1 1 4 1 -1 -1 -1 {before} {think}\n"
        for number, size, before, think in rows
    )
    (tmp_path / "log.swf").write_text(f"; MaxProcs: 4\n{text}")
    log = read_swf(tmp_path / "log.swf", dependencies=True)
    assert log.notes == ()
    workload, report = clean(log, CleaningRules(dependencies=True))
    assert {job.id: job.members["depends_on"] for job in workload.jobs if "depends_on" in job.members} == {
        "3": [{"job": "1", "when": "end", "delay": 60}],
        "6": [{"job": "3", "when": "end", "delay": 0}],
    }
    assert report.count("cut_dependencies") == 2
    assert "2 jobs after a job that is left out: without the dependency" in report.lines()


def test_a_part_has_no_dependencies_on_others(tmp_path: Path) -> None:
    """They are counted; those on jobs of other workloads stay."""
    first = {"depends_on": [{"job": "w7!3"}]}
    path = write(tmp_path, first, {"depends_on": ["0", "w7!3"]}, {"depends_on": ["0"], "singleton": "s"})
    whole = read_workload(path)
    part = jobs_of(whole, 1, 2)
    assert [dict(job.extra) for job in part.jobs] == [{"depends_on": ["w7!3"]}, {"singleton": "s"}]
    assert part.notes == ("2 dependencies on jobs outside of this part: not kept",)
    assert jobs_of(whole, 0, 3).notes == ()

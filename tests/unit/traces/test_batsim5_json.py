"""Workload files of Batsim 5: read in the words of Batsim 4, and written from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.model.workload import Workload
from batsched_py.traces.batsim5_json import lost_in_4, lost_in_5
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.batsim_json_writer import write_workload
from batsched_py.traces.other_batsim import lines_on_changes
from tests.clone import ROOT

INPUTS = ROOT / "tests" / "data" / "batsim5" / "inputs"
SPREAD = "DefinedAmountsSpreadUniformly"
JOB = {"id": 1, "subtime": 0, "res": 1, "profile": "p"}


def read(folder: Path, profile: dict[str, Any], **members: Any) -> Workload:
    """A workload of one job with one profile, besides a delay of Batsim 5."""
    file = folder / "w.json"
    profiles = {"p": profile, "d": {"type": "DelayProfile", "delay": 1}}
    file.write_text(json.dumps({"nb_res": 4, "jobs": [{**JOB, **members}], "profiles": profiles}))
    return read_workload(file, simulated_only=False)


PAIRS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"type": "DelayProfile", "delay": 5, "ret": 3}, {"type": "delay", "delay": 5, "ret": 3}),
    (
        {"type": "ParallelTaskProfile", "cpu": [1], "com": [0]},
        {"type": "parallel", "cpu": [1], "com": [0]},
    ),
    (
        {"type": "ParallelTaskHomogeneousProfile", "cpu": 1, "com": 2},
        {"type": "parallel_homogeneous", "cpu": 1, "com": 2},
    ),
    (
        {
            "type": "ParallelTaskHomogeneousProfile",
            "cpu": 1,
            "com": 2,
            "generation_strategy": "DefinedAmountsSpreadUniformly",
        },
        {"type": "parallel_homogeneous_total", "cpu": 1, "com": 2},
    ),
    (
        {"type": "SequentialCompositionProfile", "seq": ["d"], "repeat": 2},
        {"type": "composed", "seq": ["d"], "repeat": 2},
    ),
    (
        {"type": "ParallelTaskOnStorageHomogeneousProfile", "bytes_to_read": 1, "bytes_to_write": 0, "storage": "s"},
        {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 0, "storage": "s"},
    ),
    (
        {"type": "ParallelTaskDataStagingBetweenStoragesProfile", "nb_bytes": 1, "from": "a", "to": "b"},
        {"type": "data_staging", "nb_bytes": 1, "from": "a", "to": "b"},
    ),
    (
        {"type": "TraceReplayProfile", "trace_type": "SMPI", "filename": "t.txt"},
        {"type": "smpi", "trace": "t.txt"},
    ),
    (
        {"type": "TraceReplayProfile", "trace_type": "FractionalComputation", "filename": "t.txt"},
        {"type": "usage_trace", "trace": "t.txt"},
    ),
]


@pytest.mark.parametrize(("later", "present"), PAIRS, ids=lambda pair: str(pair["type"]))
def test_a_profile_is_read_in_the_words_of_batsim_4_and_written_in_its_own(
    later: dict[str, Any], present: dict[str, Any], tmp_path: Path
) -> None:
    """There and back."""
    workload = read(tmp_path, later)
    assert workload.profiles["p"].members == present
    write_workload(tmp_path / "again.json", workload, protocol="v5")
    assert json.loads((tmp_path / "again.json").read_text())["profiles"]["p"] == later


@pytest.mark.parametrize(
    ("given", "missing"),
    [({"cpu": [5.0]}, {"com": [0]}), ({"com": [0, 1, 1, 0]}, {"cpu": [0, 0]})],
)
def test_a_parallel_task_may_leave_one_matrix_out(
    given: dict[str, Any], missing: dict[str, Any], tmp_path: Path
) -> None:
    """Nothing is computed then, or sent; Batsim 4 needs the zeros."""
    size = 2 if "com" in given else 1
    workload = read(tmp_path, {"type": "ParallelTaskProfile", **given}, res=size)
    assert workload.profiles["p"].members == {"type": "parallel", **given, **missing}


@pytest.mark.parametrize("said", [{"user": "u", "deps": ["a"]}, '{"user":"u","deps":["a"]}'])
def test_extra_data_becomes_members_of_the_job(said: Any, tmp_path: Path) -> None:
    """As an object, and as its text."""
    (job,) = read(tmp_path, {"type": "DelayProfile", "delay": 1}, extra_data=said).jobs
    assert dict(job.extra) == {"user": "u", "deps": ["a"]}


@pytest.mark.parametrize("said", ["hello", "{no json", '{"res": 7}'])
def test_a_text_that_is_no_object_of_ones_own_stays_one(said: str, tmp_path: Path) -> None:
    """Members of Batsim are not overwritten."""
    (job,) = read(tmp_path, {"type": "DelayProfile", "delay": 1}, extra_data=said).jobs
    assert (job.size, dict(job.extra)) == (1, {"extra_data": said})


def test_what_jobs_have_of_their_own_is_written_to_extra_data(tmp_path: Path) -> None:
    """A walltime that stands for none, on which Batsim 5 aborts, is not written."""
    workload = read(tmp_path, {"type": "DelayProfile", "delay": 1}, walltime=-1, extra_data={"user": "u"})
    write_workload(tmp_path / "again.json", workload, protocol="v5")
    (job,) = json.loads((tmp_path / "again.json").read_text())["jobs"]
    assert job == {"id": 1, "subtime": 0, "res": 1, "profile": "p", "extra_data": {"user": "u"}}


@pytest.mark.parametrize("name", ["w_fork.json"])
def test_what_no_batsim_runs_is_refused(name: str) -> None:
    """It is in the documents of Batsim 5, but rc2 aborts."""
    with pytest.raises(WorkloadError, match="ForkJoinCompositionProfile"):
        read_workload(INPUTS / name)


def test_a_type_that_batsim_5_has_not_is_not_written(tmp_path: Path) -> None:
    """Jobs that talk, say."""
    file = tmp_path / "w.json"
    file.write_text(json.dumps({"jobs": [JOB], "profiles": {"p": {"type": "send", "msg": {}}}}))
    with pytest.raises(WorkloadError, match=r"profiles.p.type: is 'send', which Batsim 5 has no type for"):
        write_workload(tmp_path / "again.json", read_workload(file), protocol="v5")
    assert not (tmp_path / "again.json").exists()


def test_a_profile_of_a_storage_gets_what_batsim_5_needs(tmp_path: Path) -> None:
    """Both amounts, and the label under its newer name."""
    file = tmp_path / "w.json"
    profile = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "host": "disk"}
    file.write_text(json.dumps({"jobs": [JOB], "profiles": {"p": profile}}))
    write_workload(tmp_path / "again.json", read_workload(file), protocol="v5")
    assert json.loads((tmp_path / "again.json").read_text())["profiles"]["p"] == {
        "type": "ParallelTaskOnStorageHomogeneousProfile",
        "bytes_to_read": 1,
        "bytes_to_write": 0,
        "storage": "disk",
    }


def test_what_cannot_be_carried_is_told(tmp_path: Path) -> None:
    """Each on a line."""
    spread = {"bytes_to_read": 1, "generation_strategy": "DefinedAmountsSpreadUniformly"}
    workload = read(tmp_path, {"type": "ParallelTaskOnStorageHomogeneousProfile", **spread}, extra_data={"user": "u"})
    assert [line.partition(":")[0] for line in lost_in_4(list(workload.profiles.values()))] == ["p"]
    (told,) = lost_in_5(list(workload.profiles.values()), workload.jobs)
    assert told == "1 job with members of their own: they are in extra_data, Batsim 5 forwards no others"


@pytest.mark.parametrize("path", sorted(INPUTS.glob("w_*.json")), ids=lambda path: path.stem)
def test_every_workload_of_the_recordings_is_read_or_refused(path: Path) -> None:
    """Those on which Batsim 5 aborts are refused, and one with larger numbers than can be simulated."""
    refused = {"w_fork": "does not run", "w_num": "must be at most"}
    if path.stem in refused:
        with pytest.raises(WorkloadError, match=refused[path.stem]):
            read_workload(path)
        return
    assert read_workload(path).profiles or path.stem == "w_empty"


def test_a_total_that_is_divided_otherwise_is_told(tmp_path: Path) -> None:
    """Among more than two hosts, in both directions; and how many profiles were left out for Batsim 5."""
    total = {"type": "ParallelTaskHomogeneousProfile", "cpu": 0, "com": 9, "generation_strategy": SPREAD}
    for size, count in ((2, 0), (3, 1)):
        five = read(tmp_path, total, res=size)
        line = "p: com of n hosts is divided by n, in Batsim 5 by n * n - n"
        assert list(lines_on_changes(five, "v4")) == [line] * count
        four = replace(five, protocol="v4")
        dropped, *told = lines_on_changes(four, "v5")
        assert told == ["p: com of n hosts is divided by n * n - n, in Batsim 4 by n"] * count
        assert dropped == "1 profile left out: no job uses it"
        assert list(lines_on_changes(four, "v4")) == []


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("ptask", "ParallelTaskProfile"),
        ("ptask_homogeneous", "ParallelTaskHomogeneousProfile"),
        ("sequential_composition", "SequentialCompositionProfile"),
        ("ptask_on_storage_homogeneous", "ParallelTaskOnStorageHomogeneousProfile"),
        ("trace_replay", "TraceReplayProfile"),
    ],
)
def test_the_name_of_an_earlier_release_candidate_is_told_with_its_successor(
    name: str, now: str, tmp_path: Path
) -> None:
    """Beside other types of Batsim 5, or none."""
    with pytest.raises(WorkloadError, match=f"{name}' is the name .* earlier release candidate .* is now {now};"):
        read(tmp_path, {"type": name})

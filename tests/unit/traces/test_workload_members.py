"""Members of a workload file that are not obeyed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.traces import batsim_json
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.workload_members import PROFILES

JOB = {"id": "1", "subtime": 0, "res": 1, "profile": "p"}
PROFILE: dict[str, Any] = {"type": "delay", "delay": 5}


def notes(
    tmp_path: Path, *, job: dict[str, Any] | None = None, profile: dict[str, Any] | None = None, **document: Any
) -> list[str]:
    """The lines on a workload of one job with these members beside its own, without the name of the file."""
    content = {"nb_res": 4, "jobs": [{**JOB, **(job or {})}], "profiles": {"p": profile or PROFILE}, **document}
    path = tmp_path / "w.json"
    path.write_text(json.dumps(content))
    return [line.partition("w.json: ")[2] for line in read_workload(path, simulated_only=False).notes]


def test_what_is_obeyed_or_describes_is_silent(tmp_path: Path) -> None:
    """So are members of one's own, which algorithms read."""
    job = {"walltime": 9, "user": "ada", "deadline": 9, "lease": {}, "constraint": "", "colour": "red"}
    found = notes(tmp_path, job=job, profile={**PROFILE, "ret": 1, "weight": 2}, description="d", version=0, date="x")
    assert found == []


@pytest.mark.parametrize(
    ("job", "line"),
    [
        (
            {"cores": 4},
            "member cores of a job is not obeyed: a job requests them by the member demand (jobs[0])",
        ),
        (
            {"gpus": 1},
            "member gpus of a job is not obeyed: a job requests them by the member demand (jobs[0])",
        ),
        (
            {"dependencies": ["0"]},
            "member dependencies of a job is not obeyed: a job waits for other jobs by depends_on: a list of names"
            " (jobs[0])",
        ),
        ({"dumptime": 1}, "member dumptime of a job is not obeyed: jobs make no checkpoints (jobs[0])"),
        ({"walltme": 60}, "member walltme of a job is unknown; did you mean walltime? (jobs[0])"),
        ({"usr": 60}, "member usr of a job is unknown; did you mean user? (jobs[0])"),
    ],
)
@pytest.mark.parametrize("many", [False, True])
def test_members_of_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: dict[str, Any], line: str, many: bool
) -> None:
    """Members of other systems and misspelled ones are reported, in short workloads and in long ones."""
    if many:
        monkeypatch.setattr(batsim_json, "MANY", 0)
    assert notes(tmp_path, job=job) == [line]


@pytest.mark.parametrize(
    ("profile", "line"),
    [
        (
            {"type": "delay", "delay": 5, "cpu": 1e9},
            "member cpu of a profile of type delay is not obeyed: profiles of this type have none (profiles.p)",
        ),
        (
            {"type": "composed", "seq": ["q"], "repeat": 2, "nb": 3},
            "member nb of a profile of type composed is not obeyed: repeat is (profiles.p)",
        ),
        (
            {"type": "composed", "seq": ["q"], "repet": 2},
            "member repet of a profile of type composed is unknown; did you mean repeat? (profiles.p)",
        ),
        (
            {"type": "parallel_homogeneous", "cpu": 1, "com": 0, "generation_strategy": "x"},
            "member generation_strategy of a profile of type parallel_homogeneous is not obeyed: only the types of"
            " Batsim 5 have it (profiles.p)",
        ),
    ],
)
def test_members_of_profiles(tmp_path: Path, profile: dict[str, Any], line: str) -> None:
    """Members of another type have no effect, nor has the second of two names of one thing."""
    assert notes(tmp_path, profiles={"p": profile, "q": PROFILE}) == [line]


@pytest.mark.parametrize("kind", PROFILES)
def test_every_type_tells_a_slip(tmp_path: Path, kind: str) -> None:
    """No type is left out of the table."""
    required: dict[str, Any] = {
        "delay": 1, "cpu": 1, "com": 0, "seq": ["q"], "nb_bytes": 1, "from": "a", "to": "b", "msg": {}, "trace": "t",
        "bytes_to_read": 1,
    }  # fmt: skip
    profile = {name: value for name, value in required.items() if name in PROFILES[kind].obeyed}
    if kind == "parallel":
        profile |= {"cpu": [1], "com": [0]}
    lines = notes(tmp_path, profiles={"p": {"type": kind, **profile, "rets": 3}, "q": PROFILE})
    assert lines == [f"member rets of a profile of type {kind} is unknown; did you mean ret? (profiles.p)"]


def test_members_of_the_document(tmp_path: Path) -> None:
    """Unknown ones are told, with what they are like."""
    assert notes(tmp_path, nb_ress=3, hosts=4) == [
        "member nb_ress of a workload is unknown and has no effect; did you mean nb_res?",
        "member hosts of a workload is unknown and has no effect",
    ]


def test_batsim_5(tmp_path: Path) -> None:
    """Members in `extra_data` are those of the job."""
    profile = {"type": "ParallelTaskHomogeneousProfile", "cpu": 1, "com": 0, "generation_strategy": "x"}
    with pytest.raises(
        WorkloadError, match=r"profiles\.p\.generation_strategy: must be DefinedAmountsUsedForEachValue"
    ):
        notes(tmp_path, profile=profile)
    strategy = "DefinedAmountsUsedForEachValue"
    found = notes(tmp_path, profile={**profile, "generation_strategy": strategy}, job={"extra_data": '{"gpus": 2}'})
    assert found == ["member gpus of a job is not obeyed: a job requests them by the member demand (jobs[0])"]


@pytest.mark.parametrize("name", ["delay", "p"])
def test_a_member_of_a_profile_twice(tmp_path: Path, name: str) -> None:
    """Batsim takes the first, the reader of JSON the last: it is refused, also if the profile has that name."""
    text = (
        '{"nb_res": 1, "jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "NAME"}], "profiles": {"NAME": PROFILE}}'
    )
    path = tmp_path / "w.json"
    path.write_text(text.replace("NAME", name).replace("PROFILE", '{"type": "delay", "delay": 5, "delay": 50}'))
    with pytest.raises(WorkloadError, match=rf"profiles\.{name}: has the member 'delay' twice"):
        read_workload(path)
    path.write_text(text.replace("NAME", name).replace("PROFILE", '{"type": "delay", "delay": 5}'))
    assert len(read_workload(path).jobs) == 1

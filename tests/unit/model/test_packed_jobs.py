"""Jobs as their file describes them."""

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.packed_jobs import PackedJobs
from batsched_py.model.workload import Workload
from batsched_py.traces import batsim_json
from batsched_py.traces.batsim_json import read_workload

PROFILES = {"a": {"type": "delay", "delay": 1}, "b": {"type": "delay", "delay": 2.5}}


def described(rng: random.Random, number: int) -> dict[str, Any]:
    """A job with some of everything; many are submitted at one instant."""
    members: dict[str, Any] = {"id": rng.choice((number, f"x{number}")), "subtime": rng.choice((0, 1.5, 7, 20.25))}
    members |= {"res": rng.randrange(5), "profile": rng.choice("ab")}
    return members | rng.choice(({}, {"walltime": -1}, {"walltime": 3.5}, {"user": {"name": 'Zoë "}{'}}))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file, in which what jobs look like stands before the jobs, too."""
    rng = random.Random(1)
    jobs = [described(rng, number) for number in range(200)]
    document = {"before": jobs[1:3], "profiles": PROFILES, "jobs": jobs, "nb_res": 5}
    path = tmp_path / "w.json"
    path.write_text(json.dumps(document, ensure_ascii=False, indent=rng.choice((None, 1))))
    return path


@pytest.fixture
def packed(path: Path, monkeypatch: pytest.MonkeyPatch) -> Workload:
    monkeypatch.setattr(batsim_json, "MANY", 10)
    return read_workload(path)


def test_they_are_the_jobs_that_are_read_at_once(path: Path, packed: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same order, with the same members, whole numbers and all."""
    monkeypatch.setattr(batsim_json, "MANY", 1000)
    plain = read_workload(path)
    assert type(packed.jobs) is PackedJobs
    assert type(plain.jobs) is tuple
    assert (packed.jobs == plain.jobs) is True
    assert plain.jobs == packed.jobs
    assert repr(list(packed.jobs)) == repr(list(plain.jobs))
    assert list(packed.requests()) == list(plain.requests())
    assert packed.jobs[3:9:2] == plain.jobs[3:9:2]
    assert packed.jobs[-1] == plain.jobs[-1]
    assert packed.jobs != plain.jobs[:-1]


def test_they_may_travel_to_another_process(packed: Workload) -> None:
    """Studies simulate in several."""
    assert pickle.loads(pickle.dumps(packed)).jobs == packed.jobs


def test_they_keep_the_rules(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are those of a short file."""
    monkeypatch.setattr(batsim_json, "MANY", 10)
    text = path.read_text()
    path.write_text(text.replace('"res"', '"ras"'))
    with pytest.raises(WorkloadError, match=r"w\.json: jobs\[0\]\.res: is missing"):
        read_workload(path)
    path.write_text(text[: len(text) // 2])
    with pytest.raises(WorkloadError, match=r"line \d+, column \d+: is not JSON"):
        read_workload(path)

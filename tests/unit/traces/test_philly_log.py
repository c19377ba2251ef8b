"""The jobs of Philly: attempts, sizes in GPUs, and that no attempt and no member disappears unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.errors import WorkloadError
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.formats import PHILLY, ReadOptions, find_format
from batsched_py.traces.swf_log import SwfLog
from tests.public_samples import PHILLY as SAMPLE
from tests.thoroughness import thorough


def read(folder: Path, jobs: object, **options: Any) -> SwfLog:
    """The log of a document."""
    path = folder / "log"
    path.write_text(json.dumps(jobs, indent=4))
    log = PHILLY.read(path, ReadOptions(**options))
    assert isinstance(log, SwfLog)
    return log


def test_a_job_is_its_last_attempt(tmp_path: Path) -> None:
    """By hand: 111 s after the submission, 53 h 39 min 42 s on three GPUs; two servers had three."""
    log = read(tmp_path, SAMPLE, zone="America/Los_Angeles")
    assert find_format(tmp_path / "log") is PHILLY
    assert [(one.submit, one.wait, one.run, one.requested_processors, one.status) for one in log.records] == [
        (0, 111, 193_182, 3, 1),
        (5901, 600, 600, 3, 0),
    ]
    assert log.start is not None
    assert log.start.isoformat() == "2017-10-07T08:11:39+00:00"
    assert log.dropped == {"dropped_attempt": 1, "dropped_never_ran": 1, "dropped_going_on": 1}
    assert log.members[1] == {"user": "ce2f4c", "queue": "ee9e8c"}
    assert log.columns is not None
    assert log.columns.unread == ("ip",)


def test_each_gpu_is_a_task(tmp_path: Path) -> None:
    """With demands."""
    workload, _ = clean(read(tmp_path, SAMPLE, demands=True), CleaningRules(demands=True))
    assert [(job.size, job.extra["demand"]) for job in workload.jobs] == [(3, {"gpus": 1})] * 2


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"attempts": 5}, "attempts must be a list, not 5"),
        ({"attempts": [5]}, "attempts must be objects, not 5"),
        ({"attempts": [{"detail": [5]}]}, "detail must have objects, not 5"),
        ({"attempts": [{"detail": [{"gpus": "x"}]}]}, "gpus must be a list, not 'x'"),
        ({"user": 5}, "user must be a text, not 5"),
        ({"submitted_time": "soon"}, "column submitted_time must be a date"),
    ],
)
def test_wrong_jobs_are_dropped_or_refused(change: dict[str, Any], rule: str, tmp_path: Path) -> None:
    """With the number of the job."""
    jobs = [SAMPLE[3], {**SAMPLE[3], "jobid": "b", **change}]
    log = read(tmp_path, jobs)
    assert log.dropped["dropped_row"] == 1
    assert any(rule in note and "job 2" in note for note in log.notes)
    with pytest.raises(WorkloadError, match="job 2: "):
        read(tmp_path, jobs, strict=True)


def test_unknown_members_are_named(tmp_path: Path) -> None:
    """In a job, an attempt and a server."""
    job = json.loads(json.dumps(SAMPLE[3]))
    job["a"] = job["attempts"][0]["b"] = job["attempts"][0]["detail"][0]["c"] = 1
    said = " ".join(read(tmp_path, [job]).notes)
    for name, kind in (("a", "a job"), ("b", "an attempt"), ("c", "a server")):
        assert f"member {name} of {kind} is unknown and has no effect (job 1)" in said


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[1, 2", "is not JSON"),
        ('{"attempts": []}', "must be a list of jobs"),
        ('[{"jobid": "a", "jobid": "b", "attempts": []}]', "has the member 'jobid' twice"),
    ],
)
def test_other_documents_are_refused(text: str, rule: str, tmp_path: Path) -> None:
    """In one line."""
    (tmp_path / "log").write_text(text)
    with pytest.raises(WorkloadError, match=rule):
        PHILLY.read(tmp_path / "log", ReadOptions())


TIMES = st.sampled_from([None, "None", "", "2017-10-07 01:00:00", "2017-10-07 02:00:00", "x"])
SERVERS = st.lists(st.fixed_dictionaries({"ip": st.just("m"), "gpus": st.lists(st.just("g"), max_size=2)}), max_size=2)
ATTEMPTS = st.fixed_dictionaries({}, optional={"start_time": TIMES, "end_time": TIMES, "detail": SERVERS})
JOBS = st.fixed_dictionaries(
    {"attempts": st.lists(ATTEMPTS, max_size=3)},
    optional={"submitted_time": TIMES, "jobid": st.sampled_from("ab"), "status": st.sampled_from(["Pass", "?"])},
)


@settings(max_examples=thorough(30), deadline=None)
@given(st.lists(JOBS, min_size=1, max_size=4))
def test_no_attempt_disappears(tmp_path_factory: pytest.TempPathFactory, jobs: list[dict[str, Any]]) -> None:
    """Each is a job or counted, and so is a job without one."""
    log = read(tmp_path_factory.mktemp("p"), jobs)
    counted = len(log.records) + sum(log.dropped.values())
    assert counted == sum(max(len(job["attempts"]), 1) for job in jobs)

"""Jobs whose submission follows others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.packed_jobs import PackedJobs
from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.runs.simulate import simulate
from batsched_py.traces import batsim_json
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.formats import SWF, ReadOptions
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.workload_parts import parts_of
from tests.platforms import plain_platform

MACHINE: Platform = plain_platform(4)
FOLLOWING = Settings(feedback=True)


def workload(folder: Path, *jobs: dict[str, Any]) -> Workload:
    """Return a workload of jobs of 10 s on one host each, submitted one after the other."""
    whole = [
        {"id": f"{number}", "subtime": number, "res": 1, "walltime": 20, "profile": "p", **job}
        for number, job in enumerate(jobs)
    ]
    path = folder / "w.json"
    path.write_bytes(orjson.dumps({"nb_res": 4, "jobs": whole, "profiles": {"p": {"type": "delay", "delay": 10}}}))
    return read_workload(path)


def submissions(jobs: Workload, settings: Settings = FOLLOWING, algorithm: str = "fcfs") -> dict[str, float]:
    """Return the times at which jobs were submitted."""
    result = simulate(MACHINE, jobs, algorithm, settings=settings).result
    return {one.job.name: one.job.submit_time for one in result.jobs}


def after(job: str, when: str = "end", delay: float = 0) -> dict[str, Any]:
    """Return the member."""
    return {"submitted_after": {"job": job, "when": when, "delay": delay}}


def test_a_job_is_submitted_after_the_end_or_the_submission_of_another(tmp_path: Path) -> None:
    """Earlier or later than at its own time; several may follow one, and others follow these."""
    jobs = workload(
        tmp_path, {}, {"subtime": 500, **after("0", delay=2.5)}, {"subtime": 501, **after("1", "submission", 4)},
        {"subtime": 502, **after("1")}, {"subtime": 503},
    )  # fmt: skip
    assert submissions(jobs) == {"0": 0.0, "1": 12.5, "2": 16.5, "3": 22.5, "4": 503.0}


def test_without_the_setting_the_times_are_kept_with_a_line(tmp_path: Path) -> None:
    """As in Batsim."""
    jobs = workload(tmp_path, {}, {"subtime": 500, **after("0")})
    said: list[str] = []
    result = simulate(MACHINE, jobs, "fcfs", warn=said.append).result
    assert [one.job.submit_time for one in result.jobs] == [0.0, 500.0]
    assert any("submitted_after of jobs is not obeyed" in line for line in [*said, *result.approximations])


def test_the_setting_without_such_jobs_is_a_line(tmp_path: Path) -> None:
    """It has no effect."""
    result = simulate(MACHINE, workload(tmp_path, {}), "fcfs", settings=FOLLOWING).result
    assert any("feedback has no effect, because no job has the member" in line for line in result.approximations)


@pytest.mark.parametrize("protocol", ["v4", "v1.4", "v5"])
def test_a_rejected_job_has_ended(tmp_path: Path, protocol: str) -> None:
    """And the last submission is announced only when it has happened."""
    jobs = workload(tmp_path, {"res": 4}, {"res": 9, "walltime": 5}, after("1", delay=3), after("2", delay=1))
    found = submissions(jobs, Settings(feedback=True, allow_oversized=True, protocol=protocol))
    assert found == {"0": 0.0, "1": 1.0, "2": pytest.approx(4.0), "3": pytest.approx(21.0)}


def test_many_jobs_follow_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though they are decoded when they are needed."""
    monkeypatch.setattr(batsim_json, "MANY", 3)
    jobs = workload(tmp_path, *[{}] * 5, {"subtime": 900, **after("4", "submission", 1.5)})
    assert isinstance(jobs.jobs, PackedJobs)
    assert submissions(jobs)["5"] == 5.5
    assert not workload(tmp_path, *[{}] * 5).has_followers


@pytest.mark.parametrize(
    ("member", "rule"),
    [
        (after("9"), r"submitted_after\.job: must name a job of the same workload that is submitted before"),
        (after("1"), r"submitted_after\.job: must name a job of the same workload that is submitted before"),
        (after("0", "start"), r"submitted_after\.when: must be one of submission, end, not 'start'"),
        (after("0", delay=-1), r"submitted_after\.delay: must be a number of seconds from 0, not -1"),
        ({"submitted_after": "0"}, r"submitted_after: must be an object, not '0'"),
    ],
)
def test_a_wrong_member_is_refused(tmp_path: Path, member: dict[str, Any], rule: str) -> None:
    """Before the run, with the job."""
    with pytest.raises(WorkloadError, match=rf"w\.json: job 1\.{rule}"):
        submissions(workload(tmp_path, {}, member))


def log(folder: Path, *rows: tuple[int, int, int, int]) -> SwfLog:
    """Return a log of jobs (submission, wait, run time, user) on one processor."""
    path = folder / "l.swf"
    lines = [f"{n} {s} {w} {r} 1 -1 -1 1 99 -1 1 {u} 1 -1 1 -1 -1 -1" for n, (s, w, r, u) in enumerate(rows, 1)]
    path.write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    read = SWF.read(path, ReadOptions())
    assert isinstance(read, SwfLog)
    return read


def test_sessions_of_users_are_found_in_a_log(tmp_path: Path) -> None:
    """By hand: batches follow submissions, think times follow the last end, and a long pause begins a session."""
    rows = [(0, 0, 50, 1), (10, 90, 20, 1), (60, 0, 5, 2), (200, 0, 10, 1), (5000, 0, 10, 1), (5005, 0, 9, -1)]
    jobs, report = clean(log(tmp_path, *rows), CleaningRules(feedback=True))
    links = {job.id: job.members.get("submitted_after") for job in jobs.jobs}
    assert links == {
        "1": None,
        "2": {"job": "1", "when": "submission", "delay": 10},  # the first was running
        "3": None,  # another user
        "4": {"job": "2", "when": "end", "delay": 80},  # 10 + 90 + 20 s
        "5": None,  # after more than 20 minutes
        "6": None,  # nobody knows whose
    }
    assert report.count("followers") == 2


def test_a_replay_with_the_decisions_of_the_log_has_its_submissions(tmp_path: Path) -> None:
    """Then all ends are those of the log, and so is all that follows them."""
    rows = [(7 * n, 0, 5 + n % 4, n % 3) for n in range(60)]
    jobs, report = clean(log(tmp_path, *rows), CleaningRules(feedback=True))
    assert report.count("followers") > 40
    assert submissions(jobs) == {f"{n:02d}": 7.0 * (n - 1) for n in range(1, 61)}


def test_parts_lose_what_follows_other_parts(tmp_path: Path) -> None:
    """With a note."""
    jobs = workload(tmp_path, {}, {"subtime": 500, **after("0")}, {"subtime": 501, **after("1")})
    part = parts_of(jobs, 100.0)[-1].workload
    assert [job.members.get("submitted_after") for job in part.jobs] == [None, after("1")["submitted_after"]]
    assert part.notes == ("1 submission after jobs outside of this part: at the times of the log",)

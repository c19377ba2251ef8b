"""Answers of `explain`, and questions that it cannot answer."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from batsched_py.cli.main import run

JOBS = """job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,final_state,\
starting_time,finish_time,stretch,allocated_resources
a,w0,0,2,30,1,COMPLETED_SUCCESSFULLY,0,20,1,0-1
h,w0,2,4,20,1,COMPLETED_SUCCESSFULLY,20,40,1.9,0-3
j,w0,5,2,50,1,COMPLETED_SUCCESSFULLY,40,90,1.7,0-1
s,w0,8,1,10,1,COMPLETED_SUCCESSFULLY,8,18,1,2
a,w1,95,2,30,1,COMPLETED_SUCCESSFULLY,95,96,1,0-1
r,w0,9,9,-1,0,REJECTED,,,,
"""
DECISIONS = """time,what,job_id,start,reason,jobs,hosts,words
0,hosts,,,,,0-3,
2,promised,w0!h,30,first,,,
9,rejected,w0!r,,,,,"needs 9 hosts, the platform has 4"
10,held,w0!gone,,own,,,not today
20,promised,w0!h,20,ends,w0!a,,
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of a run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "run_jobs.csv").write_text(JOBS)
    (tmp_path / "run_decisions.csv").write_text(DECISIONS)
    return tmp_path


def test_a_wait_is_told_by_time(capsys: pytest.CaptureFixture[str]) -> None:
    """A line of what the job was, a row for each reason, and who overtook it."""
    assert run(["explain", "run", "j", "--hosts", "4"]) == 0
    out, err = capsys.readouterr()
    assert [" ".join(line.split()) for line in out.splitlines() if line.strip(" ─")] == [
        "w0!j: 2 hosts, submitted at 5 s, started at 40 s on hosts 0-1: it waited 35 s",
        "from for reason in the way",
        "5 s 3 s it would have delayed jobs that were promised a start w0!h",
        "8 s 10 s too few hosts were free w0!a",
        "18 s 2 s it would have delayed jobs that were promised a start w0!h",
        "20 s 20 s too few hosts were free w0!h",
        "in the way size job because",
        "25 s 4 w0!h it ran on its hosts, after a promise to start at 30 s",
        "10 s 2 w0!a it ran on its hosts",
        "possible at sooner by with",
        "5 s 35 s a walltime of at most 25 s, or no promise to w0!h",
        "8 s 32 s 1 free host more, and no promise to w0!h",
        "overtaken by 1 job (w0!s); none of them delayed it on its own",
    ]
    assert err == ""


def test_json_has_what_scripts_rely_on(capsys: pytest.CaptureFixture[str]) -> None:
    """These members and no others."""
    assert run(["explain", "run", "w0!h", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "job": "w0!h",
        "submitted": 2,
        "started": 20,
        "hosts": "0-3",
        "intervals": [
            {"from": 2, "to": 8, "reason": "hosts_busy", "blocked_by": ["w0!a"], "promise": 30},
            {"from": 8, "to": 18, "reason": "hosts_busy", "blocked_by": ["w0!a", "w0!s"], "promise": 30},
            {"from": 18, "to": 20, "reason": "hosts_busy", "blocked_by": ["w0!a"], "promise": 30},
        ],
        "overtaken_by": ["w0!s"],
        "blockers": [
            {"job": "w0!a", "size": 2, "seconds": 18, "reason": "hosts_busy", "promise": None},
            {"job": "w0!s", "size": 1, "seconds": 10, "reason": "hosts_busy", "promise": None},
        ],
        "sooner": [{"at": 2, "reason": "hosts_busy", "hosts": 2, "walltime": None, "blocked_by": []}],
    }


def test_moves_of_a_promise_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """When, by how much, and why."""
    assert run(["explain", "run", "h"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "2 s 30 s its first promise" in out
    assert "20 s 20 s 10 s sooner w0!a ended 10 s before its walltime" in out
    assert "overtaken by 1 job (w0!s); none of them delayed it on its own" in out


def test_a_rejected_job_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    """With the reason, if a file has it."""
    assert run(["explain", "run", "r"]) == 0
    rule = "needs 9 hosts, the platform has 4"
    assert capsys.readouterr().out == f"w0!r: 9 hosts, submitted at 9 s, rejected at 9 s: {rule}\n"
    assert run(["explain", "run", "r", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert (plain["started"], plain["hosts"], plain["intervals"]) == (None, None, [])


def test_a_run_is_told_by_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """The waiting of all jobs, and the shares of each class of sizes."""
    assert run(["explain", "run", "--run", "--hosts", "4"]) == 0
    out, err = capsys.readouterr()
    assert [" ".join(line.split()) for line in out.splitlines() if line.strip(" ─")] == [
        "2 of 6 jobs waited: 0.0 h together, 0.0 host-hours",
        "reason jobs hours share host-hours share",
        "too few hosts were free 2 0.013 90.6 % 0.037 93.0 %",
        "it would have delayed jobs that were promised a start 1 0.001 9.4 % 0.003 7.0 %",
        "together 2 0.015 100.0 % 0.039 100.0 %",
        "size jobs hours host-hours hosts busy promise",
        "1 1 0.0 0.0",
        "2 3 0.0 0.0 85.7 % 14.3 %",
        "3-4 1 0.0 0.0 100.0 %",
        "9-16 1 0.0 0.0",
    ]
    assert err == ""


def test_the_json_of_a_run_sums_to_its_waiting(capsys: pytest.CaptureFixture[str]) -> None:
    """Overall and in each group, as decimal numbers."""
    assert run(["explain", "run", "--run", "--json", "--by", "size"]) == 0
    content = json.loads(capsys.readouterr().out, parse_float=Decimal, parse_int=Decimal)
    for part in (content, *content["groups"]["size"]):
        for total in ("seconds", "host_seconds"):
            assert sum(one[total] for one in part["reasons"]) == part[total]
    assert (content["seconds"], content["jobs"], content["waited"]) == (53, 6, 2)


def test_a_run_has_groups_of_its_workload(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By any member of jobs that the file given by -w has; without it, there is none."""
    jobs = [{"id": name, "subtime": 0, "res": 1, "profile": "p", "user": f"user-{name}"} for name in "ahjsr"]
    profiles = {"p": {"type": "delay", "delay": 1}}
    (here / "w.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    assert run(["explain", "run", "--run", "-w", "w.json", "--by", "user"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "user-j 1 0.0 0.0 85.7 % 14.3 % user-h 1 0.0 0.0 100.0 % user-a 2 0.0 0.0" in out
    assert run(["explain", "run", "--run", "--by", "user"]) == 2
    assert "has no job with a member 'user'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ((), "give a JOB, or --run"),
        (("j", "--run"), "give a JOB, or --run for all jobs; not both"),
        (("j", "--by", "size"), "'--by' and '-w' go with '--run'"),
        (("--run", "--by", "size,user,size"), "'--by' must name each member once, not size,user,size"),
        (("--run", "--slurm"), "--run cannot be combined with --slurm"),
    ],
)
def test_a_job_or_the_run_is_explained(options: tuple[str, ...], rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One of them."""
    assert run(["explain", "run", *options]) == 2
    assert rule in capsys.readouterr().err


@pytest.mark.parametrize(
    ("job", "rule"),
    [
        ("w0!x", "has no job w0!x; did you mean w0!s?"),
        ("nothing", "has no job nothing"),
        ("hh", "has no job hh; did you mean h?"),
        ("a", "has several jobs a: w0!a, w1!a; name one of them"),
        ("gone", "has no row of w0!gone, which never started (last held at 10 s: not today)"),
        ("\x1b[31m", "has no job \\x1b[31m"),
    ],
)
def test_a_job_that_is_not_there_is_an_error(job: str, rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that says what there is."""
    assert run(["explain", "run", job]) == 2
    assert capsys.readouterr().err == f"batsched-py: error: run_jobs.csv: {rule}\n"


def test_without_decisions_the_schedule_answers(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The output says so."""
    (here / "run_decisions.csv").unlink()
    assert run(["explain", "run", "j"]) == 0
    out, err = capsys.readouterr()
    assert "a job before it waited" in out
    assert err.startswith("note: no file contains the algorithm's decisions")

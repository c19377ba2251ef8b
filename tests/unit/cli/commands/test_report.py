"""`batsched-py report`: what it reads, writes and refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from batsched_py.results.result_files import write_jobs
from tests.unit.reporting.records import record, result

pytest.importorskip("plotly", reason="needs the extra: pip install '.[report]'")


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two folders with a run each, both called easy, and one that is called fcfs."""
    monkeypatch.chdir(tmp_path)
    for place, start in (("a/easy", 0.0), ("b/easy", 5.0), ("b/fcfs", 7.0)):
        path = tmp_path / f"{place}_jobs.csv"
        path.parent.mkdir(exist_ok=True)
        write_jobs(path, result(record("1", start=start, finish=start + 10)))
    return tmp_path


def heading(page: Path) -> str:
    [found] = re.findall("<h1>(.*?)</h1>", page.read_text())
    return str(found)


def test_runs_become_a_page(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By prefix or folder; the folder of the page is made."""
    assert run(["report", "a", "b/fcfs", "-o", "new/report.html"]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"wrote new/report\.html: \d\.\d MB\n", out)
    assert [line.partition(", up to")[0] for line in err.splitlines()] == ["note: easy: 1 host", "note: fcfs: 1 host"]
    assert heading(results / "new" / "report.html") == "easy · fcfs"


def test_runs_of_one_name_are_told_apart(results: Path) -> None:
    """By their folders, and if need be by a number."""
    assert run(["report", "a", "b/easy", "b/easy", "-o", "report.html"]) == 0
    assert heading(results / "report.html") == "a/easy · b/easy (2) · b/easy (3)"


def test_runs_of_different_workloads_are_told(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr and on the page."""
    write_jobs(results / "seed_jobs.csv", result(record("1", submit=3.0, start=5.0)))
    assert run(["report", "a", "seed", "-o", "report.html"]) == 0
    assert "batsched-py: warning: easy and seed are of different workloads" in capsys.readouterr().err
    assert run(["report", "a", "b/fcfs", "-o", "report.html"]) == 0
    assert "warning" not in capsys.readouterr().err


def test_tau_is_the_bound_of_the_page(results: Path) -> None:
    """In its metrics and in its words."""
    for tau, bounded in (("5", "1.7000"), ("20", "1.0000")):
        assert run(["report", "b/fcfs", "--tau", tau, "-o", "report.html"]) == 0
        page = (results / "report.html").read_text()
        assert f"runs below {tau} s count as {tau} s" in page
        assert f"max(run, {tau} s)" in page
        assert f'mean bounded slowdown</th><td title="{bounded}">' in page


def test_runs_are_called_what_the_user_says(results: Path) -> None:
    """One name for each, or none."""
    assert run(["report", "a", "b/easy", "--name", "old", "--name", "new", "-o", "report.html"]) == 0
    assert heading(results / "report.html") == "old · new"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a", "--name", "x", "--name", "y", "-o", "r.html"], "'--name' must be given once for each of the 1 runs"),
        (["b", "-o", "r.html"], "b: must hold one file *_jobs.csv, not 2"),
        (["nowhere", "-o", "r.html"], "nowhere: there is no such file"),
        (["a", "-o", "a/easy_jobs.csv"], "'PATH' and '-o' name the same file"),
        (["a", "-w", "w.json", "-o", "w.json"], "'-w' and '-o' name the same file"),
        (["a", "-o", "a"], "a: cannot be written: Is a directory"),
        (["a"], "Missing option '-o'"),
        (["-o", "r.html"], "Missing argument"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(
    arguments: list[str], told: str, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and nothing is written."""
    before = sorted(results.rglob("*"))
    assert run(["report", *arguments]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert sorted(results.rglob("*")) == before


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is read."""
    monkeypatch.setattr("batsched_py.loading.find_spec", lambda _: None)
    assert run(["report", "a", "-o", "r.html"]) == 2
    assert capsys.readouterr().err == 'batsched-py: error: report: needs plotly: pip install ".[report]" in a clone\n'


def test_workloads_tell_users_and_deadlines(results: Path) -> None:
    """As for `metrics`: those that jobs files cannot tell."""
    job = {"id": "1", "subtime": 0, "res": 1, "profile": "p", "user": "ann", "deadline": 100}
    workload = {"nb_res": 4, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": 10}}}
    (results / "w.json").write_text(json.dumps(workload))
    assert run(["report", "a", "-w", "w.json", "-o", "report.html"]) == 0
    assert "jobs with a deadline" in (results / "report.html").read_text()
    assert run(["report", "a", "-o", "report.html"]) == 0
    assert "jobs with a deadline" not in (results / "report.html").read_text()


def test_a_part_of_the_runs(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One for all of them: until the last end of any."""
    assert run(["report", "a", "b/fcfs", "-o", "report.html", "--from", "5s"]) == 0
    assert "Shown: from 00:00:05 to 00:00:17." in (results / "report.html").read_text()
    assert run(["report", "a", "-o", "late.html", "--from", "5min"]) == 2
    assert "easy: there is no time from 300 to 10: the last job ends at 10" in capsys.readouterr().err
    assert not (results / "late.html").exists()

"""`batsched-py check`: what it lists, in each format, and its exit codes."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from tests.clone import ROOT

BATSIM = ROOT / "tests" / "data" / "batsim"
EASY, SHARING = str(BATSIM / "o16_energy_easy"), str(BATSIM / "o25_sharing_random")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


def edited(folder: Path) -> Path:
    """The jobs of a run of real Batsim, three of which wait for another time than it says."""
    lines = (BATSIM / "o16_energy_easy" / "out_jobs.csv").read_text().splitlines()
    place = lines[0].split(",").index("waiting_time")
    for number in (3, 5, 7):
        cells = lines[number].split(",")
        cells[place] = "777.000000"
        lines[number] = ",".join(cells)
    (folder / "edited_jobs.csv").write_text("".join(f"{line}\n" for line in lines))
    return folder / "edited"


def test_a_run_without_contradictions_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 0."""
    assert run(["check", EASY]) == 0
    assert capsys.readouterr().out == "no contradictions in 60 jobs\n"


def test_results_of_a_run_that_did_not_end_are_told_to_be_partial(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows without contradictions do not make a run that stopped a complete one."""
    (here / "never.py").write_text(
        "from batsched_py.api import NoOptions, Plan, Scheduler, View\n\n\n"
        "class Never(Scheduler[NoOptions]):\n"
        "    name = 'never'\n\n"
        "    def decide(self, view: View, plan: Plan) -> None:\n"
        "        pass\n"
    )
    files = ["-p", str(ROOT / "platforms/tiny4.xml"), "-w", str(ROOT / "workloads/first.json")]
    assert run(["simulate", *files, "-s", "never.py", "-e", "held", "--quiet"]) == 3
    capsys.readouterr()
    assert run(["check", "held"]) == 0
    assert "held: the results are partial: t=75.000000: nothing will ever happen again" in capsys.readouterr().err


def test_contradictions_are_listed_up_to_a_number(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All are counted; the exit code is 1."""
    assert run(["check", str(edited(here)), "--count", "2"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("is '777.000000', by its times") == 2
    assert "3 contradictions in 60 jobs" in shown
    assert "  a waiting time that is not start - submission: 3, 1 of them not shown" in shown


def test_csv_and_json_have_all(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the lines of the file."""
    prefix = str(edited(here))
    assert run(["check", prefix, "--format", "csv", "--count", "1"]) == 1
    rows = list(csv.DictReader(StringIO(capsys.readouterr().out)))
    assert [(row["run"], row["line"], row["kind"]) for row in rows] == [
        ("edited", line, "a waiting time that is not start - submission") for line in ("4", "6", "8")
    ]
    assert run(["check", prefix, EASY, "-o", "found.json"]) == 1
    first, second = json.loads(Path("found.json").read_text())
    assert [one["line"] for one in first["contradictions"]] == [4, 6, 8]
    assert (second["run"], second["contradictions"]) == ("o16_energy_easy", [])


def test_metrics_and_pictures_warn_of_each_kind(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They go on: the exit code is as without."""
    prefix = str(edited(here))
    for words in (["metrics", prefix], ["gantt", prefix], ["report", prefix, "-o", "r.html"]):
        assert run(words) == 0
        (warning,) = (line for line in capsys.readouterr().err.splitlines() if "warning" in line)
        told = "batsched-py: warning: edited: a waiting time that is not start - submission: 3 times, first w0!"
        assert warning.startswith(told)


def test_what_was_allowed_is_no_contradiction(capsys: pytest.CaptureFixture[str]) -> None:
    """Files of real Batsim do not tell whether jobs may share hosts."""
    assert run(["check", SHARING]) == 1
    assert "right only if jobs were allowed to share hosts" in capsys.readouterr().out
    assert run(["check", SHARING, "--enable-compute-sharing"]) == 0


def test_our_own_runs_tell_whether_hosts_were_shared(capsys: pytest.CaptureFixture[str]) -> None:
    """In the description of the run; the same jobs without it contradict themselves."""
    words = ["simulate", "-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json")]
    assert run([*words, "-s", "random", "-o", "hosts=any", "--enable-compute-sharing", "-e", "r", "--quiet"]) == 0
    assert run(["check", "r"]) == 0
    Path("other_jobs.csv").write_bytes(Path("r_jobs.csv").read_bytes())
    assert run(["check", "other"]) == 1
    assert "a host that another job has at that time" in capsys.readouterr().out

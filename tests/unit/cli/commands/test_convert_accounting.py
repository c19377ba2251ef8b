"""Files of accounting that `convert` reads, one or several, and options that need another format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from tests.clone import ROOT

SAMPLES = ROOT / "tests" / "data" / "accounting"
DAYS = (str(SAMPLES / "pbs-20240531"), str(SAMPLES / "pbs-20240601"))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_days_are_one_log(capsys: pytest.CaptureFixture[str]) -> None:
    """With one line for what is not read, which names the first file, and a window over both."""
    assert run(["convert", *DAYS, "-o", "w.json", "--hosts", "64", "--from", "2024-05-31T12:00:00"]) == 0
    out, err = capsys.readouterr()
    assert "7 jobs in the log" in out
    assert "3 left out: submitted outside the window" in out
    assert err.count("\n") == err.count("keys that are not read") + err.count("depend is not obeyed")
    (job,) = json.loads(Path("w.json").read_bytes())["jobs"]
    assert job["id"] == "104"


@pytest.mark.parametrize(
    ("files", "zone", "says"),
    [
        (DAYS, "", True),
        (DAYS, "Europe/Paris", False),
        ([str(SAMPLES / "slurm_jobcomp.log")], "", True),
        ([str(SAMPLES / "sacct-v0.0.39.json")], "", False),
        ([str(SAMPLES / "lsb.acct")], "", False),
    ],
)
def test_a_report_of_accounting_counts_each_row(files: Sequence[str], zone: str, says: bool) -> None:
    """It names further files, and says the default zone where the format has dates and the user named none."""
    chosen = ["--zone", zone] if zone else []
    assert run(["convert", *files, *chosen, "-o", "w.json", "--hosts", "64", "--report", "r.json"]) == 0
    report = json.loads(Path("r.json").read_bytes())
    taken = [rule["count"] for rule in report["rules"] if rule["effect"] in {"dropped", "left out", "passed over"}]
    assert report["rows"] == report["kept"] + sum(taken)
    further = [{"path": Path(one).name, "sha256": sha256(Path(one).read_bytes()).hexdigest()} for one in files[1:]]
    assert report["further"] == further
    assert ("dates without an offset are in UTC" in report["assumed"]) is says


def test_no_file_of_the_log_is_replaced(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also not a further one."""
    for day, name in zip(DAYS, "ab", strict=True):
        (here / name).write_bytes(Path(day).read_bytes())
    assert run(["convert", "a", "b", "-o", "b"]) == 2
    assert "LOG" in capsys.readouterr().err
    assert (here / "b").read_bytes() == Path(DAYS[1]).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ([DAYS[0], str(SAMPLES / "lsb.acct")], "all files must have one format: "),
        (["log.swf", "log.swf"], "only files of accounting and tables of jobs are one log, and log.swf is"),
        (["log.swf", "--zone", "Europe/Paris"], "'--zone' is for dates without an offset in tables and accounting"),
        ([str(SAMPLES / "lsb.acct"), "--zone", "Europe/Paris"], "'--zone' is for dates without an offset"),
        ([*DAYS, "--zone", "Europe/Nowhere"], "there is no time zone 'Europe/Nowhere'"),
        ([*DAYS, "--columns", "id=x"], "--columns: lacks submit, or start and wait"),
        ([*DAYS, "--columns", "id=x", "--input-format", "pbs"], "'--columns' is for tables of jobs"),
        ([*DAYS, "--slurm-members"], "'--slurm-members' is for Slurm's accounting"),
        ([*DAYS, "--demands", "--unit", "nodes"], "'--demands' needs '--unit cpus'"),
        ([*DAYS, "missing"], "missing: cannot be read"),
        ([str(SAMPLES / "lsb.acct"), "--keep", "colour"], "colour: unknown; there are: jobname"),
        ([], "Missing argument 'LOG...'"),
    ],
)
def test_what_does_not_fit_is_one_line(
    arguments: list[str], rule: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is written."""
    (here / "log.swf").write_text("; MaxProcs: 8\n1 0 0 100 4 -1 -1 4 200 -1 1 3 1 -1 1 -1 -1 -1\n")
    assert run(["convert", *arguments, "-o", "w.json"]) == 2
    err = capsys.readouterr().err
    assert rule in err
    assert err.count("\n") == 1
    assert not (here / "w.json").exists()


def test_memory_of_pbs_is_a_demand() -> None:
    """Each processor is a task of one core with its part."""
    assert run(["convert", *DAYS, "-o", "w.json", "--hosts", "64", "--demands"]) == 0
    demands = {job["id"]: job["demand"] for job in json.loads(Path("w.json").read_bytes())["jobs"]}
    assert demands["100"] == {"cores": 1, "memory": 512}


#: Samples -> the number of their rows, of those that are kept, and columns that are and are not read.
REPORTED = {
    ("sacct-v0.0.41.json",): (12, 5, "submit", "comment"),
    ("slurm_jobcomp.log",): (6, 4, "jobid", "workdir"),
    ("pbs-20240531", "pbs-20240601"): (15, 4, "ctime", "session"),
    ("torque-20240531",): (6, 2, "exec_host", "owner"),
    ("lsb.acct",): (5, 3, "runLimit", "command"),
}


@pytest.mark.parametrize("names", REPORTED, ids=lambda names: names[0])
def test_a_report_has_each_row_and_each_column(names: tuple[str, ...]) -> None:
    """Rows are lines, or jobs and steps of a document; further files are those of the log, with their hashes."""
    paths = [str(SAMPLES / name) for name in names]
    assert run(["convert", *paths, "-o", "w.json", "--hosts", "64", "--report", "r.json"]) == 0
    report = json.loads(Path("r.json").read_bytes())
    rows, kept, read, unread = REPORTED[names]
    taken = sum(rule["count"] for rule in report["rules"] if rule["effect"] in {"dropped", "left out", "passed over"})
    assert (report["rows"], report["kept"], taken) == (rows, kept, rows - kept)
    assert read in report["columns"]["read"]
    assert unread in report["columns"]["unread"]
    assert not report["columns"]["read"].keys() & set(report["columns"]["unread"])
    assert report["input"]["path"] == names[0]
    others = [sha256((SAMPLES / name).read_bytes()).hexdigest() for name in names[1:]]
    assert [file["sha256"] for file in report["further"]] == others

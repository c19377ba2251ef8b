"""Formats that are told by content, whatever the name of a file, in every command that reads logs."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from batsched_py.campaigns.plan.planner import plan_campaign
from batsched_py.campaigns.plan.study_file import read_study
from batsched_py.cli.main import run
from tests.clone import ROOT
from tests.fuzz.targets import EPOCH_SWF, SACCT, SACCT_FORMS, SWF

WORKLOAD = ROOT / "workloads" / "first.json"
PLATFORM = ROOT / "platforms" / "cluster32.xml"
LWF = ROOT / "tests" / "data" / "haizea" / "multi-inst" / "leases.lwf"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def jobs(name: str = "o.json") -> list[str]:
    """The ids of the jobs of a workload that was written."""
    return [job["id"] for job in json.loads(Path(name).read_bytes())["jobs"]]


@pytest.mark.parametrize("name", ["LOG.SWF", "log.swf.txt", "log", "log.json", "log.lwf"])
@pytest.mark.parametrize("compress", [bytes, lzma.compress])
def test_a_log_is_told_by_its_content(name: str, compress: type[bytes]) -> None:
    """In `convert`, `metrics` and `report` alike."""
    Path(name).write_bytes(compress(SWF))
    assert run(["convert", name, "-o", "o.json"]) == 0
    assert jobs() == ["1", "3"]
    assert run(["metrics", name]) == 0
    assert run(["report", name, "-o", "r.html"]) == 0


@pytest.mark.parametrize("name", ["accounting.txt", "a.swf", "a.json"])
@pytest.mark.parametrize("content", [SACCT, SACCT_FORMS])
def test_slurms_accounting_is_told_by_its_content(name: str, content: bytes) -> None:
    """It need not be named."""
    Path(name).write_bytes(content)
    assert run(["convert", name, "-o", "o.json", "--hosts", "9999"]) == 0
    assert run(["metrics", name]) == 0


def test_other_traces_are_told_by_their_content() -> None:
    """Workloads in JSON and leases, too, also compressed."""
    Path("a.swf").write_bytes(lzma.compress(WORKLOAD.read_bytes()))
    assert run(["convert", "a.swf", "-o", "o.json"]) == 0
    assert len(jobs()) == 8
    Path("b.swf").write_bytes(LWF.read_bytes())
    assert run(["convert", "b.swf", "-o", "o.json"]) == 0


@pytest.mark.parametrize(
    ("command", "content", "line"),
    [
        (
            ["simulate", "-p", str(PLATFORM), "-w", "f", "-s", "easy"],
            SWF,
            "looks like a log in the Standard Workload Format, of",
        ),
        (["simulate", "-p", str(PLATFORM), "-w", "f", "-s", "easy"], SACCT, "looks like the output of sacct, of which"),
        (["metrics", "f"], WORKLOAD.read_bytes(), "must be a log, or a table of Batsim's jobs; it looks like JSON"),
        (["metrics", "f"], LWF.read_bytes(), "it looks like XML, as a lease workload"),
        (["convert", "f", "-o", "o.json", "--input-format", "sacct"], SWF, "the file looks like a log in the Standard"),
        (["convert", "f", "-o", "o.json", "--input-format", "swf"], SACCT, "the file looks like the output of sacct"),
    ],
    ids=lambda value: " ".join(value[:1]) if isinstance(value, list) else None,
)
def test_another_format_is_named(
    command: list[str], content: bytes, line: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """In the one line of the error."""
    Path("f").write_bytes(content)
    assert run(command) == 2
    assert line in capfd.readouterr().err


def test_counts_are_printed_if_nothing_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    """Before the error, which has the true total."""
    rows = SACCT.splitlines()
    Path("f").write_bytes(b"\n".join([rows[0], rows[4], b"1|2", rows[7]]))
    assert run(["convert", "f", "-o", "o.json", "--hosts", "9"]) == 2
    written = capfd.readouterr()
    assert written.out == (
        "3 jobs in the log\n1 dropped: row that cannot be read\n1 dropped: not ended, or end unknown\n"
        "1 dropped: never started\n"
    )
    assert "f: has no job that the rules keep, of 3" in written.err


def test_campaigns_read_the_same() -> None:
    """Logs by content, and their clocks."""
    Path("log.txt").write_bytes(EPOCH_SWF)
    Path("study.toml").write_text(
        f"""platforms = ["{PLATFORM}"]
[[workloads]]
log = "log.txt"
from = 1700000030
[[algorithms]]
algorithm = "easy"
"""
    )
    (planned,) = plan_campaign(read_study(Path("study.toml"))).runs
    workload = planned.source.workload
    assert [job.submit_time for job in workload.jobs] == [30]  # type: ignore[union-attr]
    assert any("time starts with the first submission" in line for line in workload.notes)  # type: ignore[union-attr]

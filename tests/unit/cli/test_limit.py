"""The option --limit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from batsched_py.cli.shared.parameters import told_limits
from batsched_py.model.limits import LIMITS, option_name
from tests.clone import ROOT

FILES = ("-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json"))
SIMULATE = ("simulate", *FILES, "-s", "easy", "--quiet")


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The line that ends a command with exit code 2."""
    assert run(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("jobs=7", "first.json: jobs: must be at most 7 jobs (--limit jobs=N allows more)"),
        ("hosts=4", "is one host too many: a platform must be at most 4 hosts (--limit hosts=N allows more)"),
        ("file-size=100", "tiny4.xml: must be at most 100 bytes (--limit file-size=N allows more)"),
    ],
)
def test_a_lower_limit_refuses_what_is_larger(capsys: pytest.CaptureFixture[str], limit: str, told: str) -> None:
    """The line says how to raise it."""
    assert told in error(capsys, *SIMULATE, "--limit", limit)


def test_a_limit_that_is_raised_is_not_in_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    """The last one given rules; others stay as they are."""
    assert run([*SIMULATE, "--limit", "jobs=7", "--limit", "jobs=8", "--limit", "hosts=5"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    "command",
    [
        ("compare", *FILES, "-s", "easy"),
        ("report", "log.swf", "-o", "page.html"),
        ("metrics", "log.swf"),
        ("gantt", "log.swf"),
        ("plot", "waits", "log.swf", "-o", "waits.pdf"),
        ("convert", "log.swf", "-o", "w.json"),
        ("replay", "run.jsonl", "-s", "easy"),
        ("diff", "run.jsonl", "run.jsonl"),
    ],
)
def test_each_command_that_reads_has_limits(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """And heeds them."""
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text(" ".join(["1"] * 18) + "\n")
    Path("run.jsonl").write_text('{"seq":0,"from":"batsim","message":{}}\n' + " " * 2000)
    limits = [f"--limit={name}=10" for name in ("file-size", "line-size", "message-size")]
    assert "must be at most 10 bytes" in error(capsys, *command, *limits)


@pytest.mark.parametrize(
    "value", ["hosts", "host=5", "hosts=0", "hosts=-1", "hosts=1e3", "hosts=" + "9" * 5000, "depth=201"]
)
def test_what_is_no_limit_is_wrong_usage(capsys: pytest.CaptureFixture[str], value: str) -> None:
    """With the names there are, or the rule of the number."""
    assert "--limit" in error(capsys, *SIMULATE, "--limit", value)


def test_no_command_has_the_defaults() -> None:
    """As for whoever calls a reader from Python."""
    assert told_limits() is LIMITS


def test_each_limit_is_described_with_its_default() -> None:
    """In the table of the page."""
    page = (ROOT / "docs" / "cli.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| ([\d ]+) \|", page, re.MULTILINE))
    told = {name: int(number.replace(" ", "")) for name, number in rows.items()}
    assert told == {option_name(name): getattr(LIMITS, name) for name in LIMITS.__struct_fields__}

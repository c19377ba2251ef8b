"""The report of a conversion: in each format no row and no column disappears without a word."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.traces.row_rules import RULES
from tests.clone import ROOT
from tests.integration.programs import run_here
from tests.thoroughness import thorough

SACCT = "JobID|User|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|Comment"
TAKING = {"dropped", "left out", "passed over"}


def convert(folder: Path, text: str, *options: str, code: int = 0) -> dict[str, Any]:
    """Convert a file with this content, and return the report."""
    (folder / "log").write_text(text)
    report = folder / "report.json"
    command = ["convert", str(folder / "log"), "-o", str(folder / "out.json"), "--report", str(report), *options]
    assert run_here(folder, *command) == code
    found: dict[str, Any] = json.loads(report.read_bytes())
    return found


def taken(report: dict[str, Any]) -> int:
    """The number of rows that did not become jobs."""
    return sum(int(rule["count"]) for rule in report["rules"] if rule["effect"] in TAKING)


def test_a_report_says_what_a_paper_needs(tmp_path: Path) -> None:
    """The file by its hash, options as they were given, rules with the first rows, and defaults."""
    text = "job;when;secs;n;why\na;1.5.2024;60;2;x\nb;2.5.2024;bad;2;y\n;;;;\nc;3.5.2024;60;9;z\n"
    columns = "id=job,submit=when:%d.%m.%Y,run=secs,size=n"
    report = convert(tmp_path, text, "--columns", columns, "--hosts", "8")
    assert report["input"] == {"path": "log", "sha256": hashlib.sha256(text.encode()).hexdigest()}
    output = (tmp_path / "out.json").read_bytes()
    assert report["outputs"] == [{"path": "out.json", "sha256": hashlib.sha256(output).hexdigest()}]
    assert report["options"] == {"--columns": columns, "--hosts": "8"}
    assert (report["format"], report["rows"], report["kept"]) == ("csv", 4, 1)
    assert [(rule["rule"], rule["count"], rule["examples"]) for rule in report["rules"]] == [
        ("dropped_row", 1, ["line 3: column secs must be a number, not 'bad'"]),
        ("dropped_too_large", 1, ["job c"]),
        ("corrected_walltime", 1, ["job a"]),
        ("passed_over_blank", 1, ["line 4"]),
    ]
    assert report["columns"]["unread"] == ["why"]
    assert report["notes"][0] == "columns that are not read: why"
    for default in ("column secs: numbers are seconds", "dates without an offset are in UTC"):
        assert default in report["assumed"]
    assert not any(sentence.startswith("hosts") for sentence in report["assumed"])


def test_a_report_is_written_although_nothing_is_kept(tmp_path: Path) -> None:
    """That is when it is needed most."""
    report = convert(tmp_path, "1 0 -1 -1 2 -1 -1 2 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n", code=2)
    assert (report["rows"], report["kept"], report["outputs"]) == (1, 0, [])
    assert report["rules"][0]["rule"] == "dropped_no_run_time"


def test_a_workload_and_leases_are_reported(tmp_path: Path) -> None:
    """Their rows are jobs and requests."""
    jobs = [{"id": str(at), "subtime": at, "res": 1, "walltime": 9, "profile": "p"} for at in range(5)]
    document = {"nb_res": 2, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 3}}}
    report = convert(tmp_path, json.dumps(document), "--from", "2")
    assert (report["rows"], report["kept"], taken(report), report["columns"]) == (5, 3, 2, None)
    report = convert(tmp_path, json.dumps(document), "--leases")
    assert (report["rows"], report["kept"], taken(report)) == (5, 5, 0)


def test_a_page_has_no_marks_from_the_file(tmp_path: Path) -> None:
    """Names of columns cannot end a cell, or become HTML."""
    (tmp_path / "log").write_text("s,r,n,<b>|x\n0,5,1,\n")
    command = ["convert", "log", "-o", "out.json", "--report", "r.md", "--columns", "submit=s,run=r,size=n"]
    assert run_here(tmp_path, *command) == 0
    page = (tmp_path / "r.md").read_text()
    assert "| \\<b>\\|x | not read |" in page
    assert "| hosts: unknown; no job is too large |" in page


NUMBERS = st.integers(-1, 9)
LINES = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=8)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "2.batch", "3_[1-2]", "x", "", "4|"]),
        st.sampled_from(["COMPLETED", "RUNNING", "CANCELLED by 1", "BOOT_FAIL", "PURPLE", ""]),
        st.sampled_from(["2024-05-31T08:00:00", "Unknown", "never"]),
    ),
    min_size=1,
    max_size=8,
)
OPTIONS = st.lists(
    st.sampled_from(["--cancelled", "--dependencies", "--recorded-waits", "--max-jobs=2", "--hosts=5", "--from=2"]),
    unique=True,
)


@settings(max_examples=thorough(25), deadline=None)
@given(LINES, OPTIONS, st.booleans())
def test_no_line_of_a_log_disappears(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[int, ...]], options: list[str], further: bool
) -> None:
    """Each line is kept or counted, each field is read or named."""
    more = " 7" if further else ""
    text = "".join(f"{max(a, 0)} {b} 3 {c} {d} 5 -1 {e} 9 -1 5 1 1 1 1 1 1 1{more}\n" for a, b, c, d, e in lines)
    folder = tmp_path_factory.mktemp("swf")
    (folder / "log").write_text(text)
    command = ["convert", "log", "-o", "out.json", "--report", "r.json", "--keep", "queue", *options]
    assert run_here(folder, *command) in (0, 2)
    report = json.loads((folder / "r.json").read_bytes())
    assert report["rows"] == len(lines) == report["kept"] + taken(report)
    assert len(report["columns"]["read"]) + len(report["columns"]["unread"]) == 18 + further


@settings(max_examples=thorough(25), deadline=None)
@given(ROWS, OPTIONS)
def test_no_row_of_accounting_disappears(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]], options: list[str]
) -> None:
    """Also those of steps, of earlier attempts, and of delimiters alone."""
    lines = [
        f"{number}|u|{state}|2024-05-31T08:00:00|{start}|2024-05-31T09:00:00|60|9|2|2|{state}"
        for number, state, start in rows
    ]
    folder = tmp_path_factory.mktemp("sacct")
    (folder / "log").write_text("\n".join([SACCT, "9|u|COMPLETED|0|0|9|9|9|1|1|", "|" * 10, *lines]) + "\n")
    command = ["convert", "log", "-o", "out.json", "--report", "r.json", *options]
    assert run_here(folder, *command) in (0, 2)
    report = json.loads((folder / "r.json").read_bytes())
    assert report["rows"] == len(lines) + 2 == report["kept"] + taken(report)
    columns = {*report["columns"]["read"], *report["columns"]["unread"]}
    assert columns == set(SACCT.lower().split("|"))


def test_the_catalogue_of_rules_is_documented() -> None:
    """The page has the same rules, in the same order, with the same words."""
    page = (ROOT / "docs" / "conversion-rules.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([\w ]+) \| (.+) \|$", page, re.MULTILINE)
    assert [(rule.name, rule.effect, rule.line) for rule in RULES.values()] == [row for row in rows if row[0] in RULES]

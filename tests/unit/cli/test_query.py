"""`batsched-py query`: names for scripts, reasons for people, mistakes with a caret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from tests.clone import ROOT

RECORDS = str(ROOT / "tests" / "data" / "collection" / "legion.json")


def test_names_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0 also with none."""
    assert run(["query", "--records", RECORDS, '$arch == "x86"', "--plain"]) == 0
    assert capsys.readouterr().out == "h1\nh2\n"
    assert run(["query", "--records", RECORDS, "false", "--plain"]) == 0
    assert capsys.readouterr().out == ""


def test_a_platforms_hosts_are_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """By Batsim's numbers."""
    platform = str(ROOT / "platforms" / "tiny4.xml")
    assert run(["query", "-p", platform, "$id >= 2", "--plain"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_what_a_platform_says_and_is_not_obeyed_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The names stay alone on standard output."""
    path = tmp_path / "p.xml"
    disk = '<disk id="d" read_bw="1Bps" write_bw="1Bps"/>'
    hosts = f'<host id="a" speed="1f">{disk}</host><host id="master_host" speed="1f"/>'
    path.write_text(f'<platform version="4.1"><zone id="z" routing="Full">{hosts}</zone></platform>')
    assert run(["query", "-p", str(path), "true", "--plain"]) == 0
    out, err = capsys.readouterr()
    assert out == "a\n"
    assert err == f"batsched-py: warning: {path}: element disk is not obeyed: Batsim uses no disks (disk d)\n"


def test_a_mistake_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """With a caret, and exit 2."""
    assert run(["query", "--records", RECORDS, "1 < 2 < 3", "--plain"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0].endswith("1 < 2 < 3")
    assert lines[1].index("^") == lines[0].index("1 < 2") + 6
    assert lines[2] == "batsched-py: error: at offset 6: unexpected '<'"


def test_the_others_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """The attributes that are read are shown."""
    assert run(["query", "--records", RECORDS, "$load < 0.5", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "2 of 4 records" in out
    assert "h1: $load < 0.5 is false: $load is 0.9" in out
    assert "h3: $load < 0.5 is undefined: there is no $load" in out


def test_type_errors_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """LA-63: of all records, also of one that is found; what a record lacks is no error, division by zero is one."""
    assert run(["query", "--records", RECORDS, "$arch > 3 or $mem == 512 or $cpus / 0 == 1", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "1 of 4 records" in out
    assert out.splitlines()[-2:] == [
        "$arch > 3 could not be computed of 4 records: its type does not suit",
        "$cpus / 0 could not be computed of 3 records: division by zero",
    ]


def test_attributes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Name, type, records, an example."""
    assert run(["query", "--records", RECORDS, "--attributes"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["$load", "number", "3", "changes", "in", "a", "run", "0.2"] in rows


def test_an_unknown_name_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    """But told, with the nearest."""
    assert run(["query", "--records", RECORDS, "$archs == 1", "--plain"]) == 0
    assert "no record has $archs; did you mean arch?" in capsys.readouterr().err


def test_who_asks_may_be_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """LA-34, and that is a reason, too."""
    records = [{"name": "A", "allowed_users": "ann"}, {"name": "B"}]
    (tmp_path / "r.json").write_text(json.dumps(records))
    assert run(["query", "--records", str(tmp_path / "r.json"), "--as", "bob", "--explain"]) == 0
    assert "A: it would refuse who asks" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("{}", "must be a list of objects, not {}"),
        ("[1]", "[0]: must be an object, not 1"),
        ('[{"a": 1}]', "[0].name: must be a text, not None"),
        ('[{"name": "a"}, {"name": "a"}]', "[1].name: 'a' stands for another record already"),
        ('[{"name": "a", "b": [1]}]', "[0].b: must be a number, a text or a truth value, not [1]"),
        ("[", "line 1, column 2: is not JSON: unexpected end of data"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str, rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    """File, record and rule."""
    (tmp_path / "r.json").write_text(text)
    assert run(["query", "--records", str(tmp_path / "r.json"), "true"]) == 2
    assert capsys.readouterr().err == f"batsched-py: error: {tmp_path}/r.json: {rule}\n"


@pytest.mark.parametrize("given", [[], ["-p", "p.xml", "--records", "r.json"]])
def test_one_source_is_wanted(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Neither none nor two."""
    assert run(["query", "true", *given]) == 2
    assert "one of '-p' and '--records' says whose records are asked" in capsys.readouterr().err

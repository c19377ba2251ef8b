"""`batsched-py timeline`: JSON for scripts, a table and a picture for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.timelines.api import timelines_schema

FA_1 = [{"at": 10, "run": "P1"}, {"at": 15, "break": True}, {"at": 30, "run": "P2"}, {"at": 50, "run": "P3"}]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def write(**document: Any) -> str:
    """A file."""
    Path("t.json").write_text(json.dumps(document))
    return "t.json"


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Run `show --json` and return its output."""
    assert run(["timeline", "show", "--json", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_scripts_read_times_of_entries(capsys: pytest.CaptureFixture[str]) -> None:
    """FA-1, FA-2, FA-45: null for what is held for ever."""
    file = write(vms={"vm1": FA_1})
    assert shown(capsys, file, "--resume", "1000") == {"vm1": {"P1": 10.0, "P2": 1015.0, "P3": 1035.0}}
    assert shown(capsys, file) == {"vm1": {"P1": 10.0, "P2": None, "P3": None}}
    file = write(vms={"vm1": FA_1[:3], "vm2": FA_1[:3]})
    assert shown(capsys, file, "--resume", "vm2=100", "--resume", "-5") == {
        "vm1": {"P1": 10.0, "P2": None},
        "vm2": {"P1": 10.0, "P2": 115.0},
    }


def test_everything_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Wall times, states, what moved an entry."""
    configuring = {"at": -5, "run": "n", "takes": 7}
    file = write(vms={"vm1": {"launch": 3, "entries": [configuring, *FA_1]}, "vm2": {"managed": False}})
    found = shown(capsys, file, "--full", "--resume", "vm1=20")
    assert (found["launch"], found["start"], found["notes"]) == (0.0, 70.0, [])
    assert found["vms"]["vm2"] == {"state": "n/a", "configured": None, "entries": []}
    vm = found["vms"]["vm1"]
    assert (vm["state"], vm["configured"]) == ("configured", 10.0)
    assert vm["entries"][0] == {
        "name": "n", "at": -5.0, "begins": 3.0, "ends": 10.0, "time": -5.0, "held_by": [],
        "outcome": "done", "late": 0.0,
    }  # fmt: skip
    assert vm["entries"][2] == {
        "name": "P2", "at": 30.0, "begins": 105.0, "ends": 105.0, "time": 35.0, "held_by": ["break@15"],
        "outcome": "done", "late": 0.0,
    }  # fmt: skip


def test_a_resume_may_count_from_the_launch(capsys: pytest.CaptureFixture[str]) -> None:
    """FA-12: before there is an experiment time; one in experiment time comes too late for that."""
    file = write(vms={"vm1": [{"at": "-inf", "break": True}, {"at": -5, "run": "N"}, {"at": 10, "run": "A"}]})
    assert shown(capsys, file, "--resume", "launch+30") == {"vm1": {"N": -5.0, "A": 10.0}}
    assert shown(capsys, file, "--resume", "30") == {"vm1": {"N": None, "A": None}}


def test_people_see_a_table_and_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    """In the order of wall time, and a row for each VM."""
    install = {"at": -5, "run": "install", "takes": 30, "exit": [10, 0]}
    file = write(
        vms={"vm1": [install, *FA_1[:3]], "vm2": [{"at": 5, "pause": 40}, {"at": 6, "run": "B", "takes": 20}]},
        reboot_delay=20,
        buffer=40,
    )
    assert run(["timeline", "show", file]) == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    assert ["0", "-", "vm1", "install", "-5", "30", "exit", "10"] in rows
    assert ["30", "-", "vm1", "reboot", "20"] in rows
    assert ["120", "0", "start"] in rows
    assert ["166", "46", "vm2", "B", "6", "20", "moved", "by", "pause@5"] in rows
    assert ["-", "-", "vm1", "P2", "30", "held;", "moved", "by", "break@15"] in rows
    (first, second) = (line.partition("│")[2] for line in out.splitlines() if line.startswith(("vm1 │", "vm2 │")))
    assert first.startswith("AAAA")
    assert first.endswith("▓▓")
    assert "~~~" in first
    assert "░░DDD" in second or "░░░DDD" in second
    assert "A=install  B=P1  D=B" in out
    assert out.splitlines()[-1] == "vm1 is held by break@15 since 15: no resume comes"


def test_options_rule_over_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    """FA-37."""
    failing = {"at": -10, "run": "a", "takes": 20, "exit": 1}
    file = write(vms={"vm1": [failing], "vm2": [{"at": -1, "run": "d", "takes": 50}]}, on_failed="abort", buffer=60)
    options = ["--on-exit", "fail"]
    aborted = shown(capsys, file, "--full", *options)
    assert (aborted["start"], aborted["notes"]) == (None, ["vm1 failed: a exited with 1"])
    assert shown(capsys, file, "--full", *options, "--on-failed", "exclude", "--buffer", "5")["start"] == 55


def test_warnings_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """FA-41: and the JSON stays JSON."""
    entries = [{"at": 10, "run": "A"}, {"at": 50, "pause": 400}, {"at": 100, "run": "B"}]
    file = write(buffer=0, vms={"vm1": {"lease": 300, "entries": entries}})
    assert run(["timeline", "show", file, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"vm1": {"A": 10.0, "B": None}}
    assert err == "batsched-py: warning: vm1: B: would begin at 500 > 300, the end of its lease\n"


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["--resume", "vm9=5"], "resume: VM 'vm9': unknown; did you mean vm1? There are: vm1"),
        (["--resume", "soon"], "must be [VM=]T, where T is seconds of experiment time or launch+S, not 'soon'"),
        (["--resume", "=5"], "must be [VM=]T"),
        (["--resume", "nan"], "must be [VM=]T"),
        (["--resume", "launch+-5"], "must be [VM=]T"),
        (["--full"], "'--full' needs '--json'"),
    ],
)
def test_wrong_options_are_one_line(arguments: list[str], rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2."""
    assert run(["timeline", "show", write(vms={"vm1": FA_1}), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert rule in err
    assert err.count("\n") == 1


def test_a_wrong_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """FA-52: file, field, rule."""
    assert run(["timeline", "show", write(vms={"vm1": [{"at": 0, "run": "A"}]})]) == 2
    told = "batsched-py: error: t.json: vms.vm1[0].at: must not be 0: that is the global barrier\n"
    assert capsys.readouterr().err == told


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """For editors."""
    assert run(["timeline", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == timelines_schema()


def test_what_nobody_reads_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Rows and VMs beyond many are counted; equal names of all of them are told apart."""
    file = write(vms={f"v{number}": [{"at": at, "run": "x"} for at in range(1, 16)] for number in range(66)})
    assert run(["timeline", "show", file]) == 0
    out = capsys.readouterr().out
    assert f"{66 * 16 + 1 - 1000} more; '--json' has all of them" in out
    assert "2 more VMs are not drawn" in out
    assert shown(capsys, file)["v65"]["x#15"] == 15


def test_no_vm_is_nothing_to_draw(capsys: pytest.CaptureFixture[str]) -> None:
    """It is no mistake."""
    assert run(["timeline", "show", write(vms={})]) == 0
    assert "Nothing to draw: there is no VM." in capsys.readouterr().out


def test_the_picture_of_a_file_is_the_same_each_time() -> None:
    """An SVG whose texts are the names of VMs and entries, and the legend."""
    vms = {"one": [{"at": -5, "run": "first", "takes": 40}, *FA_1], "two": [{"at": 5, "pause": 600}]}
    file = write(vms=vms, buffer=10)
    pictures = []
    for name in ("a.svg", "b.svg"):
        assert run(["timeline", "show", file, "-o", name]) == 0
        pictures.append(Path(name).read_text())
    assert pictures[0] == pictures[1]
    for text in ("one", "two", "first", "paused", "held", "configured", "start", "experiment time (minutes)"):
        assert f">{text}</text>" in pictures[0]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--title", "x"], "'--width' and '--title' need '-o'"),
        (["--json", "-o", "a.svg"], "'--json' and '-o' cannot be combined"),
        (["-o", "a.txt"], "must end with .pdf or .svg or .png, not be 'a.txt'"),
    ],
)
def test_options_of_the_picture(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, and nothing is written."""
    assert run(["timeline", "show", write(vms={"vm": FA_1}), *arguments]) == 2
    assert told in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["t.json"]


def test_schedules_of_firewheel_become_timelines(capsys: pytest.CaptureFixture[str]) -> None:
    """F35: those of all VMs are in one file, with the names of VMs; without names a file is a VM."""
    go = {"executable": "/bin/go", "arguments": ""}
    Path("all.json").write_text(json.dumps({"10": [{"name": "web", **go}, {"name": "db", **go}]}))
    Path("more.json").write_text(json.dumps({"20": [go]}))
    assert run(["timeline", "convert", "--input-format", "firewheel", "all.json", "more.json", "-o", "t.json"]) == 0
    assert capsys.readouterr().out == "wrote t.json: 3 VMs, 3 entries\n"
    assert shown(capsys, "t.json") == {"web": {"/bin/go": 10.0}, "db": {"/bin/go": 10.0}, "more": {"/bin/go": 20.0}}


def test_what_cannot_be_a_timeline_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    """One line with the rule: an entry at 0, two files of one VM."""
    Path("web.json").write_text(json.dumps({"0": [{"executable": "/bin/go"}]}))
    assert run(["timeline", "convert", "--input-format", "firewheel", "web.json", "-o", "t.json"]) != 0
    assert "web.json: vms.web[0].at: must not be 0" in capsys.readouterr().err
    assert run(["timeline", "convert", "--input-format", "firewheel", "web.json", "./web.json", "-o", "t.json"]) == 2
    assert not Path("t.json").exists()

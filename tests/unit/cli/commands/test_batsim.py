"""`batsched-py batsim` before an engine is asked; the rest is in tests/containers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from tests.clone import ROOT

FILES = ("-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json"))
NOWHERE = ("--docker-host", "unix:///nowhere.sock")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and the one line."""
    code = run(["batsim", *arguments])
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    return code, output.err.removeprefix("batsched-py: error: ").rstrip("\n")


def test_without_the_extra_it_is_told_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a line with the command."""
    monkeypatch.setitem(sys.modules, "docker", None)
    told = 'batsim: needs docker: pip install ".[docker]" in a clone'
    assert said(capsys, *FILES, "-s", "easy", *NOWHERE) == (2, told)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (FILES, "Missing option '-s': which algorithm shall decide?"),
        ((*FILES, "-s", "easy", "-b", "ipc://here"), "'--bind' must be a tcp address: a container has no other way"),
        ((*FILES[:2], "-s", "easy"), "Missing option '-w' / '--workload'"),
        ((*FILES[:2], "-w", "none.json", "-s", "easy"), "none.json: cannot be read: No such file or directory"),
        ((*FILES, "--events", "none.txt", "-s", "easy"), "none.txt: cannot be read: No such file or directory"),
        ((*FILES, "-s", "nobody"), "nobody"),
        ((*FILES, "-s", "easy", "-o", "reserve=cores"), "option reserve of easy: must be counts | hosts, not 'cores'"),
        ((*FILES, "-s", "easy", "--pull", "perhaps"), "'perhaps' is not one of 'missing', 'always', 'never'"),
        ((*FILES, "-s", "easy", "--record", FILES[1]), f"'-p' and '--record' name the same file, {FILES[1]}"),
    ],
)
def test_what_is_wrong_is_told_before_an_engine_is_asked(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    """Exit code 2; Batsim would tell it late, by a name of the container."""
    code, line = said(capsys, *arguments, *NOWHERE)
    assert code == 2
    assert words in line


def test_an_engine_that_is_not_there_leaves_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """No recording is begun, an older one stays."""
    (tmp_path / "run.jsonl").write_text("old")
    code, line = said(capsys, *FILES, "-s", "easy", "--record", str(tmp_path / "run.jsonl"), *NOWHERE)
    assert (code, line.split(" (")[0]) == (4, "no container engine answers at unix:///nowhere.sock")
    assert (tmp_path / "run.jsonl").read_text() == "old"


#: An algorithm that gives jobs with demands whole hosts.
HOSTS_ONLY = str(ROOT / "tests" / "integration" / "hosts_only.py")


def test_a_workload_that_needs_shared_hosts_is_refused_before_batsim_starts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With an algorithm that places tasks, and without the option."""
    job = {"id": "a", "subtime": 0, "res": 1, "walltime": 9, "profile": "p", "demand": {"cores": 1}}
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"nb_res": 4, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": 5}}}))
    files = (*FILES[:2], "-w", str(path), *NOWHERE)
    rule = "a requests parts of hosts, which Batsim shares between jobs only with --enable-compute-sharing"
    assert said(capsys, *files, "-s", "easy") == (2, f"{path}: {rule}")
    for words in (("-s", "easy", "--", "--enable-compute-sharing"), ("-s", HOSTS_ONLY)):
        code, line = said(capsys, *files, *words)
        assert (code, line.split(" (")[0]) == (4, "no container engine answers at unix:///nowhere.sock")

"""The beginning of an algorithm: it works, its tests pass, and a name that will not do is refused."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from batsched_py.cli.commands.new import check_name, class_name, written_algorithm, written_tests
from batsched_py.cli.main import run
from batsched_py.errors import OptionError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def test_what_new_writes_runs_and_passes_its_tests(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also in a folder that was not there; what to do next is what works."""
    assert run(["new", "mine/big_first.py"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["wrote mine/big_first.py", "wrote mine/test_big_first.py"]
    generate, simulate, tests = (line.split() for line in said[3:])
    assert run(generate[1:]) == 0
    assert run([*simulate[1:], "--quiet"]) == 0
    few = ["-k", "edges"]  # docs/testing.md runs all but those of the second contract
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *few, tests[1]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "2 passed, 15 deselected" in done.stdout


def test_tests_are_left_out_on_request(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The output does not mention them."""
    assert run(["new", "mine.py", "--no-tests"]) == 0
    assert [path.name for path in here.iterdir()] == ["mine.py"]
    assert "pytest" not in capsys.readouterr().out


@pytest.mark.parametrize("there", ["mine.py", "test_mine.py"])
def test_nothing_is_overwritten(here: Path, capsys: pytest.CaptureFixture[str], there: str) -> None:
    """Neither file is written if one of them is there, were it a link into nowhere."""
    (here / there).symlink_to(here / "nowhere")
    assert run(["new", "mine.py"]) == 2
    said = capsys.readouterr().err
    assert said == f"batsched-py: error: {there}: exists already, and is not overwritten\n"
    assert [path.name for path in here.iterdir()] == [there]


@pytest.mark.parametrize("links", [True, False])
def test_both_files_are_written_or_none(here: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool) -> None:
    """A file that comes between the look and the writing stays, and the other one is not left alone."""
    link, made = os.link, []

    def link_and_be_overtaken(source: Path, target: Path) -> None:
        made.append(target)
        if len(made) == 1:
            (here / "test_mine.py").write_text("theirs")
        if not links:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        link(source, target)

    monkeypatch.setattr(os, "link", link_and_be_overtaken)
    assert run(["new", "mine.py"]) == 2
    assert [path.name for path in here.iterdir()] == ["test_mine.py"]
    assert (here / "test_mine.py").read_text() == "theirs"
    (here / "test_mine.py").unlink()
    assert run(["new", "mine.py"]) == 0
    assert sorted(path.name for path in here.iterdir()) == ["mine.py", "test_mine.py"]
    assert (here / "mine.py").stat().st_mode == (here / "test_mine.py").stat().st_mode


def test_a_full_disk_leaves_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the second of two files that cannot be made."""
    link, made = os.link, []

    def fail_at_the_second(source: Path, target: Path) -> None:
        made.append(target)
        if len(made) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        link(source, target)

    monkeypatch.setattr(os, "link", fail_at_the_second)
    assert run(["new", "mine.py"]) == 2
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("my-algo", "must be one of Python's in small letters"),
        ("MyAlgo", "must be one of Python's in small letters"),
        ("class", "must be one of Python's in small letters"),
        ("test_mine", "pytest takes"),
        ("random", "would hide the module random"),
        ("batsched_py", "would hide the module batsched_py"),
        ("easy", "there is an algorithm easy, at batsched_py.schedulers.easy:Easy"),
    ],
)
def test_a_name_that_will_not_do_is_refused(name: str, words: str) -> None:
    """Before anything is written."""
    with pytest.raises(OptionError, match=words):
        check_name(name)
    assert run(["new", f"{name}.py"]) == 2
    assert list(Path.cwd().iterdir()) == []


def test_a_file_that_is_not_python_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The ending says what it is."""
    assert run(["new", "mine"]) == 2
    assert "mine: must be the name of a Python file, like my_algo.py" in capsys.readouterr().err


def test_the_texts_name_the_algorithm_throughout() -> None:
    """No placeholder is left."""
    assert class_name("a_b2_cd") == "AB2Cd"
    for text in (written_algorithm("big_first"), written_tests("big_first")):
        assert "BigFirst" in text
        assert "$" not in text
        assert max(map(len, text.splitlines())) <= 120

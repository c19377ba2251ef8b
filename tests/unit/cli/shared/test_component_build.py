"""The build of libraries: what is missing is one line."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from batsched_py.cli.shared.component_build import missing


def made(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and standard error of a build; nothing remains of one that fails."""
    code = run(["library", "-s", "fcfs", "-o", str(folder / "libfcfs.so")])
    assert list(folder.iterdir()) == []
    return code, capsys.readouterr().err


@pytest.fixture
def _compiler(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that is never called."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "cc").write_text("#!/bin/sh\necho 'x.c:1: error: \\033[1mno' >&2\nexit 1\n")
    (folder / "cc").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)


def test_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The compilers that were looked for are named; so is one that CC names in vain."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", " ")
    line = "needs a C compiler: none of cc, gcc, clang is on PATH, and CC names no other"
    assert made(tmp_path, capsys) == (2, f"batsched-py: error: {line}\n")
    assert missing() == line
    monkeypatch.setenv("CC", "tcc -w")
    assert made(tmp_path, capsys) == (2, "batsched-py: error: CC names the C compiler tcc, which is not there\n")
    monkeypatch.setenv("CC", "gcc 'O2")
    assert missing() == "CC must be a command in the words of a shell: No closing quotation"


@pytest.mark.usefixtures("_compiler")
def test_without_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder and the package are named."""
    monkeypatch.setattr(sysconfig, "get_path", lambda name: "/nowhere/include")
    code, line = made(tmp_path, capsys)
    assert code == 2
    assert line.startswith(
        "batsched-py: error: needs the headers of Python: /nowhere/include has no Python.h (on Debian"
    )


@pytest.mark.usefixtures("_compiler")
def test_without_a_shared_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Python that is one program cannot be part of another."""
    (tmp_path.parent / "include").mkdir()
    (tmp_path.parent / "include" / "Python.h").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path.parent / "include"))
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: {"INSTSONAME": "libpython9.a"}.get(name, "/nowhere"))
    code, line = made(tmp_path, capsys)
    assert code == 2
    assert line.startswith("batsched-py: error: needs Python as a shared library: ")
    assert "has none in /nowhere (on Debian in the package libpython3." in line


@pytest.mark.usefixtures("_compiler")
def test_a_compiler_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its first error is shown, without what could control a terminal."""
    if missing():
        pytest.skip(f"a library {missing()}")
    code, line = made(tmp_path, capsys)
    assert code == 2
    assert line.count("\n") == 1
    assert line.endswith("/cc failed: x.c:1: error: \\x1b[1mno\n")


@pytest.mark.usefixtures("_compiler")
def test_a_compiler_that_cannot_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason of the system is shown."""
    if missing():
        pytest.skip(f"a library {missing()}")

    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(subprocess, "run", refuse)
    code, line = made(tmp_path, capsys)
    assert code == 2
    assert line.endswith("/cc cannot be started: Permission denied\n")

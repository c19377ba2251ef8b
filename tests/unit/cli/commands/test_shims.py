"""Commands under other names are written once, and can be executed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from batsched_py.cli.main import run


def test_a_command_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The output ends with the line by which other programs find it."""
    folder = tmp_path / "a folder"
    assert run(["shims", str(folder)]) == 0
    assert os.access(folder / "batsched", os.X_OK)
    assert os.access(folder / "batsim", os.X_OK)
    assert capsys.readouterr().out.splitlines() == [
        f"wrote {folder}/batsched", f"wrote {folder}/batsim", "next:", f"  export PATH='{folder}':\"$PATH\"",
    ]  # fmt: skip


def test_files_that_exist_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A batsched in the folder may be the real one."""
    (tmp_path / "batsched").write_text("real")
    assert run(["shims", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"batsched-py: error: {tmp_path}/batsched: exists already, and is not overwritten\n"
    )
    assert (tmp_path / "batsched").read_text() == "real"

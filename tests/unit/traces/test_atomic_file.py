"""Files replaced at once or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.traces.atomic_file import write_atomically


def test_new_file(tmp_path: Path) -> None:
    """A new file has the content and may be read by others as any file made here, and nothing is left beside it."""
    ordinary, written = tmp_path / "ordinary", tmp_path / "written"
    ordinary.touch()
    write_atomically(written, b"content")
    assert written.read_bytes() == b"content"
    assert written.stat().st_mode == ordinary.stat().st_mode
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ordinary", "written"]


def test_replaced_file(tmp_path: Path) -> None:
    """The old content is gone."""
    path = tmp_path / "file"
    path.write_bytes(b"a longer old content")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def test_failure_leaves_nothing(tmp_path: Path) -> None:
    """If the file cannot be replaced, no temporary file stays."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomically(folder, b"content")
    assert list(tmp_path.iterdir()) == [folder]

"""Files replaced at once or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from batsched_py.files.atomic_file import write_atomically, write_pieces_atomically


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


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    """Users who may read the old content may read the new one, and no others."""
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o640)
    write_atomically(path, b"new")
    assert path.stat().st_mode & 0o7777 == 0o640


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link(tmp_path: Path, *, exists: bool) -> None:
    """Its target has the content, in the target's folder, whether it was there or not."""
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    if exists:
        target.write_bytes(b"old")
    link.symlink_to("folder/target")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]


def test_a_link_to_itself(tmp_path: Path) -> None:
    """There is no file to replace, and the link stays."""
    link = tmp_path / "link"
    link.symlink_to("link")
    with pytest.raises(OSError, match="link"):
        write_atomically(link, b"new")
    assert link.is_symlink()


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    """Its reader gets the content; it is not replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        content = pool.submit(pipe.read_bytes)
        write_atomically(pipe, b"content")
        assert content.result(10) == b"content"
    assert pipe.is_fifo()


def test_pieces_are_one_file_or_none(tmp_path: Path) -> None:
    """Written in turn; if they cannot all be made, the old file stays."""
    path = tmp_path / "file"
    write_pieces_atomically(path, iter([b"one ", b"two"]))
    assert path.read_bytes() == b"one two"

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_pieces_atomically(path, broken())
    assert path.read_bytes() == b"one two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_may_be_as_long_as_names_may_be(tmp_path: Path) -> None:
    """The temporary file beside it has a shorter one."""
    path = tmp_path / ("n" * 255)
    write_atomically(path, b"content")
    assert path.read_bytes() == b"content"

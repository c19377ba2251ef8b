"""Text that waits on disk."""

from __future__ import annotations

from pathlib import Path

from batsched_py.files.text_spool import TextSpool


def test_lines_are_written_below_a_header(tmp_path: Path) -> None:
    """In their order; meanwhile there is no file."""
    with TextSpool(tmp_path) as aside:
        aside.put("a\nb\n")
        aside.put("")
        aside.put("é\n")
        assert not list(tmp_path.iterdir())
        aside.write_below("head", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "head\na\nb\né\n"


def test_nothing_is_left_if_nobody_writes_it(tmp_path: Path) -> None:
    """All spooled lines are dropped."""
    with TextSpool(tmp_path) as aside:
        aside.put("a\n")
    assert not list(tmp_path.iterdir())

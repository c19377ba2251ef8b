"""The notebook of the docs, run by a kernel of its own."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.notebook import PAGE, as_page, execute, notebook_of_the_docs


def test_the_page_is_the_notebook() -> None:
    """`python -m tests.docs.notebook` writes both anew after a change."""
    text, pictures = as_page(notebook_of_the_docs())
    assert PAGE.read_text() == text
    assert {name: (PAGE.parent / name).read_bytes() for name in pictures} == pictures


def test_its_cells_show_what_the_page_shows(tmp_path: Path) -> None:
    """In an empty folder, so that all files come with batsched-py; pictures depend on the version of matplotlib."""
    text, pictures = as_page(execute(notebook_of_the_docs(), tmp_path))
    assert words(text) == words(PAGE.read_text())
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())
    assert (tmp_path / "shortest.html").stat().st_size > 1_000_000


def words(text: str) -> list[str]:
    """Return what stands there, without tags, whose looks are the libraries', and without blanks."""
    return re.sub(r"<[^>]*>", " ", text).split()

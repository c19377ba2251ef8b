"""Facts that the API reference reads from the sources in addition to docstrings."""

from __future__ import annotations

from pathlib import Path

import griffe

from website.facts import Facts, comment_above

SOURCE = '''
from msgspec import Struct

#: How many.
#: In all.
MOST = 3


class Piece(Struct, frozen=True):
    """A piece."""

    #: Its number.
    number: int
    name: str = "none"

    @property
    def twice(self) -> int:
        """Twice its number."""
        return 2 * self.number


class Setting(Struct, frozen=True, kw_only=True):
    """A setting."""

    number: int = 1
'''


def loaded(folder: Path) -> griffe.Module:
    (folder / "pieces.py").write_text(SOURCE)
    found = griffe.load("pieces", search_paths=[folder], extensions=griffe.load_extensions(Facts))
    assert isinstance(found, griffe.Module)
    return found


def test_comments_above_attributes_are_their_docstrings(tmp_path: Path) -> None:
    """They are for modules and for classes; without a comment there is none."""
    module = loaded(tmp_path)
    members = {path: module[path] for path in ("MOST", "Piece.number", "Piece.name")}
    texts = {path: member.docstring.value if member.docstring else "" for path, member in members.items()}
    assert texts == {"MOST": "How many.\nIn all.", "Piece.number": "Its number.", "Piece.name": ""}


def test_facts_have_constructors(tmp_path: Path) -> None:
    """With their fields in order, and only by name where msgspec wants it so."""
    module = loaded(tmp_path)
    pieces = [(each.name, each.default, each.kind) for each in module["Piece"].parameters]
    either = griffe.ParameterKind.positional_or_keyword
    assert pieces == [("self", None, either), ("number", None, either), ("name", "'none'", either)]
    assert module["Setting"].parameters["number"].kind is griffe.ParameterKind.keyword_only


def test_only_comments_right_above_count() -> None:
    """A blank line ends them."""
    assert comment_above(["#: far", "", "x = 1"], 3) == ""
    assert comment_above(["#: near", "x = 1"], 2) == "near"
    assert comment_above(["# ordinary", "x = 1"], 2) == ""

"""Files that a file includes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from batsched_py.files.included_files import read_included
from batsched_py.reading.included_file import IncludedFile, IncludedFiles
from batsched_py.reading.limits import Limits


def names_in(content: bytes) -> Iterable[str]:
    """Each line is a name."""
    return content.decode().splitlines()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "etc" / "conf.d").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "etc")


def included(*names: str, limits: Limits | None = None) -> IncludedFiles:
    """Return the files that one with these names includes."""
    content = "\n".join(names).encode()
    Path("first").write_bytes(content)
    return read_included(Path("first"), "first", content, names_in, limits or Limits())


def test_names_are_relative_to_the_file_that_has_them() -> None:
    """The files are read by the name that messages show."""
    Path("a").write_text("conf.d/b\n")
    Path("conf.d/b").write_text("c\n")
    Path("conf.d/c").write_text("")
    assert included("a") == {
        ("first", "a"): IncludedFile("a", b"conf.d/b\n"),
        ("a", "conf.d/b"): IncludedFile("conf.d/b", b"c\n"),
        ("conf.d/b", "c"): IncludedFile("conf.d/c", b""),
    }


OUTSIDE = ("../secret", "/etc/passwd", "conf.d/../../secret", "..", ".", "a//b", "./a", "a b", "~/a", "a\\b", "a\0b")


@pytest.mark.parametrize("name", [*OUTSIDE, "a" * 101, "é", "$HOME/a", "/dev/stdin"])
def test_a_name_that_is_no_file_below_is_not_opened(name: str) -> None:
    """Its name does not matter."""
    Path("../secret").write_text("secret")
    [rule] = included(name).values()
    assert isinstance(rule, str)
    assert rule.startswith("must be a file in the same folder or below")


def test_a_link_does_not_lead_outside() -> None:
    """Neither of a file nor of a folder; one that stays inside is followed."""
    Path("../secret").write_text("secret")
    Path("file").symlink_to("../secret")
    Path("folder").symlink_to("..")
    Path("inside").symlink_to("conf.d")
    Path("loop").symlink_to("loop")
    Path("conf.d/b").write_text("")
    found = included("file", "folder/secret", "inside/b", "loop")
    outside = "must be a file in the same folder or below, such as nodes.conf or conf.d/nodes.conf"
    assert found["first", "file"] == found["first", "folder/secret"] == outside
    assert found["first", "inside/b"] == IncludedFile("inside/b", b"")
    assert found["first", "loop"] == "names loop, which is no file"


def test_only_files_are_read() -> None:
    """A pipe would never end; a folder has no text."""
    os.mkfifo("pipe")
    found = included("pipe", "conf.d", "absent")
    assert list(found.values()) == [f"names {name}, which is no file" for name in ("pipe", "conf.d", "absent")]


def test_a_file_cannot_include_itself() -> None:
    """Also not by others; another file may include it again."""
    Path("a").write_text("b\nfirst\na\n")
    Path("b").write_text("a\nc\n")
    Path("c").write_text("")
    found = included("a", "c")
    rule = "must not include the file itself, also by others"
    assert [key for key, value in found.items() if value == rule] == [("b", "a"), ("a", "first"), ("a", "a")]
    assert found["first", "c"] == found["b", "c"] == IncludedFile("c", b"")


def test_the_number_and_the_size_of_files_are_limited() -> None:
    """A short file could otherwise have all memory."""
    for number in range(101):
        Path(f"n{number}").write_text("")
    found = list(included(*(f"n{number}" for number in range(101))).values())
    assert found[99] == IncludedFile("n99", b"")
    assert found[100] == "must not be of more than 100 files"
    Path("a").write_text("b\n")
    Path("b").write_text("d\n")
    rule = "must be at most 3 bytes (--limit file-size=N allows more)"
    assert included("a", limits=Limits(file_size=3)) == {
        ("first", "a"): IncludedFile("a", b"b\n"),
        ("a", "b"): rule,
    }

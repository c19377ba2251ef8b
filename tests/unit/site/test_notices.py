"""The notices of a site, in their file: bounded, numbered, ended, and damaged."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.errors import SiteError
from batsched_py.site.notices import LONGEST, Notices, text_fault
from batsched_py.text.display import displayed_line
from tests.thoroughness import thorough


def test_notices_are_kept_numbered_and_end(tmp_path: Path) -> None:
    """Numbers are not used again; an end is on the wall clock; only the owner can read the file."""
    path, now = tmp_path / "notices.json", 1000.0
    kept = Notices(path, lambda: now)
    assert kept.current() == ()
    assert not path.exists()
    first, second = kept.add("maintenance", "olga", 1600.0), kept.add("new disks", "olga", None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Notices(path, lambda: now).current() == (first, second)
    now = 1599.9
    assert [one.number for one in kept.current()] == [1, 2]
    now = 1600.0
    assert kept.current() == (second,)
    assert not kept.remove(1)
    assert kept.remove(2)
    assert not kept.remove(2)
    again = Notices(path, lambda: now)
    assert again.current() == ()
    assert again.add("third", "olga", None).number == 3
    assert [one["number"] for one in json.loads(path.read_text())["notices"]] == [3]  # ended ones are gone


def test_a_notice_that_cannot_be_written_is_not_published(tmp_path: Path) -> None:
    """The file names itself, and those of before remain."""
    kept = Notices(tmp_path / "gone" / "notices.json")
    with pytest.raises(SiteError, match=r"notices\.json: cannot be written: No such file"):
        kept.add("x", "olga", None)
    assert kept.current() == ()


@pytest.mark.parametrize("text", ["", "  ", "x" * (LONGEST + 1), "a\nb", "\x1b[31m", "\u202eevil", "a\u200bb", "\x85"])
def test_texts_that_are_empty_long_or_unsafe_are_refused(text: str) -> None:
    """Line ends, control characters, and those that change the direction of writing or have no width."""
    assert text_fault(text)


@settings(max_examples=thorough(200))
@given(st.text(max_size=60))
def test_a_text_without_a_fault_is_displayed_as_it_is(text: str) -> None:
    """A terminal shows all of it unchanged."""
    assert text_fault(text) or displayed_line(text) == text


GOOD = {"number": 1, "text": "x", "by": "olga", "published": 1.0, "until": None}


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ("{", "truncated"),
        ('{"last": "1"}', "last"),
        ('{"more": 1}', "more"),
        (json.dumps({"last": 1, "notices": [{**GOOD, "text": "\x1b[2J"}]}), r"notices\[0\]\.text: must be on one line"),
        (json.dumps({"last": 0, "notices": [GOOD]}), r"notices\[0\]\.number: must be greater"),
        (json.dumps({"last": 1, "notices": [GOOD, GOOD]}), r"notices\[1\]\.number: must be greater"),
        (json.dumps({"last": 1, "notices": [{**GOOD, "until": 1e99}]}), r"notices\[0\]: dates must be in seconds"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: str, rule: str) -> None:
    """With its name, the rule and the remedy."""
    path = tmp_path / "notices.json"
    path.write_text(content)
    with pytest.raises(SiteError, match=rf"notices\.json: .*{rule}.*: correct the file, or remove it"):
        Notices(path)


def test_a_file_that_was_only_created_has_no_notices(tmp_path: Path) -> None:
    """As after a kill between its creation and its first content."""
    path = tmp_path / "notices.json"
    path.touch()
    assert Notices(path).current() == ()

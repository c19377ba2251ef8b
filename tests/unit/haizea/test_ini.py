"""The syntax of Haizea's configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import ConfigurationError
from batsched_py.haizea.ini import format_sections, parse_sections, read_sections
from batsched_py.reading.limits import LIMITS


def test_options_have_a_colon_or_an_equals_sign_and_comments_are_left_out() -> None:
    """Names of options are in any case; comments begin a line, or stand behind a semicolon."""
    text = "# one\n[general]\nMode: simulated ; two\nloglevel=INFO\n; three\n\n[multi]\ntracefiles: a.lwf\n  b.lwf\n"
    assert parse_sections(text, "x") == {
        "general": {"mode": "simulated", "loglevel": "INFO"},
        "multi": {"tracefiles": "a.lwf\nb.lwf"},
    }


def test_a_default_section_is_a_section_like_others() -> None:
    """Its options are no options of all sections."""
    assert parse_sections("[DEFAULT]\na: 1\n[general]\nb: 2\n", "x") == {"DEFAULT": {"a": "1"}, "general": {"b": "2"}}


def test_what_is_written_is_read_again() -> None:
    """Section by section."""
    sections = {"general": {"mode": "simulated"}, "a+b:simulation": {"resources": "4 CPU:100 Memory:1024", "x": ""}}
    assert parse_sections(format_sections(sections), "x") == sections


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"mode: simulated\n", "line 1: must begin with a section, like [general]"),
        (b"[general]\nmode: simulated\nmode: real\n", "line 3: general.mode: is given twice"),
        (b"[general]\n[general]\n", "line 2: section 'general': is given twice"),
        (b"[general]\nmode simulated\n", "line 2: must be a section like [general], or an option like"),
        (b"[general]\nmode: \xff\n", "must be text in UTF-8; byte 16 is not"),
        (b"#" * 1_000_001, "must be at most 1000000 bytes, not 1000001"),
    ],
)
def test_what_is_no_such_file_is_refused_with_its_line(tmp_path: Path, content: bytes, line: str) -> None:
    """The file is named first."""
    path = tmp_path / "a.conf"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        read_sections(path, LIMITS)
    assert str(caught.value).startswith(f"{path}: {line}")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Like a folder in its place."""
    with pytest.raises(ConfigurationError, match=r"none\.conf: cannot be read: No such file"):
        read_sections(tmp_path / "none.conf", LIMITS)
    with pytest.raises(ConfigurationError, match="cannot be read: Is a directory"):
        read_sections(tmp_path, LIMITS)

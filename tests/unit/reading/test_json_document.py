"""A JSON file that holds one object: what is wrong with it, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.reading.json_document import parse_object, refuse_doubled


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"jobs": [{"walltime": NaN}]}', "jobs[0].walltime: must be a number, not NaN"),
        ('{"jobs": [{}, {"subtime": -Infinity}]}', "jobs[1].subtime: must be a number, not -Infinity"),
        ('{"profiles": {"p": {"cpu": [1, Infinity]}}}', "profiles.p.cpu[1]: must be a number, not Infinity"),
        ('{"a": {"b": 1e400}, "c": NaN}', "a.b: is too large for a number: 1e400"),
        ('{"a": 1%s}' % ("0" * 400), "a: is too large for a number: 10000000000000000000..."),
        ('{"a": -1%s}' % ("0" * 9000), "a: is too large for a number: -1000000000000000000..."),
        ('{"a\\nb": NaN}', "'a\\nb': must be a number, not NaN"),
    ],
)
def test_a_number_that_is_none_is_named_by_its_place(text: str, message: str) -> None:
    """A line and a column locate nothing in a file of one line."""
    with pytest.raises(WorkloadError) as caught:
        parse_object("f", text.encode())
    assert str(caught.value) == f"f: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": nan}', r"line 1, column \d+: must be a number: JSON has no NaN and no Infinity"),
        (b'{"a": NaN', r"line 1, column \d+: must be a number"),
        (b'{"a": "\xff"}', r"line 1, column \d+: is not JSON"),
        (b'{"a": ' + b"[" * 5000, r"line 1, column \d+: is not JSON"),
        (b'{"a": ' + b"[" * 100_000 + b"NaN" + b"]" * 100_000 + b"}", r"line 1, column \d+: "),
        (b"[NaN]", r"\[0\]: must be a number, not NaN"),
        (b"[1]", r"must be an object, not \[1\]"),
    ],
)
def test_what_is_not_json_is_named_by_its_line(content: bytes, message: str) -> None:
    """In one line, whatever else is wrong."""
    with pytest.raises(WorkloadError, match=rf"^f: {message}") as caught:
        parse_object("f", content)
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    """Editors of some systems write it."""
    path = tmp_path / "w.json"
    path.write_text('{"a": 1}', encoding="utf-8-sig")
    assert parse_object("f", read_content(path)) == {"a": 1}


def test_a_member_that_stands_twice_is_named() -> None:
    """With the object that has it."""
    refuse_doubled("f", b'{"a": 1, "b": [{"a": 1}, {"a": 1}]}')
    with pytest.raises(WorkloadError, match=r"^f: b\[1\]: has the member 'a' twice$"):
        refuse_doubled("f", b'{"a": 1, "b": [{"a": 1}, {"a": 1, "c": 0, "a": 1}]}')

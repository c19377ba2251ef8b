"""Comments in messages of Batsim 5, which its parser of JSON allows."""

from __future__ import annotations

import pytest

from batsched_py.errors import RemoteProtocolError
from batsched_py.protocol.batsim5.envelope import parse
from tests.fuzz.judging import limited

EMPTY = b'{"now": 2, "events": []}'


@pytest.mark.parametrize(
    "raw",
    [
        b'/* a */{"now": /* * / */ 2, /**/ "events": []/* b */}/* c */\0',
        b'{"now": 2/* a\nb */, "events": []}',
        b'{"events": [], "now": "2"}',
    ],
)
def test_comments_are_passed_over(raw: bytes) -> None:
    """Wherever there may be a blank."""
    assert parse(raw) == {"now": 2.0, "events": []}


def test_a_text_keeps_what_looks_like_a_comment() -> None:
    """Also one with quotes in it."""
    assert parse(b'{"now": 2, "events": ["/* a */", "\\"/* b", "c */"], "d": 1 /* " */}')["events"] == [
        "/* a */",
        '"/* b',
        "c */",
    ]


@pytest.mark.parametrize("raw", [EMPTY + b"/*", EMPTY + b"/* a *", b'{"now": 1/**/2, "events": []}'])
def test_a_comment_must_end_and_separates(raw: bytes) -> None:
    """As a blank does."""
    with pytest.raises(RemoteProtocolError, match="must be JSON"):
        parse(raw)


@pytest.mark.parametrize("piece", [b"/* ", b'"a" /* ', b'\\"', b'"\\'])
def test_what_does_not_end_is_read_once(piece: bytes) -> None:
    """A megabyte that is looked through from each of its bytes would take hours."""
    with limited(), pytest.raises(RemoteProtocolError):
        parse(b'/* */"' + piece * 300_000)
    with limited(), pytest.raises(RemoteProtocolError):
        parse(b"/*" + piece * 300_000)

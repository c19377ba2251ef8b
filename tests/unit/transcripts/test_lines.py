"""The lines of a transcript: what is written is read back, whatever the bytes are."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.transcripts.lines import BATSIM, SCHEDULER, VERSION, Header, MessageLine


@given(st.integers(0, 10**6), st.sampled_from([BATSIM, SCHEDULER]), st.binary(max_size=50))
def test_any_bytes_come_back(number: int, speaker: str, content: bytes) -> None:
    """Text as text, what is no UTF-8 as base64."""
    line = MessageLine(number, speaker, content)
    written = line.to_line()
    assert written.count(b"\n") == 1
    assert MessageLine.read(written, orjson.loads(written)) == line


def test_a_message_that_stands_as_it_is_keeps_its_spelling() -> None:
    """Blanks and the spelling of numbers included."""
    line = b'{"seq":3,"from":"batsim","message":{ "now": 1.50, "events":[] }}\n'
    assert MessageLine.read(line, orjson.loads(line)).content == b'{ "now": 1.50, "events":[] }'


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"seq": "1", "from": BATSIM, "bytes": ""}, "seq: must be the number of the exchange"),
        ({"seq": 1, "from": "nobody", "bytes": ""}, "from: must be batsim or scheduler"),
        ({"seq": 1, "from": BATSIM}, "message: is missing"),
        ({"seq": 1, "from": BATSIM, "base64": "?"}, "base64: "),
        ({"seq": 1, "message": {}, "from": BATSIM}, "message: must be the last member"),
    ],
)
def test_a_broken_line_is_refused_with_the_rule(members: dict[str, Any], rule: str) -> None:
    """The reader adds file and line."""
    with pytest.raises(ValueError, match=rule):
        MessageLine.read(orjson.dumps(members), members)


def test_a_header_comes_back() -> None:
    """Unknown members of a later version are passed over."""
    header = Header("easy", {"order": "sjf"}, "fixed:1", compute_sharing=True)
    members = orjson.loads(header.to_line())
    assert Header.from_members({**members, "later": 1}) == header


@pytest.mark.parametrize(
    ("changed", "rule"), [({"version": VERSION + 1}, "version: must be at most"), ({"options": []}, "options: ")]
)
def test_a_header_that_cannot_be_read_is_refused(changed: dict[str, Any], rule: str) -> None:
    """Rather than misread."""
    with pytest.raises(ValueError, match=rule):
        Header.from_members({**orjson.loads(Header().to_line()), **changed})

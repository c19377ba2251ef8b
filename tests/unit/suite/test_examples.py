"""Property tests draw the same examples in every run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.loading import load_object


def drawn() -> list[tuple[int, str]]:
    """Return the examples that a test would be tried with."""
    found = []

    @settings(max_examples=300)
    @given(st.integers(), st.text(max_size=30))
    def note(number: int, text: str) -> None:
        found.append((number, text))

    note()
    return found


def test_the_examples_are_those_of_the_last_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded modules do not matter, in which Hypothesis looks for numbers and texts."""
    before = drawn()
    mine = tmp_path / "mine.py"
    mine.write_text("".join(f"N{number} = ({777_000 + number}, 'a text of mine, {number}')\n" for number in range(500)))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    load_object(f"{mine}:N0", "constant")
    assert drawn() == before
    assert len(set(before)) > 200


def test_no_file_decides_what_is_drawn() -> None:
    """A failure that was remembered would be there in one clone and not in another."""
    assert settings().database is None
    assert settings().derandomize
    assert settings().deadline is None

"""Properties of events beyond their fields."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.protocol.events import Answer


@pytest.mark.parametrize("key", ["consumed_energy", "energy_consumed"])
@pytest.mark.parametrize("value", [12500, 12500.0, "12500", "12500.0"])
def test_energy_is_read_under_both_names_as_number_or_text(key: str, value: Any) -> None:
    """Real Batsim 1.4 swaps the words, and its document writes a text."""
    assert Answer(1, {key: value}).consumed_energy == 12500.0


@pytest.mark.parametrize("value", [None, "much", "", [], {}, "nan", "inf", "1e999", 10**400])
def test_what_is_no_energy_is_none(value: Any) -> None:
    """An answer may be about anything."""
    assert Answer(1, {"consumed_energy": value}).consumed_energy is None


def test_an_answer_to_another_question_has_no_energy() -> None:
    """The values stay as they stand."""
    answer = Answer(1, {"estimate_waiting_time": {"job_id": "w0!1"}})
    assert answer.consumed_energy is None

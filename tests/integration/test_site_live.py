"""A site that lives, dies in the middle and lives on: the short form of tests/benchmarks/site_live.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.site_live import play, same_again

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")


def test_a_site_that_is_killed_ends_as_one_that_lived_on(tmp_path: Path) -> None:
    """Its journal, played without a break, makes the same transcript; all leases have ended."""
    played = play(tmp_path, requests=30, seconds=0.5, pace=6000.0, kills=1, seed=3)
    assert "Done" in played.states.values()
    assert set(played.states.values()) <= {"Done", "Rejected", "Cancelled"}
    assert same_again(tmp_path) == []

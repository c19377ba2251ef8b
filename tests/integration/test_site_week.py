"""An hour of a site with users, an operator, failures and a kill: the short form of tests/benchmarks/site_week.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.site_live import same_again
from tests.benchmarks.site_week import ALGORITHM, WeekDriver, WeekPlan, predictions

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")


def test_a_site_of_many_users_loses_nothing(tmp_path: Path) -> None:
    """All that was accepted is there after a kill; journal and transcript give the same bytes, and it has results."""
    plan = WeekPlan(days=0.05, users=4, hosts=8, pace=3000.0, requests=200.0, kills=1, seed=7)
    driver = WeekDriver(tmp_path, plan)
    week = driver.live()
    assert week.wrong == []
    assert week.leases
    assert week.experiments
    assert week.states["Done"] > 0
    assert same_again(tmp_path, driver.platform, ALGORITHM) == []
    assert predictions(tmp_path)["predictions"] > 0

"""A site that is killed again and again while users and an operator change it: what it answered stays true."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.killed_site import KilledSite
from tests.thoroughness import FACTOR, thorough

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

#: Kills in all, and the most of one site, whose journal grows: 200 with THOROUGH=10.
KILLS, OF_A_SITE = 3 if FACTOR <= 1 else thorough(20), 20


def test_what_a_killed_site_has_accepted_is_there_once(tmp_path: Path) -> None:
    """Leases, jobs, experiments, reservations, holds, drains; quotas are kept, journal and audit log agree."""
    for seed, first in enumerate(range(0, KILLS, OF_A_SITE)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        killed = KilledSite(folder, seed).live(min(OF_A_SITE, KILLS - first))
        assert killed.wrong == []
        assert killed.statuses["201"] > 0
        assert killed.statuses["none"] > 0

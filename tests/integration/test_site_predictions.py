"""Planned starts and reasons at a site: in the queue, by command, in the results, and in the metrics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

from tests.integration.test_site import wait_for
from tests.integration.test_site_commands import Ask, ask, cells, follow
from tests.site_process import running_site

__all__ = ["ask"]  # the fixture


def test_a_queue_says_when_and_why_and_what_became_of_it(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease that is planned, and one with an estimate; both are kept with the real starts, also after a kill."""
    with running_site(tmp_path, "--pace", "max") as site:
        client = site.client()
        client.put("api", "clock", body={"paused": True})
        for nodes, duration in ((3, 6000), (4, 600), (2, 900)):
            client.post("api", "leases", body={"nodes": nodes, "duration": duration})
        wait_for(lambda: [one["number"] for one in client.get("api", "queue")] == [2, 3])
        follow(site, monkeypatch)
        planned, estimated = client.get("api", "queue")
        assert (planned["planned_start"], "estimated_start" in planned) == (6000, False)
        assert planned["why"] == "needs 4 hosts, 1 is free; busy: 0-2 until 6000"
        assert (estimated["estimated_start"], "planned_start" in estimated) == (6000, False)
        assert estimated["why"] == "needs 2 hosts, 1 is free; busy: 0-2 until 6000"
        rows = list(cells(ask("queue")[1]))
        assert [row[-2:] for row in rows[1:]] == [["6000", planned["why"]], ["~6000", estimated["why"]]]
        assert planned["why"] in ask("lease", "list")[1]
        site.kill()
    with running_site(tmp_path, "--pace", "max") as site:
        wait_for(lambda: site.client().get("api", "leases") == [])
        assert ask("site", "results", "site", "-e", "all")[0] == 0
    assert Path("all_predictions.csv").read_text().splitlines() == [
        "lease,time,planned,predicted,start",
        "2,0,1,6000,6000",
        "3,0,0,6000,6600",
        "3,6000,1,6600,6600",
    ]
    metrics = json.loads(ask("metrics", "all", "--format", "json")[1])["runs"][0]["figures"]
    assert metrics["predictions"] == 3
    assert metrics["prediction_error"] == pytest.approx(200)
    assert metrics["predictions_late"] == pytest.approx(1 / 3)
    assert (metrics["prediction_error_hour"], metrics["prediction_error_day"]) == (0, 300)
    assert (metrics["predictions_late_hour"], metrics["predictions_late_day"]) == (0, 0.5)
    assert metrics["prediction_error_beyond"] is None

"""Runs of real Batsim with batsched: asked the same questions, our algorithms decide the same."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from batsched_py.plugins import load
from batsched_py.protocol.dialect import V4
from batsched_py.session.session import Session
from batsched_py.transcripts.replay import same_decision
from tests.integration.programs import ROOT, recorded

#: batsched adds 5 s to each walltime if it is not told otherwise.
HOSTS = {"reserve": "hosts", "slack": 5}
#: Recording, what stands here for the algorithm that decided there.
RUNS: list[tuple[str, str, dict[str, Any]]] = [
    ("o01_fcfs_delays", "fcfs", {}),
    ("o02_easy_bf_delays", "easy", HOSTS),
    ("o05_easy_bf_burst", "easy", HOSTS),
    ("o06_conservative_bf_burst", "conservative", HOSTS),
    ("o07_easy_bf_mixed_cluster", "easy", HOSTS),
    ("o09_filler_no_walltime", "filler", {}),
    ("o12_submitter_ack", "submitter", {"jobs": 12, "seconds": 1, "longer": 10, "profiles": "shared"}),
    ("o16_energy_easy", "easy", HOSTS),
    ("o17_energy_sleeper", "sleeper", {"at_once": "one"}),
    ("o18_energy_watcher", "energy_watcher", {"at_once": "one"}),
    ("o19_machine_events", "filler", {}),
    ("o23_rejecter", "rejecter", {}),
]


def comparable(reply: bytes) -> bytes:
    """Without calls, which we ask for where batsched waits for news; and jobs described under their whole ids."""
    decided = orjson.loads(reply)
    decided["events"] = [event for event in decided["events"] if event["type"] != "CALL_ME_LATER"]
    for event in decided["events"]:
        if event["type"] == "REGISTER_JOB":
            event["data"]["job"]["id"] = event["data"]["job_id"]
    return orjson.dumps(decided)


@pytest.mark.parametrize(("recording", "name", "options"), RUNS, ids=[recording for recording, _, _ in RUNS])
def test_every_decision_is_batsched_s(recording: str, name: str, options: dict[str, Any]) -> None:
    """From the first message to the last."""
    session = Session(load(name), options)
    for exchange in recorded(ROOT / "tests" / "data" / "batsim" / recording / "transcript.jsonl"):
        ours = session.answer(exchange.request)
        assert same_decision(comparable(exchange.reply), comparable(ours), V4), exchange.number
    assert session.over

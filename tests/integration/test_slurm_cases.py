"""The kernel of Slurm's decisions against recorded ones of a real Slurm."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.clone import ROOT
from tests.slurm_cases import play, score
from tests.slurm_passes import Pass, first_difference, play_passes, recorded

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in gzip.decompress((ROOT / "tests/data/slurm/cases.jsonl.gz").read_bytes()).splitlines()
]
PASSES: list[dict[str, Any]] = [
    json.loads(line) for line in gzip.decompress((ROOT / "tests/data/slurm/passes.jsonl.gz").read_bytes()).splitlines()
]
#: Cases with fewer starts within 2 s or 5 %, or fewer jobs on the same nodes, than jobs: the numbers that are reached.
FEWER: dict[str, int] = {"58-drain-resume": 6, "69-select-linear": 8}
FEWER_NODES: dict[str, int] = {"48-preempt-qos-requeue": 6, "61-exclusive-shared": 9, "69-select-linear": 7}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_starts_are_those_of_a_real_slurm(case: dict[str, Any]) -> None:
    """Each start is within 2 s or 5 % of the nearest repetition and on its nodes, but for the known exceptions.

    The mean wait of a case is within 1 s.
    """
    first = case["repetitions"][0]
    played = play(case, first["clock_at_zero_mod_3600"], first["controller_started_at"])
    found = score(case["repetitions"], played.starts)
    assert found.within >= FEWER.get(case["id"], found.jobs)
    assert found.same_nodes >= FEWER_NODES.get(case["id"], found.jobs)
    assert abs(found.mean_wait_error) < 1


@pytest.mark.parametrize("record", PASSES, ids=lambda record: str(record["id"]))
def test_passes_are_those_of_a_real_slurm(record: dict[str, Any]) -> None:
    """Each pass tests, plans and starts the same jobs, in the same order and on the same nodes."""
    case = next(case for case in CASES if case["id"] == record["id"])
    ours = play_passes(case, record["clock"], record["started"])
    assert first_difference(recorded(record["passes"]), ours) is None


def test_the_first_pass_that_differs_is_found() -> None:
    """A pass that starts another job, and one that the other side has not."""
    real = [Pass(1.0, "main", ("a",)), Pass(5.0, "backfill", (), ("b",)), Pass(9.0, "main", ("b",))]
    assert first_difference(real, [Pass(1.2, "main", ("a",)), *real[1:]]) is None
    other = Pass(5.0, "backfill", ("b",), ("b",))
    assert first_difference(real, [real[0], other, real[2]]) == (real[1], other)
    assert first_difference(real, real[:2]) == (real[2], None)

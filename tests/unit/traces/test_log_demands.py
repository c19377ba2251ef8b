"""Demands of the jobs of logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.log_demands import record_demand, tres_demand
from batsched_py.traces.sacct import read_sacct
from batsched_py.traces.swf import read_swf
from batsched_py.traces.swf_log import UNKNOWN

HEADER = "JobID|State|Submit|Start|End|ReqNodes|AllocNodes|ReqTRES|AllocTRES"
DAY = "2024-05-31T"


@pytest.mark.parametrize(
    ("text", "nodes", "demand"),
    [
        ("billing=8,cpu=8,mem=32G,node=2", 2, {"cores": 4, "memory": 16384, "spread": True}),
        ("cpu=3,mem=1.5G", 2, {"cores": 2, "memory": 768, "spread": True}),
        ("cpu=1,gres/gpu=3", 2, {"cores": 1, "gpus": 2, "spread": True}),
        (
            "cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=4096K",
            1,
            {"cores": 4, "memory": 4, "gpus": 2, "gpu_models": ["a100"], "spread": True},
        ),
        ("cpu=1,license/matlab@flex=2", 1, {"cores": 1, "spread": True, "licences": {"matlab": 2}}),
        ("energy=5K,node=1", 1, None),
        ("", 1, None),
    ],
)
def test_amounts_are_divided_by_the_nodes(text: str, nodes: int, demand: Any) -> None:
    """Rounded up, because a node has whole cores and GPUs."""
    assert tres_demand(text, nodes) == demand


@pytest.mark.parametrize("text", ["cpu", "cpu=x", "cpu=-1", "mem=3X", "cpu=" + "9" * 20])
def test_other_texts_are_refused(text: str) -> None:
    """With the rule."""
    with pytest.raises(ValueError, match="must be amounts like cpu=8,mem=32G"):
        tres_demand(text, 1)


def test_a_processor_of_a_log_is_a_task_of_one_core() -> None:
    """With the requested memory, else the used one, in KB for each processor."""
    assert record_demand(UNKNOWN) == {"cores": 1}
    assert record_demand(UNKNOWN._replace(used_memory=1025)) == {"cores": 1, "memory": 2}
    assert record_demand(UNKNOWN._replace(used_memory=9000, requested_memory=2048)) == {"cores": 1, "memory": 2}


def test_jobs_of_slurm_request_parts_of_nodes(tmp_path: Path) -> None:
    """The requested amounts, else the allocated ones; only if they are wanted."""
    path = tmp_path / "jobs.txt"
    times = f"{DAY}08:00:00|{DAY}08:00:00|{DAY}08:10:00"
    rows = [f"1|COMPLETED|{times}|2|2|cpu=8,gres/gpu=4|cpu=16", f"2|COMPLETED|{times}|1|1||cpu=3,mem=2G"]
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    workload, _ = clean(read_sacct(path, "nodes", demands=True), CleaningRules(hosts=4, demands=True))
    first, second = (job.members["demand"] for job in workload.jobs)
    assert first == {"cores": 4, "gpus": 2, "spread": True}
    assert second == {"cores": 3, "memory": 2048, "spread": True}
    assert all(job.demand is not None and job.demand.members == job.members["demand"] for job in workload.jobs)
    plain, _ = clean(read_sacct(path, "nodes"), CleaningRules(hosts=4))
    assert all(job.demand is None and "demand" not in job.members for job in plain.jobs)


def test_a_row_with_other_tres_is_dropped_and_noted(tmp_path: Path) -> None:
    """As any row that cannot be read."""
    path = tmp_path / "jobs.txt"
    times = f"{DAY}08:00:00|{DAY}08:00:00|{DAY}08:10:00"
    path.write_text(f"{HEADER}\n1|COMPLETED|{times}|2|2|cpu=many|\n")
    log = read_sacct(path, "nodes", demands=True)
    assert log.dropped == {"dropped_row": 1}
    assert "field reqtres must be amounts like cpu=8,mem=32G,gres/gpu=2" in log.notes[0]


def test_absurd_memory_is_an_error_that_names_the_job(tmp_path: Path) -> None:
    """And the resource, and the rule."""
    path = tmp_path / "log.swf"
    path.write_text("; MaxProcs: 4\n7 0 0 10 1 -1 -1 1 20 1e300 1 -1 -1 -1 -1 -1 -1 -1\n")
    with pytest.raises(WorkloadError, match=r"job 7\.demand\.memory: must be a whole number of MiB from 0 to 10000"):
        clean(read_swf(path), CleaningRules(demands=True))

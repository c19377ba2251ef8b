"""Runs of jobs with queries on hosts of eight kinds, judged by a checker that knows neither MIL nor schedulers."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from tests.constrained import violations, write_constrained

ALGORITHMS = {
    "placer": ["placer"],
    "easy": ["easy", "-o", "constraint=query"],
    "fcfs": ["fcfs", "-o", "constraint=query"],
    "conservative": ["conservative", "-o", "constraint=query"],
}


def simulated(folder: Path, algorithm: list[str]) -> tuple[Path, Path]:
    """The workload, and the jobs file of a run of it."""
    platform, workload = write_constrained(folder, 600, 128)
    assert (
        run(
            [
                "simulate",
                "-p",
                str(platform),
                "-w",
                str(workload),
                "-e",
                str(folder / "out"),
                "--quiet",
                "-s",
                *algorithm,
            ]
        )
        == 0
    )
    return workload, folder / "out_jobs.csv"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_all_jobs_run_on_hosts_that_suit_and_that_nobody_uses(tmp_path: Path, name: str) -> None:
    """Long queues, so that jobs are found by what they ask for."""
    assert violations(*simulated(tmp_path, ALGORITHMS[name])) == []


def test_the_checker_sees_what_is_wrong(tmp_path: Path) -> None:
    """Without the option jobs run anywhere; a job that is moved to the hosts of another shares them."""
    workload, jobs = simulated(tmp_path, ["easy"])
    wrong = violations(workload, jobs)
    assert len(wrong) > 100
    assert all(": on host " in each for each in wrong)
    workload, jobs = simulated(tmp_path, ALGORITHMS["easy"])
    with jobs.open(newline="") as file:
        rows = list(csv.DictReader(file))
    size = {job["id"]: job["res"] for job in json.loads(workload.read_text())["jobs"]}
    first = rows[0]
    other = next(
        row
        for row in rows[1:]
        if size[row["job_id"]] != size[first["job_id"]]
        and float(row["starting_time"]) < float(first["finish_time"]) <= float(row["finish_time"])
    )
    first["allocated_resources"] = other["allocated_resources"]
    with jobs.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(first))
        writer.writeheader()
        writer.writerows(rows[:-1])
    wrong = violations(workload, jobs)
    assert f"{rows[-1]['job_id']}: not in the jobs file" in wrong
    assert any(each.endswith("on hosts in use") for each in wrong)
    assert any(each.startswith(f"{first['job_id']}: on ") and each.endswith(" hosts") for each in wrong)

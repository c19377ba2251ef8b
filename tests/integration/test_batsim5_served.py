"""`serve` and `simulate --protocol v5` as two processes, as a decision process and Batsim 5 are."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.clone import ROOT
from tests.integration.programs import run, serving

TINY, LEASES = str(ROOT / "platforms" / "tiny4.xml"), str(ROOT / "workloads" / "reservations.json")
#: Columns that do not depend on the protocol.
SCHEDULED = ("job_id", "workload_name", "final_state", "starting_time", "finish_time", "allocated_resources")
DYNAMIC = "--enable-dynamic-jobs"


def scheduled(path: Path) -> dict[str, tuple[str, ...]]:
    """Each job of a jobs file: when and where it ran."""
    with path.open(newline="") as file:
        return {row["job_id"]: tuple(row[name] for name in SCHEDULED) for row in csv.DictReader(file)}


def finished(folder: Path, *arguments: str) -> None:
    """A command that ends well."""
    done = run(folder, *arguments)
    assert done.returncode == 0, done.stderr


def served(folder: Path, algorithm: str, platform: str, jobs: str, *more: str) -> dict[str, tuple[str, ...]]:
    """The schedule of Batsim 5 and `serve`, which needs no option but the algorithm; the same as Batsim 4's here."""
    finished(folder, "simulate", "-p", platform, "-w", jobs, "-s", algorithm, *more, "-e", "four", "--quiet")
    finished(folder, "convert", jobs, "--to", "v5", "-o", "five.json")
    with serving(folder, "-s", algorithm, "--record", "five.jsonl") as process:
        five = ("simulate", "-p", platform, "-w", "five.json", "--protocol", "v5", "--socket", process.address)
        finished(folder, *five, "-e", "five/", "--quiet")
        code, said = process.end()
        assert code == 0
        assert said[-1].startswith("the simulation ended at t=")
    schedule = scheduled(folder / "five" / "jobs.csv")
    assert schedule == scheduled(folder / "four_jobs.csv")
    return schedule


@pytest.mark.parametrize(
    ("algorithm", "more", "count"), [("fcfs", (), 40), ("easy", (), 40), ("submitter", (DYNAMIC,), 50)]
)
def test_a_served_run_on_batsim_5_is_that_of_batsim_4_in_one_process(
    algorithm: str, more: tuple[str, ...], count: int, tmp_path: Path
) -> None:
    """Over a socket; an algorithm that submits jobs asks for them."""
    finished(tmp_path, "generate", "--jobs", "40", "--hosts", "12", "-o", "w.json", "--platform", "p.xml")
    assert len(served(tmp_path, algorithm, "p.xml", "w.json", *more)) == count


@pytest.mark.parametrize(("algorithm", "again"), [("ar_preempt", True), ("leases", False), ("placer", False)])
def test_dynamic_jobs_are_asked_for_by_whoever_has_a_use_for_them(algorithm: str, again: bool, tmp_path: Path) -> None:
    """Such a run ends, too: registration is finished. A replay asks for what was asked for."""
    schedule = served(tmp_path, algorithm, TINY, LEASES, DYNAMIC)
    assert ("long#1" in schedule) is again
    finished(tmp_path, "replay", "five.jsonl")

"""`serve` and `simulate --protocol v5` as two processes, as a decision process and Batsim 5 are."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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


def served(
    folder: Path, algorithm: str, platform: str, jobs: str, *more: str, to_serve: Sequence[str] = ()
) -> dict[str, tuple[str, ...]]:
    """The schedule of Batsim 5 and `serve`, which needs no option but the algorithm; the same as Batsim 4's here."""
    finished(folder, "simulate", "-p", platform, "-w", jobs, "-s", algorithm, *more, "-e", "four", "--quiet")
    finished(folder, "convert", jobs, "--protocol", "v5", "-o", "five.json")
    with serving(folder, "-s", algorithm, *to_serve, "--record", "five.jsonl", "-e", "served") as process:
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


def program(at: float, name: str, takes: float) -> dict[str, Any]:
    """A program of a timeline."""
    return {"at": at, "run": name, "takes": takes}


#: Two VMs, with two programs at once on one of them.
VMS: dict[str, Any] = {
    "buffer": 10,
    "vms": {
        "web": [program(-5, "install", 20), program(10, "serve", 30), program(15, "test", 30)],
        "db": [program(5, "load", 100)],
    },
}
#: The first of them as a machine of an experiment.
EXPERIMENT = {
    "name": "web",
    "duration": 60,
    "resources": [{"compute": {"name": "Server", "locations": ["default"], "timeline": VMS["vms"]["web"]}}],
}


@pytest.mark.parametrize(("algorithm", "content", "count"), [("timelines", VMS, 4), ("experiments", EXPERIMENT, 3)])
def test_jobs_share_hosts_of_batsim_5_if_the_user_says_so(
    algorithm: str, content: dict[str, Any], count: int, tmp_path: Path
) -> None:
    """Batsim 5 has no option for it, so `serve` has; a recording has it, too, and is replayed."""
    (tmp_path / "file.json").write_text(json.dumps(content))
    options, sharing = ("-o", "file=file.json"), "--enable-compute-sharing"
    jobs = str(ROOT / "workloads" / "first.json")
    schedule = served(tmp_path, algorithm, TINY, jobs, *options, DYNAMIC, sharing, to_serve=(*options, sharing))
    assert len(schedule) == 8 + count
    tables = [(tmp_path / f"{who}_timeline.csv").read_text() for who in ("four", "served")]
    assert tables[0] == tables[1]
    finished(tmp_path, "replay", "five.jsonl", *options)

"""Jobs that an algorithm submits again never get the id of a job of the user, also of one that arrives later."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.clone import ROOT
from tests.integration.programs import run_here

PROFILES = {"long": {"type": "delay", "delay": 100}, "short": {"type": "delay", "delay": 10}}
CONF = """SelectType=select/linear
AuthInfo=cred_expire=5
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=t[0-3]
PartitionName=low Nodes=t[0-3] Default=YES
PartitionName=high Nodes=t[0-3] PriorityTier=5
"""
PREEMPTS = "policy_preemption=ar-preempts-everything"
#: Algorithm and options -> members of the job for which `a` is killed.
ALGORITHMS: dict[tuple[str, ...], dict[str, Any]] = {
    ("ar_preempt",): {"lease": {"start": 50}},
    ("leases", PREEMPTS, "suspension=none"): {"lease": {"start": 50}},
    ("leases", PREEMPTS, "overhead_jobs=true", "override_suspend_time=2", "override_resume_time=2"): {
        "lease": {"start": 50}
    },
    ("placer", "on_loss=replace"): {},
    ("slurm", "conf=slurm.conf"): {"slurm": {"partition": "high"}},
}
#: The hosts of `a` fail, for `placer`.
EVENTS = [
    {"timestamp": 30, "type": "machine_unavailable", "resources": "0-3"},
    {"timestamp": 40, "type": "machine_available", "resources": "0-3"},
]


def job(name: str, subtime: float, res: int = 4, **members: Any) -> dict[str, Any]:
    """A job of 100 s, or one of 10 s for one host."""
    profile, walltime = ("long", 110) if res > 1 else ("short", 20)
    return {"id": name, "subtime": subtime, "res": res, "walltime": walltime, "profile": profile, **members}


def write(folder: Path, jobs: list[dict[str, Any]], algorithm: tuple[str, ...]) -> list[str]:
    """Write the files of a run; return its arguments."""
    (folder / "w.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": PROFILES}))
    (folder / "slurm.conf").write_text(CONF)
    events = EVENTS if algorithm[0] == "placer" else []
    (folder / "e.txt").write_text("".join(json.dumps(event) + "\n" for event in events))
    name, *options = algorithm
    return [
        *("simulate", "-p", str(ROOT / "platforms/tiny4.xml"), "-w", "w.json", "--events", "e.txt", "-s", name),
        *(word for option in options for word in ("-o", option)),
        *("--enable-dynamic-jobs", "--enable-profile-reuse", "--quiet", "-e", "out", "--record", "run.jsonl"),
    ]


@pytest.mark.parametrize("protocol", ["v4", "v5"])
@pytest.mark.parametrize("algorithm", list(ALGORITHMS), ids=lambda words: words[0])
def test_ids_of_jobs_that_arrive_later_are_left_out(algorithm: tuple[str, ...], protocol: str, tmp_path: Path) -> None:
    """`a` is killed at about 50, and `a#1` and `a#suspend1` arrive much later."""
    taken = ["a#1", "a#suspend1"]
    jobs = [job("a", 0), job("b", 20, 1, **ALGORITHMS[algorithm]), *(job(name, 1000, 1) for name in taken)]
    arguments = [*write(tmp_path, jobs, algorithm), "--protocol", protocol]
    assert run_here(tmp_path, *arguments) == 0
    with (tmp_path / ("out_jobs.csv" if protocol == "v4" else "outjobs.csv")).open() as file:
        rows = {row["job_id"]: row for row in csv.DictReader(file)}
    assert rows["a"]["final_state"] == "COMPLETED_KILLED"
    assert rows["a#2"]["final_state"] == "COMPLETED_SUCCESSFULLY"
    assert {rows[name]["final_state"] for name in taken} == {"COMPLETED_SUCCESSFULLY"}
    assert {float(rows[name]["starting_time"]) for name in taken} == {1000.0}
    assert "a#suspend2" in rows or "overhead_jobs=true" not in algorithm


def test_the_workload_of_segments_may_be_one_of_the_user(tmp_path: Path) -> None:
    """In Batsim 1 jobs that are submitted again have numbers in the workload `segments`."""
    algorithm = ("ar_preempt",)
    jobs = [job("0", 0), job("1", 20, 1, lease={"start": 50}), job("2", 1000, 1)]
    arguments = [*write(tmp_path, jobs, algorithm), "--protocol", "v1.4", "--workload-name", "segments"]
    assert run_here(tmp_path, *arguments, "--forward-profiles-on-submission") == 0
    with (tmp_path / "out_jobs.csv").open() as file:
        starts = {row["job_id"]: float(row["starting_time"]) for row in csv.DictReader(file)}
    assert starts == pytest.approx({"0": 0.0, "1": 50.0, "2": 1000.0, "3": 60.0}, abs=1)


@pytest.mark.parametrize(("names", "listed"), [(("a", "b"), None), (("z", "a#1", "b#x"), ["w0!a#1", "w0!b#x"])])
def test_only_ids_that_an_algorithm_might_use_are_listed(
    names: tuple[str, ...], listed: list[str] | None, tmp_path: Path
) -> None:
    """As a member that Batsim does not send; without such ids the message is that of Batsim."""
    arguments = write(tmp_path, [job(name, 0, 1) for name in names], ("fcfs",))
    assert run_here(tmp_path, *arguments) == 0
    text = (tmp_path / "run.jsonl").read_text()
    assert ("ids_of_later_jobs" in text) is (listed is not None)
    assert listed is None or json.dumps(listed, separators=(",", ":")) in text.replace(", ", ",").replace('\\"', '"')

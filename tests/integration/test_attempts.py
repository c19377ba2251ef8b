"""Jobs that fail with their hosts and are submitted again: every command counts each as one job."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest

from batsched_py.cli.main import run
from batsched_py.reporting.api import measure_run, read_schedule
from tests.clone import ROOT

PLATFORM = str(ROOT / "platforms" / "cluster32.xml")
WORKLOAD = str(ROOT / "workloads" / "lublin200.json")


@pytest.fixture(autouse=True)
def failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with failures of hosts, in which commands run."""
    monkeypatch.chdir(tmp_path)
    drawn = Random(5)
    times = sorted(drawn.uniform(0, 200_000) for _ in range(40))
    lines = []
    for number, time in enumerate(times):
        host = str(number % 32)
        lines += [(time, "machine_unavailable", host), (time + drawn.uniform(60, 3600), "machine_available", host)]
    written = [{"timestamp": time, "type": kind, "resources": host} for time, kind, host in sorted(lines)]
    Path("failures.txt").write_text("".join(f"{json.dumps(line)}\n" for line in written))


def simulated(prefix: str, *more: str) -> None:
    words = ["simulate", "-p", PLATFORM, "-w", WORKLOAD, "-s", "easy", "--events", "failures.txt", "--quiet"]
    assert run([*words, "--on-failure", "requeue", "-e", prefix, *more]) == 0


def counted_by_hand(prefix: str, hosts: int) -> dict[str, float]:
    """The metrics as a script computes them from the rows, by another way than ours."""
    jobs = defaultdict(list)
    with Path(f"{prefix}_jobs.csv").open() as file:
        for row in csv.DictReader(file):
            jobs[row["job_id"].split("~")[0]].append(row)
    waits, turnarounds, slowdowns, lost, total, makespan, rows = [], [], [], 0.0, 0.0, 0.0, 0
    for attempts in jobs.values():
        attempts.sort(key=lambda row: float(row["submission_time"]))
        submitted = float(attempts[0]["submission_time"])
        waits.append(float(attempts[0]["starting_time"]) - submitted)
        turnarounds.append(float(attempts[-1]["finish_time"]) - submitted)
        slowdowns.append(max(1.0, turnarounds[-1] / max(10.0, float(attempts[-1]["execution_time"]))))
        for row in attempts:
            rows += 1
            held = float(row["execution_time"]) * int(row["requested_number_of_resources"])
            total, makespan = total + held, max(makespan, float(row["finish_time"]))
            lost += 0.0 if row is attempts[-1] else held
    return {
        "jobs": len(jobs),
        "attempts": rows,
        "restarts_per_job": rows / len(jobs) - 1,
        "mean_wait": sum(waits) / len(waits),
        "mean_turnaround": sum(turnarounds) / len(turnarounds),
        "max_turnaround": max(turnarounds),
        "mean_bounded_slowdown": sum(slowdowns) / len(slowdowns),
        "lost_work": lost,
        "useful_work": total - lost,
        "utilisation": total / hosts / makespan,
        "useful_utilisation": (total - lost) / hosts / makespan,
    }


def test_metrics_of_requeued_jobs_are_those_that_a_script_computes() -> None:
    """From the rows of the attempts."""
    simulated("r")
    schedule = read_schedule("r")
    found, expected = measure_run(schedule), counted_by_hand("r", schedule.hosts)
    assert expected["attempts"] > expected["jobs"] == 200
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-9, abs=1e-5), name


def test_the_summary_of_simulate_has_the_numbers_of_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    """It has them whether rows are kept or only counted."""
    words = ["simulate", "-p", PLATFORM, "-w", WORKLOAD, "-s", "easy", "--events", "failures.txt"]
    shown = []
    for more in ([], ["-e", "r"]):
        assert run([*words, "--on-failure", "requeue", *more]) == 0
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        shown.append([line for line in lines if line and line[0] not in ("deciding", "simulating")])
    assert shown[0] == shown[1]
    found = measure_run(read_schedule("r"))
    assert found.useful_utilisation is not None
    assert found.lost_work is not None
    assert ["jobs", "200"] in shown[0]
    assert ["attempts", str(found.attempts)] in shown[0]
    assert ["useful", f"{100 * found.useful_utilisation:.2f}", "%"] in shown[0]
    assert ["work", "lost", f"{found.lost_work / 3600:.3f}", "host", "h"] in shown[0]


def test_algorithms_are_compared_by_the_same_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    """Though other attempts fail under each of them: nothing says that other jobs ran."""
    words = ["compare", "-p", PLATFORM, "-w", WORKLOAD, "-s", "easy", "-s", "fcfs", "--events", "failures.txt"]
    assert run([*words, "--on-failure", "requeue", "--metrics", "lost_work,mean_wait,attempts"]) == 0
    shown = capsys.readouterr()
    assert "work lost [host h]" in shown.out
    assert "not the same jobs" not in (shown.out + shown.err).lower()


def test_users_of_attempts_are_those_of_their_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    """The workload knows only the first name."""
    simulated("r")
    document = json.loads(Path(WORKLOAD).read_text())
    for number, job in enumerate(document["jobs"]):
        job["user"] = f"u{number % 3}"
    Path("users.json").write_text(json.dumps(document))
    capsys.readouterr()
    assert run(["metrics", "r", "-w", "users.json", "--by", "user", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["runs"]
    assert sorted(group["group"] for group in found["groups"]) == ["u0", "u1", "u2"]
    assert sum(group["jobs"] for group in found["groups"]) == 200

"""Explanations of waits, checked against the schedules of whole runs."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.reporting.api import read_schedule
from batsched_py.reporting.pictures.terminal.signs import CROSS
from batsched_py.reporting.schedules.decisions_table import read_decisions_of, with_outages
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.run_explanation import explain_run
from batsched_py.reporting.waits.walk import explain
from tests.clone import ROOT
from tests.integration.programs import algorithm, serving
from tests.integration.programs import run as program
from tests.wait_checks import Checker, longest, read_rows

PLATFORM = str(ROOT / "platforms" / "cluster32.xml")
WORKLOAD = str(ROOT / "workloads" / "lublin200.json")
#: Algorithm and options -> the reasons that its waits have.
ALGORITHMS = {
    "easy": {"hosts_busy", "promise"},
    "conservative": {"hosts_busy", "promise"},
    "easy -o order=sjf": {"hosts_busy", "promise"},
    "fcfs": {"hosts_busy", "queue"},
    "priority -o order=sjf": {"hosts_busy", "queue"},
    "filler": {"hosts_busy"},
    "sequencer": {"algorithm", "hosts_busy"},
}


def explained(prefix: str, job: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The explanation of a job's wait, as JSON."""
    assert run(["explain", prefix, job, "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_each_second_of_each_wait_has_a_reason_that_is_true(
    algorithm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The forty longest waits, computed again from the jobs file."""
    monkeypatch.chdir(tmp_path)
    command = ["simulate", "-p", PLATFORM, "-w", WORKLOAD, "-s", *algorithm.split(), "-e", "out/run", "--quiet"]
    assert run(command) == 0
    checker = Checker("out/run", 32, easy=algorithm == "easy")
    for job in longest(checker.jobs, 40):
        checker.check(explained("out/run", job, capsys))
    assert set(checker.reasons) == ALGORITHMS[algorithm]
    assert run(["explain", "out/run", "--run", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    waits = [job.start - job.submit for job in checker.jobs.values()]
    assert math.isclose(whole["seconds"], math.fsum(waits), abs_tol=1e-3)
    assert ALGORITHMS[algorithm] <= {one["reason"] for one in whole["reasons"]}
    assert_same_as_single_waits("out/run", len(checker.jobs))


def assert_same_as_single_waits(prefix: str, jobs: int) -> None:
    """The seconds of the whole run by reason are those of all its jobs, each explained on its own."""
    schedule = read_schedule(Path(prefix))
    history = RunHistory(schedule, read_decisions_of(schedule))
    expected = Counter[str]()
    for record in history.records.values():
        for one in explain(history, record).intervals:
            expected[str(one.reason)] += round(one.end * 1e6) - round(one.begin * 1e6)
    overall = explain_run(history).overall
    assert {str(reason): one.time for reason, one in overall.by_reason.items()} == expected
    assert overall.jobs == jobs


def test_the_same_run_writes_the_same_decisions(tmp_path: Path) -> None:
    """Byte for byte, with --gantt too, which keeps all jobs in memory; a run without -e writes nothing."""
    command = ["simulate", "-p", PLATFORM, "-w", WORKLOAD, "-s", "conservative", "--quiet"]
    for name, more in (("one", []), ("two", ["--gantt"])):
        assert run([*command, *more, "-e", str(tmp_path / name / "run")]) == 0
    one, two = ((tmp_path / name / "run_decisions.csv").read_bytes() for name in ("one", "two"))
    assert one == two
    assert one.count(b"\n") > 300
    assert run(command) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_a_served_session_writes_what_a_simulation_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the files of the simulator that asked it, and `explain` reads both."""
    files = ["-p", PLATFORM, "-w", WORKLOAD]
    with serving(tmp_path, "-s", "easy", "-e", "there/run") as served:
        assert program(tmp_path, "simulate", *files, "--socket", served.address, "-e", "there/run").returncode == 0
        assert served.end()[0] == 0
    assert program(tmp_path, "simulate", *files, "-s", "easy", "-e", "here/run").returncode == 0
    there, here = ((tmp_path / name / "run_decisions.csv").read_bytes() for name in ("there", "here"))
    assert there == here


def test_another_program_leaves_no_decisions(tmp_path: Path) -> None:
    """Old decisions of the same prefix are not believed."""
    files = ["-p", PLATFORM, "-w", WORKLOAD]
    assert program(tmp_path, "simulate", *files, "-s", "easy", "-e", "run").returncode == 0
    with serving(tmp_path, "-s", "fcfs") as served:
        assert program(tmp_path, "simulate", *files, "--socket", served.address, "-e", "run").returncode == 0
        served.end()
    told = program(tmp_path, "explain", "run", "094")
    assert (told.returncode, "the reasons are from the schedule alone" in told.stderr) == (0, True)


def test_another_program_leaves_the_hosts_that_events_took_away(tmp_path: Path) -> None:
    """As our own run does, for charts; why its jobs waited is told by the schedule alone."""
    (tmp_path / "events.txt").write_text(FAILURES)
    files = ["-p", PLATFORM, "-w", WORKLOAD, "--events", "events.txt"]
    with serving(tmp_path, "-s", "easy") as served:
        there = program(tmp_path, "simulate", *files, "--socket", served.address, "-e", "there", "--gantt", "--quiet")
        assert there.returncode == 0
        served.end()
    here = program(tmp_path, "simulate", *files, "-s", "easy", "-e", "here", "--gantt", "--quiet")
    assert there.stdout == here.stdout
    assert f"{CROSS[0]} unavailable" in there.stdout
    runs = [read_schedule(tmp_path / name) for name in ("there", "here")]
    outages = [with_outages(one, read_decisions_of(one)).outages for one in runs]
    assert outages[0] == outages[1] != ()
    told = program(tmp_path, "explain", "there", "094")
    assert (told.returncode, "the reasons are from the schedule alone" in told.stderr) == (0, True)


def test_a_run_may_end_before_its_jobs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs that still run or wait then have no row in the jobs file; others were never submitted."""
    monkeypatch.chdir(tmp_path)
    mine = algorithm(
        tmp_path,
        "for job in view.queue:\n"
        "    hosts = plan.free.first(job.size)\n"
        "    if hosts is not None:\n"
        "        plan.start(job, hosts)\n"
        "if view.now > 50000:\n"
        "    plan.stop()",
    )
    prefix = "run"
    assert run(["simulate", "-p", PLATFORM, "-w", WORKLOAD, "-s", mine, "--protocol", "v5", "-e", prefix]) == 0
    rows = [row for row in read_rows(prefix) if row["what"] == "unfinished"]
    waited = next(row for row in rows if not row["start"])
    capsys.readouterr()
    plain = explained(prefix, waited["job_id"], capsys)
    assert (plain["started"], plain["hosts"]) == (None, None)
    ends = [float(waited["submitted"]), *(one["to"] for one in plain["intervals"])]
    assert [one["from"] for one in plain["intervals"]] == ends[:-1]
    assert ends[-1] == float(waited["time"])
    assert {one["reason"] for one in plain["intervals"]} == {"hosts_busy"}
    running = next(row for row in rows if row["start"])
    plain = explained(prefix, running["job_id"], capsys)
    assert (plain["started"], plain["hosts"]) == (float(running["start"]), running["hosts"])
    assert run(["explain", prefix, "199"]) == 2
    assert "has no job 199, or it was not submitted before the run ended" in capsys.readouterr().err


RESERVED = ("-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "reservations.json"))


@pytest.mark.parametrize("algorithm", ["leases", "ar_preempt"])
def test_reservations_stand_in_the_way(
    algorithm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They block jobs that would run into them; a job with a fixed start waits for that."""
    monkeypatch.chdir(tmp_path)
    dynamic = ("--enable-dynamic-jobs", "--acknowledge-dynamic-jobs")
    assert run(["simulate", *RESERVED, "-s", algorithm, *dynamic, "-e", "run", "--quiet"]) == 0
    capsys.readouterr()
    reserved = {"leases": "clash", "ar_preempt": "demo"}[algorithm]
    (own,) = explained("run", reserved, capsys)["intervals"]
    assert (own["reason"], own["to"]) == ("own_start", own["promise"])
    reasons = [(one["reason"], one["blocked_by"]) for one in explained("run", "wide", capsys)["intervals"]]
    assert ("reservation", [f"w0!{reserved}"]) in reasons


FAILURES = """{"timestamp": 42000, "type": "machine_unavailable", "resources": "0-19"}
{"timestamp": 60000, "type": "machine_available", "resources": "0-19"}
"""


def test_hosts_that_are_down_are_in_the_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty hosts fail and come back; each reason is checked as above."""
    monkeypatch.chdir(tmp_path)
    Path("events.txt").write_text(FAILURES)
    files = ["-p", PLATFORM, "-w", WORKLOAD, "--events", "events.txt"]
    assert run(["simulate", *files, "-s", "easy", "-e", "run", "--quiet"]) == 0
    capsys.readouterr()
    checker = Checker("run", 32)
    for job in longest(checker.jobs, 40):
        checker.check(explained("run", job, capsys))
    assert checker.reasons["hosts_unavailable"] > 0

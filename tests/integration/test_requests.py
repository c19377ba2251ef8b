"""Requests: jobs that external events ask for, and take back, with every algorithm; their recordings replay."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.errors import OptionError
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT

#: Four of its hosts are used.
PLATFORM = ROOT / "platforms" / "energy16.xml"
PROFILES = {str(seconds): {"type": "delay", "delay": seconds} for seconds in (50, 100, 400)}
#: Time of submission, hosts, profile.
JOBS = [(0, 2, 400), (10, 3, 100), (20, 2, 50), (30, 4, 50), (40, 1, 400), (600, 4, 100)]
ALGORITHMS = ["fcfs", "easy", "conservative", "filler", "leases", "easy_idle_sleeper", "placer"]
#: How Batsim answers registered jobs.
ANSWERS = ["--acknowledge-dynamic-jobs", "--no-acknowledge-dynamic-jobs"]


def submission(time: float, job_id: str, size: int, seconds: int, **members: Any) -> dict[str, Any]:
    """Return the event that asks for a job."""
    job = {"id": job_id, "res": size, "walltime": seconds + 10, "profile": job_id.partition("!")[2], **members}
    profile = {"type": "delay", "delay": seconds}
    return {"timestamp": time, "type": "submit_job", "job_id": job_id, "job": job, "profile": profile}


def cancellation(time: float, job_id: str) -> dict[str, Any]:
    """Return the event that takes a job back."""
    return {"timestamp": time, "type": "cancel_job", "job_id": job_id}


ASKED = [submission(time, f"site!{number}", *rest) for number, (time, *rest) in enumerate(JOBS, 1)]


def simulate(
    folder: Path, algorithm: str, events: Sequence[Mapping[str, Any]], *options: str, static: Sequence[Any] = ()
) -> dict[str, tuple[str, float, float]]:
    """Return state, start and end of each job by its name."""
    jobs = [
        {"id": str(number), "subtime": time, "res": size, "walltime": seconds + 10, "profile": str(seconds)}
        for number, (time, size, seconds) in enumerate(static, 1)
    ]
    (folder / "w.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": PROFILES}))
    (folder / "e.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    command = ["simulate", "-p", str(PLATFORM), "--mmax", "4", "-E", "-w", str(folder / "w.json"), "-s", algorithm]
    command += ["--quiet", "--events", str(folder / "e.jsonl"), "-e", str(folder / "run")]
    command += ["--record", str(folder / "r.jsonl")]
    assert run([*command, *options]) == 0
    with (folder / "run_jobs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["job_id"]: (row["final_state"], *_times(row)) for row in rows}


def _times(row: Mapping[str, str]) -> tuple[float, float]:
    return float(row["starting_time"] or -1), float(row["finish_time"] or -1)


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_requested_jobs_run_as_those_of_a_workload_do(algorithm: str, answers: str, tmp_path: Path) -> None:
    """At the same instants, and the conversation replays byte for byte."""
    asked = simulate(tmp_path, algorithm, ASKED, "--requests", answers)
    assert run(["replay", str(tmp_path / "r.jsonl")]) == 0
    assert asked == simulate(tmp_path, algorithm, [], static=JOBS)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_job_is_taken_back_while_it_waits_or_runs(algorithm: str, tmp_path: Path) -> None:
    """A waiting one is rejected, a running one killed; the same message may ask for a job and take it back."""
    events = [submission(0, "site!1", 4, 400), submission(10, "site!2", 4, 50), submission(20, "site!3", 4, 50)]
    events += [cancellation(20, "site!3"), cancellation(30, "site!2"), cancellation(100, "site!1")]
    for answers in ANSWERS:
        ended = simulate(tmp_path, algorithm, events, "--requests", answers)
        assert ended["1"] == ("COMPLETED_KILLED", 0, 100), answers
        assert ended["2"][0] == ended["3"][0] == "REJECTED", answers


def test_what_is_wrong_with_a_request_is_told_and_the_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each with its member and the rule."""
    wrong = [
        {"type": "submit_job", "timestamp": 1},
        {**submission(2, "site!a", 1, 50), "job": 7},
        submission(3, "site!b", 1, 50, res="x"),
        {**submission(4, "site!c", 1, 50), "profile": {"type": "delay", "delay": -1}},
        {**submission(5, "site!d", 1, 50), "profile": []},
        submission(6, "none", 1, 50),
        submission(8, "site!1", 1, 50),
        cancellation(9, "site!9"),
        {"type": "cancel_job", "timestamp": 10, "job_id": ["\x1b[31m"]},
        cancellation(900, "site!1"),
    ]
    ended = simulate(tmp_path, "fcfs", [submission(0, "site!1", 4, 400), *wrong], "--requests")
    assert ended == {"1": ("COMPLETED_SUCCESSFULLY", 0, 400)}
    told = capsys.readouterr().err
    assert "\x1b" not in told
    for words in [
        "submit_job None: job_id: must be a text, not None; it is ignored",
        "submit_job 'site!a': job: must be an object, not 7; it is ignored",
        "submit_job 'site!b': job.res: must be a whole number from 0, not 'x'; it is ignored",
        "submit site!c: ",
        "submit_job 'site!d': profile: must be an object, not []; it is ignored",
        "submit none: ",
        "submit site!1: ",
        "cancel_job 'site!9': no job of this id was submitted",
        "cancel_job ['\\x1b[31m']: no job of this id was submitted",
        "cancel_job 'site!1': it neither waits nor runs",
    ]:
        assert words in told, words


def test_without_the_switch_events_ask_for_nothing(tmp_path: Path) -> None:
    """They are only forwarded."""
    assert simulate(tmp_path, "fcfs", ASKED, "--forward-unknown-events", static=JOBS[:1]).keys() == {"1"}


def test_jobs_of_events_need_dynamic_jobs() -> None:
    """They need Batsim 3 or later: the protocol 1.4 has no external events."""
    platform, jobs = read_platform(PLATFORM), Workload("none", 4, (), {})
    for protocol, dynamic, rule in [("v4", False, "need --enable-dynamic-jobs"), ("v1.4", True, "need Batsim 3")]:
        simulation = Simulation(platform, [jobs], Settings(protocol=protocol, dynamic_jobs=dynamic))
        with pytest.raises(OptionError, match=rule):
            simulation.run(Session(load("fcfs"), requests=True).answer)

"""Jobs that their users cancel: every algorithm, against a checker that knows nothing of the engine."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.cli.main import run
from batsched_py.errors import RemoteProtocolError
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.testing import Case
from tests.builders import begun, message, said, submitted_data
from tests.clone import ROOT
from tests.drawing import given_once
from tests.integration.variants import EACH, HOSTS, liberties
from tests.recorded_run import RecordedRun

TINY = ROOT / "platforms" / "tiny4.xml"
TOLERANCE = 1e-4  # a job that is killed when it starts ends 1e-5 s later

#: (submission, hosts, run time, walltime), and the seconds until the cancellation; None for none.
JOBS = st.lists(
    st.tuples(
        st.tuples(st.integers(0, 9), st.integers(1, HOSTS), st.integers(1, 9), st.integers(1, 12)),
        st.sampled_from((None, None, 0, 1, 5, 14)),
    ),
    min_size=1,
    max_size=20,
)
Drawn = list[tuple[tuple[int, int, int, int], int | None]]


def cancelled(drawn: Drawn) -> Workload:
    """The workload of these jobs."""
    plain = Case(hosts=HOSTS, jobs=tuple(spec for spec, _ in drawn)).workload()
    jobs = []
    for job in plain.jobs:
        patience = drawn[int(job.id)][1]
        more = {} if patience is None else {"cancelled_after": patience}
        jobs.append(replace(job, members={**job.members, **more}))
    return replace(plain, jobs=tuple(jobs))


@pytest.mark.parametrize(("name", "options"), [each for each in EACH if not liberties(*each).get("fails_on_purpose")])
@given_once(JOBS, count=8)
def test_no_job_waits_or_runs_after_its_user_cancelled_it(name: str, options: dict[str, str], drawn: Drawn) -> None:
    """And every job has an end; without cancellations, all others run as ever."""
    algorithm, played = load(name), RecordedRun(name, options)
    case = Case(hosts=HOSTS, energy=algorithm.needs_energy, dynamic=algorithm.needs_dynamic_jobs)
    workload = cancelled(drawn)
    played.run([workload], case.settings(), on=case.platform())
    records = {record.job.id: record for record in played.jobs}
    assert {f"w0!{job.id}" for job in workload.jobs} <= records.keys()
    for record in records.values():
        patience = record.job.members.get("cancelled_after")
        if patience is not None and record.hosts:
            assert record.start <= record.job.submit_time + patience + TOLERANCE
            assert record.finish <= record.job.submit_time + patience + TOLERANCE


@pytest.mark.parametrize("protocol", ["v1.4", "v4", "v5"])
def test_the_protocol_makes_no_difference(protocol: str) -> None:
    """A waiting job is rejected and one that runs is killed; the next one starts at that instant, under its promise."""
    drawn: Drawn = [((0, 4, 20, 30), None), ((1, 6, 5, 9), 7), ((2, 3, 5, 9), None), ((8, 2, 9, 40), 3)]
    played = RecordedRun("easy")
    played.run([cancelled(drawn)], Settings(protocol=protocol), on=Case(hosts=HOSTS).platform())
    found = [(round(record.start, 3), round(record.finish, 3), record.state) for record in played.by_submission()]
    assert found[1][2] == "REJECTED"
    assert found[2][:2] == (20, 25)
    assert found[3][:2] == (8, 11)


def test_jobs_behind_a_cancelled_one_start_at_once() -> None:
    """The first of the queue blocks all others with fcfs, until its user gives up."""
    drawn: Drawn = [((0, 4, 20, 30), None), ((1, 6, 5, 9), 7), ((2, 2, 5, 9), None)]
    played = RecordedRun("fcfs")
    played.run([cancelled(drawn)], Settings(), on=Case(hosts=HOSTS).platform())
    assert [round(record.start, 3) for record in played.by_submission()] == [0, 0, 8]


def test_a_held_job_is_cancelled_too() -> None:
    """And what depends on its end starts."""
    session = begun()
    waits: dict[str, Any] = {"depends_on": ["9"], "cancelled_after": 5}
    jobs = [("1", waits), ("2", {"depends_on": [{"job": "1", "when": "end"}]})]
    data = [(name, submitted_data(name), members) for name, members in jobs]
    events = [("JOB_SUBMITTED", {**one, "job": {**one["job"], **members}}) for _, one, members in data]
    reply = session.answer(message(1, *events))
    assert [(kind, given.get("timestamp")) for kind, given in said(reply)] == [("CALL_ME_LATER", 6.0)]
    reply = session.answer(message(6, ("REQUESTED_CALL", {})))
    assert [(kind, given["job_id"]) for kind, given in said(reply)] == [
        ("REJECT_JOB", "w0!1"),
        ("EXECUTE_JOB", "w0!2"),
    ]


def test_no_call_is_requested_for_a_cancellation_after_the_end_of_a_job() -> None:
    """By its walltime: the simulation would last until the call."""
    reply = begun().answer(message(1, *submissions({"walltime": 50, "cancelled_after": 49.5}, {"walltime": 50})))
    assert [given["timestamp"] for kind, given in said(reply) if kind == "CALL_ME_LATER"] == [50.5]
    reply = begun().answer(message(1, *submissions({"walltime": 50, "cancelled_after": 50}, {"walltime": 50})))
    assert [kind for kind, _ in said(reply)] == ["EXECUTE_JOB", "EXECUTE_JOB"]


def submissions(*members: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Events of jobs on one host with these members."""
    data = [(submitted_data(str(number)), more) for number, more in enumerate(members)]
    return [("JOB_SUBMITTED", {**one, "job": {**one["job"], **more}}) for one, more in data]


def test_a_wrong_time_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a message, and in a workload."""
    one = submitted_data("1")
    with pytest.raises(RemoteProtocolError, match=r"cancelled_after.*must be a number of seconds"):
        begun().answer(message(1, ("JOB_SUBMITTED", {**one, "job": {**one["job"], "cancelled_after": "soon"}})))
    path = tmp_path / "w.json"
    job = {"id": "a", "subtime": 0, "res": 1, "walltime": 9, "profile": "p", "cancelled_after": -1}
    path.write_text(json.dumps({"nb_res": 4, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": 5}}}))
    assert run(["simulate", "-p", str(TINY), "-w", str(path), "-s", "fcfs"]) == 2
    assert "jobs[0].cancelled_after: must be a number of seconds from 0, not -1" in capsys.readouterr().err


#: A log: 1 ran; 2 was cancelled after 40 s; 3 while it ran; of 4 it is not known when; 5 requested no time.
LOG = """; MaxProcs: 4
1 0 0 100 4 -1 -1 4 200 -1 1 3 1 -1 1 -1 -1 -1
2 10 40 0 0 -1 -1 4 200 -1 5 5 1 -1 1 -1 -1 -1
3 20 80 30 2 -1 -1 2 200 -1 5 5 1 -1 1 -1 -1 -1
4 30 -1 -1 0 -1 -1 2 200 -1 5 5 1 -1 1 -1 -1 -1
5 40 9 -1 0 -1 -1 2 -1 -1 5 5 1 -1 1 -1 -1 -1
"""
#: Slurm's accounting: 10 ran, 11 and 12 were cancelled before their start, 12 with an unknown end.
SACCT = """JobID|User|Account|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS
10|ann|a|COMPLETED|2024-05-31T08:00:00|2024-05-31T08:00:00|2024-05-31T08:10:00|600|30|4|4
11|ann|a|CANCELLED by 1000|2024-05-31T08:01:00|None|2024-05-31T08:03:00|0|30|2|0
12|ann|a|CANCELLED|2024-05-31T08:01:00|None|Unknown|0|30|2|0
"""


@pytest.mark.parametrize(
    ("text", "more", "kept"),
    [
        (LOG, ["--input-format", "swf"], {"1": None, "2": 40, "3": None}),
        (SACCT, ["--input-format", "sacct", "--hosts", "4"], {"10": None, "11": 120}),
    ],
)
def test_cancelled_jobs_of_a_log_are_kept(
    text: str, more: list[str], kept: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the option; without it they are dropped."""
    log, output = tmp_path / "log", tmp_path / "w.json"
    log.write_text(text)
    assert run(["convert", str(log), *more, "-o", str(output)]) == 0
    plain = json.loads(output.read_text())
    assert [job["id"] for job in plain["jobs"]] == [job for job, patience in kept.items() if patience is None]
    assert not any("cancelled_after" in job for job in plain["jobs"])
    assert "cancelled while" not in capsys.readouterr().out
    assert run(["convert", str(log), *more, "--cancelled", "-o", str(output)]) == 0
    jobs = json.loads(output.read_text())["jobs"]
    assert {job["id"]: job.get("cancelled_after") for job in jobs} == kept
    assert "1 job cancelled while waiting" in capsys.readouterr().out


def test_a_job_that_fails_with_its_hosts_is_cancelled_at_the_same_time(tmp_path: Path) -> None:
    """The time counts from the first submission."""
    workload, events, out = tmp_path / "w.json", tmp_path / "events.txt", tmp_path / "out"
    job = {"id": "a", "subtime": 0, "res": 4, "walltime": 60, "profile": "p", "cancelled_after": 22}
    workload.write_text(json.dumps({"nb_res": 4, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": 20}}}))
    events.write_text(
        json.dumps({"timestamp": 10, "type": "machine_unavailable", "resources": "0"})
        + "\n"
        + json.dumps({"timestamp": 15, "type": "machine_available", "resources": "0"})
    )
    words = ["simulate", "-p", str(TINY), "-w", str(workload), "-s", "fcfs", "--events", str(events), "--quiet"]
    assert run([*words, "--on-failure", "requeue", "-e", str(out)]) == 0
    with Path(f"{out}_jobs.csv").open() as file:
        rows = [(row["job_id"], float(row["finish_time"])) for row in csv.DictReader(file)]
    assert rows == [("a", 10), ("a~1", 22)]

"""Leases that end otherwise than planned, or begin together: failures, cancellation, groups, overheads as jobs."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from tests.clone import ROOT

HOUR = {"type": "delay", "delay": 3600}
PROFILES = {"hour": HOUR, "half": {"type": "delay", "delay": 1800}, "bad": {"type": "delay", "delay": 100, "ret": 1}}


class Simulated:
    """A run of `leases` on four hosts: its exit code, its jobs by id, its leases by number."""

    def __init__(
        self, folder: Path, jobs: Sequence[dict[str, Any]], *options: str, events: Sequence[dict[str, Any]] = ()
    ) -> None:
        (folder / "w.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": PROFILES}))
        (folder / "e.txt").write_text("".join(json.dumps(event) + "\n" for event in events))
        given = [each for option in options for each in ("-o", option)]
        self.code = run(
            [
                *(
                    "simulate",
                    "-p",
                    str(ROOT / "platforms" / "tiny4.xml"),
                    "-w",
                    str(folder / "w.json"),
                    "-s",
                    "leases",
                ),
                *("-o", "policy_preemption=ar-preempts-everything", "--enable-dynamic-jobs", "--quiet"),
                *("--events", str(folder / "e.txt"), "--forward-unknown-events", "-e", str(folder / "run"), *given),
            ]
        )
        self.jobs = self._rows(folder / "run_jobs.csv", "job_id")
        self.leases = self._rows(folder / "run_leases.csv", "lease")

    @staticmethod
    def _rows(path: Path, key: str) -> dict[str, dict[str, str]]:
        if not path.exists():
            return {}
        with path.open(newline="") as file:
            return {row[key]: row for row in csv.DictReader(file)}

    def job(self, job_id: str) -> tuple[str, float, float]:
        """Return state, start and end of a job."""
        row = self.jobs[job_id]
        return row["final_state"], float(row["starting_time"]), float(row["finish_time"])


def job(job_id: str, subtime: float, res: int, profile: str = "hour", **lease: Any) -> dict[str, Any]:
    """A job with lease terms."""
    seconds = PROFILES[profile]["delay"]
    described = {"id": job_id, "subtime": subtime, "res": res, "walltime": seconds, "profile": profile}
    return {**described, "lease": lease} if lease else described


def test_a_job_that_fails_fails_its_lease_and_makes_room(tmp_path: Path) -> None:
    """H104: its reservations vanish, and whoever waits comes forward."""
    long = {**job("1", 0, 4, "bad"), "walltime": 3600}
    ended = Simulated(tmp_path, [long, job("2", 10, 4)])
    assert ended.code == 0
    assert ended.leases["1"]["state"] == "Fail"
    assert ended.leases["1"]["end_time"] == "100"
    assert ended.job("2")[1:] == (100, 3700)


def test_a_failure_can_end_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code of algorithms that fail, and one line that names the job."""
    ended = Simulated(tmp_path, [{**job("1", 0, 4, "bad"), "walltime": 3600}], "lease_failure_handling=exit")
    assert ended.code == 3
    assert "the lease of w0!1 has failed" in capsys.readouterr().err


def test_machines_on_a_lost_host_are_gone(tmp_path: Path) -> None:
    """H104: a lease that runs there fails, all of it; one that waits finds other hosts."""
    lost = [{"timestamp": 600, "type": "machine_unavailable", "resources": "0"}]
    ended = Simulated(tmp_path, [job("1", 0, 2), job("2", 0, 1), job("3", 0, 3)], events=lost)
    assert ended.code == 0
    assert [ended.leases[number]["state"] for number in "123"] == ["Fail", "Done", "Done"]
    assert ended.job("1") == ("COMPLETED_KILLED", 0, 600)
    assert ended.job("3")[1:] == (3600, 7200)


@pytest.mark.parametrize(
    ("cancelled", "state"),
    [("1", "COMPLETED_KILLED"), ("2", "REJECTED"), ("3", "REJECTED")],
    ids=["running", "reserved", "queued"],
)
def test_a_lease_is_taken_back(tmp_path: Path, cancelled: str, state: str) -> None:
    """H84, whatever its state; the others have its room."""
    jobs = [job("1", 0, 4), job("2", 0, 4, "half", start=5000), job("3", 0, 4, "half")]
    events = [{"timestamp": 60, "type": "cancel_lease", "job": f"w0!{cancelled}"}]
    ended = Simulated(tmp_path, jobs, events=events)
    assert ended.code == 0
    assert ended.leases[cancelled]["state"] == "Cancelled"
    assert ended.jobs[cancelled]["final_state"] == state
    assert {ended.leases[number]["state"] for number in "123" if number != cancelled} == {"Done"}


def test_a_suspended_lease_is_taken_back(tmp_path: Path) -> None:
    """Its remainder is refused as soon as it has been submitted."""
    jobs = [job("1", 0, 4), job("2", 900, 4, "half", start=1800)]
    events = [{"timestamp": 1810, "type": "cancel_lease", "job": "w0!1"}]
    ended = Simulated(tmp_path, jobs, events=events)
    assert ended.code == 0
    assert ended.leases["1"]["state"] == "Cancelled"
    assert {one["final_state"] for name, one in ended.jobs.items() if name != "2"} == {"COMPLETED_KILLED", "REJECTED"}
    assert ended.job("2")[1:] == (1800, 3600)


def test_cancelling_what_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run goes on."""
    ended = Simulated(tmp_path, [job("1", 0, 4)], events=[{"timestamp": 60, "type": "cancel_lease", "job": "w0!9"}])
    assert ended.code == 0
    assert "cannot be cancelled: it is not a lease, or has ended" in capsys.readouterr().err


def test_a_group_starts_together_or_not_at_all(tmp_path: Path) -> None:
    """HA-60: two jobs of two hosts, of which three are free, both wait."""
    jobs = [job("1", 0, 1), job("2", 0, 2, group="a"), job("3", 0, 2, group="a")]
    ended = Simulated(tmp_path, jobs)
    assert ended.code == 0
    assert ended.job("2")[1:] == ended.job("3")[1:] == (3600, 7200)
    assert ended.jobs["2"]["allocated_resources"] != ended.jobs["3"]["allocated_resources"]
    assert ended.leases["2"]["job"] == "w0!2 w0!3"


def test_a_group_is_suspended_and_resumed_as_one(tmp_path: Path) -> None:
    """All of its jobs are killed, and all go on."""
    jobs = [job("1", 0, 1, group="a"), job("2", 0, 2, group="a"), job("3", 900, 4, "half", start=1800)]
    ended = Simulated(tmp_path, jobs)
    assert ended.code == 0
    assert [ended.job(name) for name in ("1", "2")] == [("COMPLETED_KILLED", 0, 1768)] * 2
    assert ended.job("1#1")[1:] == ended.job("2#1")[1:] == (3632, 5464)
    assert ended.leases["1"]["suspensions"] == "1"


def test_a_group_has_the_same_terms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Otherwise it could not end together."""
    ended = Simulated(tmp_path, [job("1", 0, 1, group="a"), job("2", 0, 2, "half", group="a")])
    assert ended.code == 0
    assert {row["final_state"] for row in ended.jobs.values()} == {"REJECTED"}
    assert "lease.group: w0!2 has other terms, or another walltime, than w0!1" in capsys.readouterr().err


def test_users_do_not_share_a_group(tmp_path: Path) -> None:
    """Groups of one name at the same time are different ones."""
    jobs = [job("1", 0, 1, group="a") | {"user": "ann"}, job("2", 0, 2, "half", group="a") | {"user": "bob"}]
    ended = Simulated(tmp_path, jobs)
    assert ended.code == 0
    assert [ended.leases[number]["job"] for number in "12"] == ["w0!1", "w0!2"]


def test_overheads_are_shown_as_jobs(tmp_path: Path) -> None:
    """Hosts that save and load memory are seen to be busy; nothing else changes."""
    jobs = [job("1", 0, 1), job("2", 900, 4, "half", start=1800)]
    ended = Simulated(tmp_path, jobs, "overhead_jobs=true")
    assert ended.code == 0
    assert ended.job("1#suspend1") == ("COMPLETED_SUCCESSFULLY", 1768, 1800)
    assert ended.job("1#resume2") == ("COMPLETED_SUCCESSFULLY", 3600, 3632)
    assert ended.job("1#1")[1:] == (3632, 5464)
    assert ended.jobs["1#suspend1"]["allocated_resources"] == ended.jobs["1"]["allocated_resources"]


def test_who_is_refused_is_told_when_there_would_be_room(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """H114, HA-61: the reservation of HA-7, when nobody may be stopped."""
    jobs = [job("1", 0, 1, preemptible=False), job("2", 900, 4, "half", start=1800)]
    ended = Simulated(tmp_path, jobs)
    assert ended.leases["2"]["state"] == "Rejected"
    assert ended.leases["2"]["alternative_start"] == "3600"
    assert "not enough resources in the interval; it could start at 3600" in capsys.readouterr().err


def test_reservations_that_may_be_stopped_are_not_and_that_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """H110: of two that say so; the best-effort lease that waits is no news, and stops nobody."""
    jobs = [
        job("1", 0, 4, start=10, preemptible=True),
        job("2", 0, 4),
        job("3", 0, 4, "half", start=4000, preemptible="yes"),
        job("4", 20, 4, "half", start=1800, preemptible=False),
    ]
    ended = Simulated(tmp_path, jobs)
    assert [(row["type"], row["state"]) for row in ended.leases.values()] == [
        ("AR", "Done"),
        ("BE", "Done"),
        ("AR", "Done"),
        ("AR", "Rejected"),
    ]
    told = capsys.readouterr().err
    assert "w0!1: lease.preemptible is ignored, also for later jobs: reservations and immediate leases are" in told
    assert told.count("is ignored") == 1

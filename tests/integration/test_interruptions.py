"""Every kind of profile, interrupted in every way: work is done once, or what cannot be is refused in words."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.integration.programs import run_here, serving

PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="master_host" speed="1Gf"/>
    <host id="pfs" speed="1Gf"><prop id="role" value="storage"/></host>
    <link id="ab" bandwidth="100MBps" latency="0s"/><link id="disk" bandwidth="100MBps" latency="0s"/>
    <route src="a" dst="b"><link_ctn id="ab"/></route>
    <route src="a" dst="pfs"><link_ctn id="disk"/></route>
    <route src="b" dst="pfs"><link_ctn id="disk"/></route>
    <route src="master_host" dst="a"><link_ctn id="ab"/></route>
    <route src="master_host" dst="b"><link_ctn id="ab"/></route>
    <route src="master_host" dst="pfs"><link_ctn id="ab"/></route>
  </zone>
</platform>
"""
#: Each lasts 100 s on the two hosts.
KINDS: dict[str, dict[str, Any]] = {
    "delay": {"type": "delay", "delay": 100},
    "parallel": {"type": "parallel", "cpu": [1e11, 5e10], "com": [0, 1e9, 0, 0]},
    "silent": {"type": "parallel", "cpu": [1e11, 5e10]},
    "homogeneous": {"type": "parallel_homogeneous", "cpu": 1e11, "com": 1e8},
    "bare": {"type": "parallel_homogeneous", "cpu": 1e11},
    "total": {"type": "parallel_homogeneous_total", "cpu": 2e11, "com": 1e8},
    "delays": {"type": "composed", "repeat": 4, "seq": ["d10", "d15"]},
    "mixed": {"type": "composed", "repeat": 2, "seq": ["d15", "p10", "p25"]},
    "nested": {"type": "composed", "repeat": 2, "seq": ["inner", "d10"]},
    "pfs": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 4e9, "bytes_to_write": 1e9, "storage": "pfs"},
    "stored": {"type": "composed", "seq": ["d15", "io70", "d15"]},
    "send": {"type": "send", "msg": {"hello": 1}, "sleeptime": 100},
    "recv": {"type": "recv", "timeout": "d100", "polltime": 1},
    "talk": {"type": "composed", "seq": ["d15", "say", "d75"]},
}
STEPS: dict[str, dict[str, Any]] = {
    **{f"d{seconds}": {"type": "delay", "delay": seconds} for seconds in (10, 15, 75, 100)},
    **{f"p{seconds}": {"type": "parallel_homogeneous", "cpu": seconds * 1e9, "com": 1e7} for seconds in (10, 25)},
    "inner": {"type": "composed", "repeat": 2, "seq": ["d10", "p10"]},
    "io70": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 3.5e9, "storage": "pfs"},
    "say": {"type": "send", "msg": {}, "sleeptime": 10},
}
TALKING = {"send", "recv", "talk"}
#: Not one delay, so that a job that begins again has to be registered anew in several parts.
SEVERAL = {"mixed", "nested", "stored"}
#: Of these Batsim 1 tells no steps.
COMPOSED = {"delays", "mixed", "nested", "talk"}
#: Profiles that a version has not, or names otherwise.
LACKS: dict[str, set[str]] = {"v1.4": {"pfs", "stored"}, "v5": {"pfs", "stored", *TALKING}}
V4 = ("--protocol", "v4")
WAYS = {
    "v4": V4,
    "v4-reuse": (*V4, "--enable-profile-reuse"),
    "v4-acknowledged": (*V4, "--acknowledge-dynamic-jobs"),
    "v1.4": ("--protocol", "v1.4", "--forward-profiles-on-submission"),
    "v5": ("--protocol", "v5"),
}
TABLE = [(way, kind) for way, kind in product(WAYS, KINDS) if kind not in LACKS.get(way, ())]
table = pytest.mark.parametrize(("way", "kind"), TABLE)
#: What reuse and acknowledgement make no difference to.
versions = pytest.mark.parametrize(("way", "kind"), [each for each in TABLE if each[0] in ("v4", "v1.4", "v5")])
EVENTS = pytest.mark.parametrize(("way", "kind"), [each for each in TABLE if each[0].startswith("v4")])


#: An algorithm that kills what runs at 40 s and submits what was left, part after part.
RESUBMIT = """
from batsched_py.api import HostSet, Job, JobKilled, NoOptions, Scheduler

class Again(Scheduler[NoOptions]):
    name = "again"
    needs_dynamic_jobs = True

    def setup(self, view):
        self.parts, self.count, self.killed = [], 0, False

    def observe(self, event, view):
        if isinstance(event, JobKilled):
            rest = view.remainder("w0!1", event.progress["w0!1"])
            assert rest is not None, "the rest is not known"
            self.parts = list(rest)

    def decide(self, view, plan):
        if not self.killed and view.running and view.due(40):
            self.killed = True
            plan.kill([run.job for run in view.running])
        elif not view.running and not view.queue and self.parts:
            self.count += 1
            workload = "0" if view.config.numbered_jobs else "w0"
            part = Job.create(f"{workload}!{100 + self.count}", size=2, profile=f"part{self.count}")
            plan.submit(part, self.parts.pop(0))
        for job in view.queue:
            plan.start(job, HostSet.parse("0-1"))
        if not self.killed:
            plan.wake_at(40)
        elif not self.parts and self.count and view.registration_open:
            plan.finish_registration()
"""


class Interrupted:
    """A run of job 1 on two hosts that is interrupted: its jobs by name, its leases, what was said."""

    def __init__(
        self,
        folder: Path,
        way: str,
        kind: str,
        scheduler: str,
        *options: str,
        walltime: float = 300,
        others: Sequence[dict[str, Any]] = (),
        events: Sequence[dict[str, Any]] = (),
    ) -> None:
        job = {"id": "1", "subtime": 0, "res": 2, "walltime": walltime, "profile": kind}
        profiles = {**STEPS, kind: KINDS[kind], "other": {"type": "delay", "delay": 100}}
        (folder / "p.xml").write_text(PLATFORM)
        (folder / "again.py").write_text(RESUBMIT)
        (folder / "w.json").write_text(json.dumps({"nb_res": 2, "jobs": [job, *others], "profiles": profiles}))
        self.options = [*("-p", "p.xml", "-w", "w.json", "--workload-name", "w0", "--quiet", "-e", "run"), *WAYS[way]]
        #: Of Batsim 5.
        self.prefix = "run" if way == "v5" else "run_"
        self.dynamic = ["--enable-dynamic-jobs"]
        if events:
            (folder / "e.txt").write_text("".join(json.dumps(event) + "\n" for event in events))
            self.options += ["--events", "e.txt", "--forward-unknown-events"]
        self.folder, self.scheduler = folder, ["-s", scheduler, *options]

    def run(self) -> Interrupted:
        """Simulate it, which ends without an error."""
        assert run_here(self.folder, "simulate", *self.options, *self.dynamic, *self.scheduler) == 0
        return self.read()

    def read(self) -> Interrupted:
        """Read what was written."""
        rows = self._rows(f"{self.prefix}jobs.csv")
        self.own = [row for row in rows if row["workload_name"] != "w0" or row["job_id"][0] == "1"]
        self.jobs = {row["job_id"]: row for row in rows if row["workload_name"] == "w0"}
        tables = self._rows("run_leases.csv") if (self.folder / "run_leases.csv").exists() else []
        self.leases = {row["lease"]: row for row in tables}
        return self

    def _rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / name).open(newline="") as file:
            return list(csv.DictReader(file))

    def spans(self) -> list[tuple[float, float]]:
        """Return when job 1 and what continues it have run."""
        return sorted(
            (float(row["starting_time"]), float(row["finish_time"])) for row in self.own if row["starting_time"]
        )

    def worked(self) -> float:
        """Return for how many seconds job 1 and its segments have run."""
        return sum(end - begin for begin, end in self.spans())

    def state(self, name: str) -> str:
        """Return the final state of a job; Batsim 1 keeps no record of those that were rejected."""
        return self.jobs[name]["final_state"].removeprefix("COMPLETED_") if name in self.jobs else "REJECTED"


def reservation(name: str, start: float) -> dict[str, Any]:
    """Both hosts for 100 s, asked for at 10 s."""
    return {"id": name, "subtime": 10, "res": 2, "walltime": 101, "profile": "other", "lease": {"start": start}}


def about(*spans: tuple[float, float]) -> list[Any]:
    """Return spans to compare with: the last ends at this time, but for rounding."""
    return [*spans[:-1], (spans[-1][0], pytest.approx(spans[-1][1], abs=0.01))]


def goes_on(way: str, kind: str) -> bool:
    """Return whether what a lease of this kind had left is known."""
    return kind not in TALKING and not (way == "v1.4" and kind in COMPOSED)


NO_PROGRESS = "Batsim reports no progress of a profile of type"
GIVE_WAY = ("-o", "policy_preemption=ar-preempts-everything", "-o", "scheduling_threshold_factor=0")


@table
def test_a_suspended_lease_does_its_work_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], way: str, kind: str
) -> None:
    """It saves its memory for 32 s before each of two reservations; a profile without progress is not interrupted."""
    others = [reservation("2", 72), reservation("3", 262)]
    run = Interrupted(tmp_path, way, kind, "leases", *GIVE_WAY, others=others).run()
    assert run.worked() == pytest.approx(100, abs=0.01)
    assert run.leases["1"]["state"] == "Done"
    said = capsys.readouterr().err
    if not goes_on(way, kind):
        assert run.state("2") == "REJECTED"
        why = "its profile has steps that Batsim has not sent" if way == "v1.4" and kind in COMPOSED else NO_PROGRESS
        assert f"w0!1 cannot be suspended or stopped for others, nor later jobs like it: {why}" in said
    else:
        assert [run.state(name) for name in "123"] == ["KILLED", "SUCCESSFULLY", "SUCCESSFULLY"]
        spans = run.spans()
        assert spans[0] == (0, 40)
        assert [begin for begin, _ in spans].count(204) == 1
        assert spans[-1][1] == pytest.approx(428, abs=0.01)
        assert "cannot" not in said


@table
def test_what_a_killed_job_had_left_can_be_submitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], way: str, kind: str
) -> None:
    """By an algorithm that runs it part after part; what has no progress of its own is there whole."""
    if way == "v1.4" and (kind in COMPOSED or kind == "recv"):  # it tells no steps, and nothing that a recv names
        run = Interrupted(tmp_path, way, kind, "again.py:Again")
        assert run_here(tmp_path, "simulate", *run.options, *run.dynamic, *run.scheduler) == 3
        assert "the rest is not known" in capsys.readouterr().err
        return
    run = Interrupted(tmp_path, way, kind, "again.py:Again").run()
    whole = {"send": 140, "talk": 100, "recv": 100}.get(kind, 100)
    assert run.worked() == pytest.approx(whole, abs=0.01)
    assert run.state("1") == "KILLED"


@EVENTS
@pytest.mark.parametrize("scheduler", ["fcfs", "leases"])
def test_a_job_that_fails_with_its_hosts_begins_again(tmp_path: Path, way: str, kind: str, scheduler: str) -> None:
    """With --on-failure requeue; its profile is kept for the next attempt, whoever decides."""
    events = [
        {"type": "machine_unavailable", "resources": "1", "timestamp": 40},
        {"type": "machine_available", "resources": "1", "timestamp": 50},
        {"type": "machine_unavailable", "resources": "0", "timestamp": 60},
        {"type": "machine_available", "resources": "0", "timestamp": 70},
    ]
    run = Interrupted(tmp_path, way, kind, scheduler, "--on-failure", "requeue", events=events).run()
    assert [run.state(name) for name in ("1", "1~1", "1~2")] == ["FAILED", "FAILED", "SUCCESSFULLY"]
    assert run.spans() == about((0, 40), (50, 60), (70, 170))


@table
def test_a_job_that_is_preempted_begins_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], way: str, kind: str
) -> None:
    """By ar_preempt, if it can be registered as one profile; otherwise the reservation is rejected."""
    run = Interrupted(tmp_path, way, kind, "ar_preempt", others=[reservation("2", 40)]).run()
    anew = way in ("v4", "v4-acknowledged", "v1.4")
    if anew and (kind in SEVERAL or kind == "talk" or (way == "v1.4" and (kind in COMPOSED or kind == "recv"))):
        assert run.state("2") == "REJECTED"
        assert "w0!1 is not stopped: it cannot be submitted again" in capsys.readouterr().err
        assert run.spans() == about((0, 100))
    else:
        assert run.spans() == about((0, 40), (140, 240))


@versions
def test_a_walltime_ends_a_job(tmp_path: Path, way: str, kind: str) -> None:
    """It does so in any part of the job."""
    run = Interrupted(tmp_path, way, kind, "leases", walltime=60).run()
    assert (run.state("1"), run.spans()) == ("WALLTIME_REACHED", [(0, 60)])


@versions
def test_a_walltime_counts_all_runs_of_a_lease(tmp_path: Path, way: str, kind: str) -> None:
    """A lease of 60 s that was suspended after 40 runs for 20 more."""
    run = Interrupted(tmp_path, way, kind, "leases", *GIVE_WAY, walltime=60, others=[reservation("2", 72)]).run()
    assert run.worked() == pytest.approx(60, abs=0.01)
    assert run.leases["1"]["state"] == "Done"


@EVENTS
@pytest.mark.parametrize("at", [100, 225])
def test_a_cancelled_lease_stops_for_good(tmp_path: Path, way: str, kind: str, at: int) -> None:
    """While it is suspended, and in one of the parts that are left."""
    cancel = {"type": "cancel_lease", "timestamp": at, "job": "w0!1"}
    run = Interrupted(tmp_path, way, kind, "leases", *GIVE_WAY, others=[reservation("2", 72)], events=[cancel]).run()
    if not goes_on(way, kind):
        assert run.leases["1"]["state"] == "Done"
    else:
        assert run.leases["1"]["state"] == "Cancelled"
        assert run.worked() == pytest.approx({100: 40, 225: 61}[at], abs=0.01)


@EVENTS
def test_a_lease_on_a_failed_host_fails(tmp_path: Path, way: str, kind: str) -> None:
    """In one of the parts that were left, too."""
    down = {"type": "machine_unavailable", "resources": "1", "timestamp": 225}
    run = Interrupted(tmp_path, way, kind, "leases", *GIVE_WAY, others=[reservation("2", 72)], events=[down]).run()
    assert run.leases["1"]["state"] == ("Fail" if goes_on(way, kind) else "Done")


@pytest.mark.parametrize("way", ["v1.4", "v5"])
def test_what_other_versions_of_batsim_lack_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    """Batsim 1 has no external events, and no machine of Batsim 5 fails."""
    down = {"type": "machine_unavailable", "resources": "1", "timestamp": 40}
    run = Interrupted(tmp_path, way, "mixed", "fcfs", "--on-failure", "requeue", events=[down])
    assert run_here(tmp_path, "simulate", *run.options, *run.scheduler) == 2
    assert way in capsys.readouterr().err


@pytest.mark.parametrize("way", ["v4", "v4-acknowledged", "v1.4", "v5"])
@pytest.mark.parametrize("kind", ["delays", "nested", "homogeneous"])
def test_it_is_the_same_over_a_socket(tmp_path: Path, way: str, kind: str) -> None:
    """The other end is a process of its own."""
    others = [reservation("2", 72), reservation("3", 262)]
    run = Interrupted(tmp_path, way, kind, "leases", *GIVE_WAY, others=others)
    dynamic = () if way == "v5" else run.dynamic  # which asks for them itself
    with serving(tmp_path, *run.scheduler) as served:
        assert run_here(tmp_path, "simulate", *run.options, *dynamic, "--socket", served.address) == 0
        assert served.end()[0] == 0
    assert run.read().worked() == pytest.approx(100, abs=0.01)
    assert run.spans()[-1][1] == pytest.approx(428 if goes_on(way, kind) else 100, abs=0.01)

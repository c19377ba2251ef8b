"""Algorithms that use Batsim's rarer features of jobs, session and simulator against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batsched_py.api import AdditionalIo, Event, FromJobMessage, HostSet, JobCompleted, NoOptions, Plan, Scheduler, View
from batsched_py.model.job import Job
from batsched_py.model.profile import parse_profile
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.model.workload import Workload
from batsched_py.results.records import Result
from batsched_py.traces.simgrid_xml import read_platform
from tests.platforms import plain_platform
from tests.recorded_run import RecordedRun

TWO_STORAGES = """<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
  <host id="master_host" speed="1Gf"/><host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/>
  <host id="disk" speed="1Gf"/><host id="tape" speed="1Gf"/>
  <link id="fast" bandwidth="100MBps" latency="0"/><link id="slow" bandwidth="10MBps" latency="0"/>
  <route src="n0" dst="disk"><link_ctn id="fast"/></route><route src="n1" dst="disk"><link_ctn id="fast"/></route>
  <route src="n0" dst="tape"><link_ctn id="slow"/></route><route src="n1" dst="tape"><link_ctn id="slow"/></route>
  <route src="disk" dst="tape"><link_ctn id="slow"/></route>
</zone></platform>
"""


def workload(profiles: dict[str, dict[str, Any]], *jobs: tuple[str, int, str]) -> Workload:
    """(name, size, profile) of each job; all are submitted at 0 s."""
    typed = {name: parse_profile(name, members) for name, members in profiles.items()}
    made = tuple(Job.create(name, size=size, profile=profile) for name, size, profile in jobs)
    return Workload("test workload", 0, made, typed)


class Lease(Scheduler[NoOptions]):
    """Puts a lease of four one-host nodes on two hosts, two on each."""

    name = "lease"
    oversubscribes = True

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            plan.start(job, HostSet.of(0, 1), mapping={0: 0, 1: 0, 2: 1, 3: 1})


def test_four_executors_on_two_hosts() -> None:
    """BA-18: more executors than hosts, without compute sharing; they share their host's speed."""
    profiles = {"p": {"type": "parallel", "cpu": [1e9, 1e9, 1e9, 2e9]}}
    talk = RecordedRun(Lease)
    lease = workload(profiles, ("lease", 4, "p"))
    result = talk.run([lease], Settings(allow_oversized=True), plain_platform(2))
    assert talk.details("EXECUTE_JOB") == [
        {"job_id": "w0!lease", "alloc": "0-1", "mapping": {"0": "0", "1": "0", "2": "1", "3": "1"}}
    ]
    (record,) = result.jobs
    assert (record.job.size, str(record.hosts), record.state) == (4, "0-1", "COMPLETED_SUCCESSFULLY")
    assert record.execution == pytest.approx(3.0)


class Storages(Scheduler[NoOptions]):
    """Stages data in from the slow storage, reads it from the fast one, and computes while it writes to it."""

    name = "storages"

    def decide(self, view: View, plan: Plan) -> None:
        disk, tape = sorted(view.storages)
        for job in view.queue:
            if view.running:
                return
            if job.name == "1 stage":
                plan.start(job, HostSet.of(disk, tape), storage_mapping={"from": tape, "to": disk})
            elif job.name == "2 read":
                plan.start(job, plan.free.first(job.size) or HostSet(), storage_mapping={"pfs": disk})
            else:
                hosts = plan.free.first(job.size) or HostSet()
                write = {"type": "parallel", "cpu": [0, 0], "com": [0, 3e8, 0, 0]}
                plan.start(job, hosts, additional_io=AdditionalIo(HostSet.of(min(hosts), disk), "write", write))


def run_on_storages(folder: Path, settings: Settings) -> tuple[Result, RecordedRun]:
    platform = folder / "platform.xml"
    platform.write_text(TWO_STORAGES)
    profiles: dict[str, dict[str, Any]] = {
        "stage": {"type": "data_staging", "nb_bytes": 4e7, "from": "from", "to": "to"},
        "read": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 5e7},
        "compute": {"type": "parallel_homogeneous", "cpu": 1e9},
    }
    jobs = workload(profiles, ("1 stage", 2, "stage"), ("2 read", 2, "read"), ("3 compute", 2, "compute"))
    talk = RecordedRun(Storages)
    return talk.run([jobs], settings, read_platform(platform)), talk


@pytest.mark.parametrize("sharing", [True, False])
def test_an_algorithm_that_moves_data(tmp_path: Path, sharing: bool) -> None:
    """Storages by role, a mapping of labels, a job on storage hosts, an additional io job."""
    settings = Settings(roles={"disk": "storage", "tape": "storage"}, storage_sharing=sharing)
    result, talk = run_on_storages(tmp_path, settings)
    # 4e7 bytes at 10 MB/s; twice 5e7 bytes through one fast link; 3e8 bytes there, longer than the computation.
    assert [record.execution for record in result.jobs] == [pytest.approx(4), pytest.approx(1), pytest.approx(3)]
    assert [str(record.hosts) for record in result.jobs] == ["2-3", "0-1", "0-1"]
    assert talk.details("EXECUTE_JOB")[0]["storage_mapping"] == {"from": 3, "to": 2}
    assert talk.details("EXECUTE_JOB")[2]["additional_io_job"]["alloc"] == "0 2"


class Teacher(Scheduler[NoOptions]):
    """Starts all jobs; tells a job that asks how many rounds are left, and to stop when there are none."""

    name = "teacher"

    def __init__(self, options: NoOptions) -> None:
        super().__init__(options)
        self.rounds = 3
        self.asked: list[str] = []
        self.questions: list[object] = []

    def observe(self, event: Event, view: View) -> None:
        if isinstance(event, FromJobMessage):
            self.asked.append(event.job_id)
            self.questions.append(event.message)
        elif isinstance(event, JobCompleted):
            assert self.questions == [{"round": "please"}] * 4

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            plan.start(job, plan.free.first(job.size) or HostSet())
        for job_id in self.asked:
            asking = view.job(job_id)
            assert asking is not None
            self.rounds -= 1
            plan.message(asking, f"{self.rounds} left" if self.rounds >= 0 else "stop")
        self.asked.clear()


@pytest.mark.parametrize("settings", [DEFAULTS, Settings(message_latency=True)], ids=["at once", "with latency"])
def test_an_algorithm_that_talks_with_a_job(settings: Settings) -> None:
    """The job asks before each round of work, and ends when it is told to."""
    profiles: dict[str, dict[str, Any]] = {
        "ask": {"type": "send", "msg": {"round": "please"}},
        "work": {"type": "delay", "delay": 10},
        "round": {"type": "composed", "seq": ["work", "turn"]},
        "listen": {"type": "recv", "regex": "[0-9]+ left", "success": "round", "polltime": 0.5},
        "turn": {"type": "composed", "seq": ["ask", "listen"]},
    }
    talk = RecordedRun(Teacher)
    # "turn" and "round" contain each other by way of "listen": that is no cycle, a text is between them.
    result = talk.run([workload(profiles, ("pupil", 1, "turn"))], settings, plain_platform(1))
    assert [data["msg"] for data in talk.details("TO_JOB_MSG")] == ["2 left", "1 left", "0 left", "stop"]
    assert result.jobs[0].state == "COMPLETED_SUCCESSFULLY"
    assert result.jobs[0].execution == pytest.approx(30, abs=2.1)

"""One run in both dialects: the same decisions, whatever the spelling (BA-2), and all that a Plan can say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.api import HostSet, Job, NoOptions, Plan, Scheduler, View
from batsched_py.errors import AlgorithmError
from batsched_py.metadata.memory_store import MemoryStore
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.results.records import Result
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from tests.builders import message
from tests.drawing import given_once
from tests.integration.programs import run, serving
from tests.integration.variants import ON_PLATFORM, PLATFORM, SPECS, workload
from tests.recorded_run import RecordedRun
from tests.unit.simulator.scenario import SLEEPER, SLEEPER_SPEEDS, job, platform
from tests.unit.simulator.scenario import workload as small_workload

#: The same run; v1.4 acknowledges registered jobs unless told otherwise.
V4 = Settings(acknowledge_dynamic_jobs=True)
V14 = replace(V4, protocol="v1.4", workload_names=("w0",))


@pytest.mark.parametrize(("name", "options"), ON_PLATFORM)
@given_once(SPECS, count=30)  # the dialects know nothing of algorithms: all variants together make many
def test_a_run_is_the_same_in_both_dialects(
    name: str, options: Mapping[str, Any], specs: list[tuple[int, int, int, int]]
) -> None:
    """BA-2, simulated: the same commands at the same times, and the same records."""
    runs = []
    for settings in (V4, V14):
        wire = RecordedRun(name, options)
        result = wire.run([workload(specs)], settings, PLATFORM)
        assert wire.session.over
        runs.append((wire.said(), result.jobs))
    assert runs[0] == runs[1]


NEW: dict[str, Any] = {
    "begins": {
        "nb_resources": 2,
        "nb_compute_resources": 2,
        "nb_storage_resources": 0,
        "allow_compute_sharing": False,
        "allow_storage_sharing": True,
        "config": {
            "redis-enabled": False,
            "redis-hostname": "127.0.0.1",
            "redis-port": 6379,
            "redis-prefix": "default",
            "profiles-forwarded-on-submission": False,
            "dynamic-jobs-enabled": False,
            "dynamic-jobs-acknowledged": False,
            "profile-reuse-enabled": False,
            "sched-config": "",
            "forward-unknown-events": False,
        },
        "compute_resources": [
            {"id": n, "name": f"h{n}", "state": "idle", "properties": {"role": ""}, "zone_properties": {}}
            for n in range(2)
        ],
        "storage_resources": [],
        "workloads": {"w0": "/w.json"},
        "profiles": {"w0": {"p": {"type": "delay", "delay": 10}}},
    },
    "no more": [("NOTIFY", {"type": "no_more_static_job_to_submit"})],
    "nothing": [],
    "a succeeds": {"job_id": "w0!a", "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": "0-1"},
    "c is stopped": {"job_id": "w0!c", "job_state": "COMPLETED_WALLTIME_REACHED", "return_code": -1, "alloc": "0"},
    "b succeeds": {"job_id": "w0!b", "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": "0-1"},
}
OLD: dict[str, Any] = {
    "begins": {
        "nb_resources": 2,
        "allow_time_sharing": False,
        "config": {
            "redis": {"enabled": False, "hostname": "127.0.0.1", "port": 6379, "prefix": "default"},
            "job_submission": {"forward_profiles": False, "from_scheduler": {"enabled": False, "acknowledge": True}},
        },
        "resources_data": [{"id": n, "name": f"h{n}", "state": "idle", "properties": {}} for n in range(2)],
    },
    "no more": [],
    "nothing": [("NOP", {})],
    "a succeeds": {
        "job_id": "w0!a",
        "status": "SUCCESS",
        "job_state": "COMPLETED_SUCCESSFULLY",
        "return_code": 0,
        "kill_reason": "",
    },
    "c is stopped": {"job_id": "w0!c", "status": "TIMEOUT"},
    "b succeeds": {"job_id": "w0!b", "status": "SUCCESS"},
}


def script(words: Mapping[str, Any]) -> list[tuple[float, list[tuple[str, Any]]]]:
    """(now, events) of each request: three jobs on two hosts, one of which is stopped at its walltime."""

    def submission(name: str, size: int, walltime: float) -> tuple[str, Any]:
        described = {"id": f"w0!{name}", "subtime": 0, "res": size, "walltime": walltime, "profile": "p"}
        return "JOB_SUBMITTED", {"job_id": f"w0!{name}", "job": described}

    arrivals = [submission("a", 2, 20), submission("b", 2, 20), submission("c", 1, 5), *words["no more"]]
    requests = [
        (0.0, [("SIMULATION_BEGINS", words["begins"])]),
        (0.0, arrivals),
        (1.0, words["nothing"]),
        (10.0, [("JOB_COMPLETED", words["a succeeds"])]),
        (20.0, [("JOB_COMPLETED", words["b succeeds"])]),
    ]
    last = ("JOB_COMPLETED", words["c is stopped"])
    if words is OLD:
        return [*requests, (25.0, [last, ("SIMULATION_ENDS", {})])]
    return [*requests, (25.0, [last]), (25.0, [("SIMULATION_ENDS", {})])]


@pytest.mark.parametrize("name", ["fcfs", "easy", "filler"])
def test_a_transcript_of_each_dialect_has_the_same_decisions(name: str) -> None:
    """BA-2, by hand: resources_data, status, NOP and an end beside the last event against their later spellings."""
    said = []
    for words in (NEW, OLD):
        session = Session(load(name))
        replies = [json.loads(session.answer(message(now, *events))) for now, events in script(words)]
        assert session.over
        said.append([event for reply in replies for event in reply["events"]])
    assert said[0] == said[1]
    assert [event["data"]["job_id"] for event in said[0] if event["type"] == "EXECUTE_JOB"] == ["w0!a", "w0!b", "w0!c"]


class Eloquent(Scheduler[NoOptions]):
    """Says all that a Plan can say in both dialects, each at its time."""

    name = "eloquent"
    needs_dynamic_jobs = True
    needs_energy = True

    def setup(self, view: View) -> None:
        self.energies: list[float | None] = []
        self.spoken = False

    def observe(self, event: Any, view: View) -> None:
        energy = getattr(event, "consumed_energy", None)
        if energy is not None:
            self.energies.append(energy)

    def decide(self, view: View, plan: Plan) -> None:
        if not self.spoken:
            self.spoken = True
            plan.wake_at(3.0)
            plan.ask_energy()
            plan.set_pstate(HostSet.of(3), 2)
            plan.submit(
                Job.create("own!1", size=2, profile="h", walltime=50),
                {"type": "parallel_homogeneous", "cpu": 3e9, "com": 0},
            )
            plan.register_profile("own", "d", {"type": "delay", "delay": 1})
            plan.submit(Job.create("own!2", size=1, profile="d", walltime=50))
            plan.finish_registration()
            plan.continue_registration()
            plan.finish_registration()
        for waiting in list(view.queue):
            if waiting.size > 3:
                plan.reject(waiting, "too large")
            elif (hosts := plan.free.first(waiting.size)) is not None:
                plan.start(waiting, hosts)
        if view.now == 3.0:
            plan.kill([run.job for run in view.running if run.job.id == "w0!long"])


def eloquent(settings: Settings, store: MemoryStore | None = None) -> tuple[RecordedRun, Result, Eloquent]:
    """A run of it, on four hosts that can sleep."""
    made: list[Eloquent] = []

    class Kept(Eloquent):
        """So that the test sees it."""

        def setup(self, view: View) -> None:
            super().setup(view)
            made.append(self)

    jobs: Workload = small_workload(job("long", "d100", walltime=200), job("big", res=4), job("short", "d5"))
    wire = RecordedRun(Kept, store=store)
    on = platform(4, SLEEPER_SPEEDS, **SLEEPER)
    result = wire.run([jobs], replace(settings, dynamic_jobs=True, energy=True), on)
    return wire, result, made[0]


def test_a_plan_is_written_in_the_words_of_v14() -> None:
    """Each verb under its old name, profiles before their jobs and under the old names of their types."""
    wire, result, _ = eloquent(V14)
    assert {kind for _, kind, _ in wire.said()} == {
        *("CALL_ME_LATER", "QUERY_REQUEST", "SET_RESOURCE_STATE", "SUBMIT_PROFILE", "SUBMIT_JOB", "NOTIFY"),
        *("EXECUTE_JOB", "REJECT_JOB", "KILL_JOB"),
    }
    said = [(kind, data) for _, kind, data in wire.said("SUBMIT_PROFILE", "SUBMIT_JOB", "NOTIFY")]
    assert [data.get("profile_name") or data.get("job_id") or data["type"] for _, data in said] == [
        *("h", "own!1", "d", "own!2"),
        *("submission_finished", "continue_submission", "submission_finished"),
    ]
    profiles = [data["profile"] for kind, data in said if kind == "SUBMIT_PROFILE"]
    assert profiles == [
        {"type": "msg_par_hg", "cpu": 3e9, "com": 0},
        {"type": "delay", "delay": 1},
    ]
    assert [data["job_ids"] for _, _, data in wire.told("JOB_KILLED")] == [["w0!long"]]
    assert "w0!long" not in [data["job_id"] for _, _, data in wire.told("JOB_COMPLETED")]
    assert {record.job.id: record.state for record in result.jobs}["w0!long"] == "COMPLETED_KILLED"


def test_all_that_a_plan_can_say_does_the_same_in_both_dialects() -> None:
    """Kills, hosts that sleep, jobs of one's own, the energy that was asked for."""
    (_, new, new_scheduler), (_, old, old_scheduler) = eloquent(V4), eloquent(V14)
    assert [outcome(record) for record in new.jobs] == [outcome(record) for record in old.jobs]
    assert len(new.jobs) == 5
    assert new_scheduler.energies == old_scheduler.energies
    assert len(new_scheduler.energies) == 1
    assert new.host_seconds["sleeping"] == old.host_seconds["sleeping"]
    assert (new.joules, new.makespan) == (old.joules, old.makespan)


def test_with_redis_profiles_are_put_there_in_the_words_of_v14() -> None:
    """Instead of SUBMIT_PROFILE, as its document has it; the run is the same."""
    store = MemoryStore()
    (wire, stored, _), (_, plain, _) = eloquent(V14, store), eloquent(V14)
    assert wire.said("SUBMIT_PROFILE") == []
    profiles = store.profiles([("own", "h"), ("own", "d")])
    assert profiles["own", "h"] == {"type": "msg_par_hg", "cpu": 3e9, "com": 0}
    assert [outcome(record) for record in stored.jobs] == [outcome(record) for record in plain.jobs]


def outcome(record: Any) -> tuple[Any, ...]:
    """Return the members of a record that must be the same in all dialects."""
    return record.job.id, record.state, record.return_code, record.start, record.finish, record.hosts, record.energy


class Annotating(Scheduler[NoOptions]):
    """Attaches a text to each job."""

    name = "annotating"

    def decide(self, view: View, plan: Plan) -> None:
        for waiting in view.queue:
            plan.set_metadata(waiting, "seen")
            plan.start(waiting, HostSet.of(0))


def test_metadata_cannot_be_said_in_v14() -> None:
    """The error names the protocol; v4 writes it into the jobs file."""
    jobs = small_workload(job("a"))
    assert Simulation(platform(), [jobs], V4).run(Session(Annotating).answer).jobs[0].metadata == "seen"
    with pytest.raises(AlgorithmError, match=r"SetJobMetadata does not exist in protocol v1\.4"):
        Simulation(platform(), [jobs], V14).run(Session(Annotating).answer)


class Controlling(Scheduler[NoOptions]):
    """Runs the work of a control job as a composed job of its own."""

    name = "controlling"
    needs_dynamic_jobs = True

    def setup(self, view: View) -> None:
        self.spoken = False

    def decide(self, view: View, plan: Plan) -> None:
        if not self.spoken:
            self.spoken = True
            plan.register_profile("own", "d", {"type": "delay", "delay": 2})
            composed = {"type": "composed", "repeat": 3, "seq": ["d", "d"]}
            plan.submit(Job.create("own!1", size=2, profile="c", walltime=50), composed)
            plan.finish_registration()
        for waiting in list(view.queue):
            if waiting.id != "w0!control":
                plan.start(waiting, HostSet.of(0, 1))
            else:
                plan.change_state(waiting, "RUNNING")
        controlled = view.job("w0!control")
        if view.now == 12.0 and controlled is not None:
            plan.change_state(controlled, "COMPLETED_SUCCESSFULLY")


def test_control_jobs_and_composed_jobs_of_ones_own_work_in_v14() -> None:
    """Real Batsim 4 aborts on the one and crashes on the other."""
    wire = RecordedRun(Controlling)
    jobs = small_workload(job("control"))
    result = wire.run([jobs], replace(V14, dynamic_jobs=True))
    assert [(record.job.id, record.state, record.start, record.finish) for record in result.jobs] == [
        ("own!1", "COMPLETED_SUCCESSFULLY", 0.0, 12.0),
        ("w0!control", "COMPLETED_SUCCESSFULLY", 0.0, 12.0),
    ]
    submitted = [data["profile"] for data in wire.details("SUBMIT_PROFILE")]
    assert submitted[1] == {"type": "composed", "nb": 3, "seq": ["d", "d"]}


def test_a_serving_process_speaks_as_it_is_spoken_to(tmp_path: Path) -> None:
    """Over ZeroMQ, in the old dialect: the schedule of the simulation that decides itself."""
    made = run(tmp_path, "generate", "--jobs", "40", "--hosts", "8", "-o", "w.json", "--platform", "p.xml")
    assert made.returncode == 0, made.stderr
    old = ["simulate", "-p", "p.xml", "-w", "w.json", "--quiet", "--protocol", "v1.4"]
    here = run(tmp_path, *old, "-s", "easy", "-e", "here")
    assert here.returncode == 0, here.stderr
    with serving(tmp_path, "-s", "easy") as served:
        there = run(tmp_path, *old, "--socket", served.address, "-e", "there")
        assert there.returncode == 0, there.stderr
        assert served.end()[0] == 0
    files = [(tmp_path / f"{name}_jobs.csv").read_bytes() for name in ("here", "there")]
    assert files[0] == files[1]
    assert files[0].count(b"\n") == 41

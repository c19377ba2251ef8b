"""The algorithm `timelines`: what happens when in VMs, through real messages of both dialects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.cli.main import run as command
from batsched_py.errors import OptionError
from batsched_py.model.job import Job
from batsched_py.model.new_profile import delay
from batsched_py.model.profile import parse_profile
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.schedulers.timelines import TimelinesScheduler
from batsched_py.timelines.api import VmState
from tests.clone import ROOT
from tests.integration.timeline_runs import PROMPT, SETTINGS, TimelineSimulation, happens, resume_events
from tests.recorded_run import recording
from tests.unit.timelines.fa_cases import CASES, one, pause, run, times

#: Conversations that were recorded.
RECORDINGS = sorted((ROOT / "tests" / "data" / "timelines").glob("*.jsonl"))
#: Seconds by which messages that take time may delay an entry, all in all.
LATENESS = 0.01


@pytest.mark.parametrize("peer", PROMPT)
@pytest.mark.parametrize("name", CASES)
def test_entries_begin_when_they_must(name: str, peer: str, tmp_path: Path) -> None:
    """As without Batsim: the same experiment times, start and instants of configuration; nobody is late."""
    case = CASES[name]
    events = resume_events(case)
    if events and peer == "v1.4":
        return  # protocol 1.4 has no external events; the same case stands among those of the other peers
    simulated = TimelineSimulation(tmp_path, case.document, SETTINGS[peer], events=events)
    ended = simulated.timelines
    assert times(ended) == case.times
    assert case.start is None or ended.start == case.start
    assert {name: ended.vms[name].configured for name in case.configured} == case.configured
    assert all(record.late == 0 for vm in ended.vms.values() for record in vm.records.values())
    assert not simulated.algorithm(TimelinesScheduler).scheduler.leases, "a lease is left"


@pytest.mark.parametrize("peer", ["latency", "v5 latency"])
@pytest.mark.parametrize("name", CASES)
def test_messages_that_take_time_make_entries_late_at_most(name: str, peer: str, tmp_path: Path) -> None:
    """By what the messages take, which is told in the table."""
    case = CASES[name]
    simulated = TimelineSimulation(tmp_path, case.document, SETTINGS[peer], events=resume_events(case))
    for vm, expected in case.times.items():
        found = times(simulated.timelines)[vm]
        assert {entry: time is None for entry, time in found.items()} == {
            entry: time is None for entry, time in expected.items()
        }
        for entry, time in expected.items():
            assert time is None or found[entry] == pytest.approx(time, rel=0, abs=LATENESS)
            assert 0 <= simulated.timelines.vms[vm].records[entry].late < LATENESS


TWO: dict[str, Any] = {
    "buffer": 10,
    "vms": {
        "web": [run("install", -5, takes=20), run("serve", 10, takes=30), run("test", 15, takes=30)],
        "db": [run("load", 5, takes=100)],
    },
}


def test_an_entry_is_a_job_on_the_host_of_its_vm(tmp_path: Path) -> None:
    """Its name and metadata have the VM, the entry, the scheduled and the experiment time (F33)."""
    document = {**TWO, "vms": {**TWO["vms"], "*": [pause(60, 8)]}}
    ran = sorted(TimelineSimulation(tmp_path, document).jobs, key=lambda one: one.job.id)
    jobs = {job.job.id: job for job in ran}
    assert list(jobs) == [
        "timelines!0:web:install@-5=-5",
        "timelines!1:db:load@5=5",
        "timelines!2:web:serve@10=70",
        "timelines!3:web:test@15=75",
    ]
    assert [str(job.hosts) for job in jobs.values()] == ["0", "1", "0", "0"]
    assert [(job.start, job.finish) for job in jobs.values()] == [(0, 20), (35, 135), (100, 130), (105, 135)]
    assert jobs["timelines!2:web:serve@10=70"].metadata == (
        "serve in web: scheduled 10, experiment time 70, moved by pause@8"
    )


def test_entries_are_serialised_and_flagged(tmp_path: Path) -> None:
    """F31: where hosts are not shared, one after the other; the second is 25 s late."""
    simulated = TimelineSimulation(tmp_path, TWO, SETTINGS["booked"], entries="serialise")
    spans = [(job.start, job.finish) for job in simulated.jobs if ":web:" in job.job.id]
    assert spans == [(0, 20), (40, 70), (70, 100)]
    record = simulated.timelines.vms["web"].records["test"]
    assert (record.late, record.time, record.spans[0].begin) == (25, 40, 70)
    (row,) = (row for row in simulated.tables["timeline"] if row["entry"] == "test")
    assert (row["scheduled"], row["time"], row["late"]) == (15, 40, 25)


def test_without_sharing_nothing_is_a_job(tmp_path: Path) -> None:
    """F31: entries are booked only, and take as long."""
    simulated = TimelineSimulation(tmp_path, TWO, SETTINGS["booked"])
    assert not simulated.jobs
    assert [span.end for span in simulated.timelines.vms["web"].records["test"].spans] == [75]


def test_a_break_that_nobody_can_resume_ends_the_run(tmp_path: Path) -> None:
    """With the reason; the held VM has failed."""
    simulated = TimelineSimulation(tmp_path, CASES["FA-2"].document)
    assert simulated.warnings == ["t=75: vm is held by break@15 since 15: no resume comes"]
    held = simulated.timelines.vms["vm"]
    assert (held.state, held.failure) == (VmState.FAILED, "held by break@15: no resume can come")
    assert held.records["P3"].reason == "vm failed: held by break@15: no resume can come"


def test_it_waits_as_long_as_events_may_come(tmp_path: Path) -> None:
    """It gives up after the last one."""
    events = [happens(70, "resume"), happens(5000, "something")]
    simulated = TimelineSimulation(tmp_path, CASES["FA-2"].document, events=events)
    assert simulated.warnings == [
        "t=70: resume: no break holds a VM; no VM is resumed",
        "t=5000: vm is held by break@15 since 15: no resume comes",
    ]


@pytest.mark.parametrize(
    ("vms", "told"),
    [
        (["vm", "wm"], "t=100: resume: VM 'wm': unknown; there are: vm; no VM is resumed"),
        (7, 't=100: resume: vms must be a list of names or "all"; no VM is resumed'),
        ([["vm"]], 't=100: resume: vms must be a list of names or "all"; no VM is resumed'),
    ],
)
def test_a_wrong_resume_is_told(vms: Any, told: str, tmp_path: Path) -> None:
    """FA-46: and nobody is resumed, nor does the run end."""
    events = [happens(100, "resume", vms=vms), happens(200, "resume", vms="all")]
    simulated = TimelineSimulation(tmp_path, CASES["FA-1"].document, events=events)
    assert simulated.warnings == [told]
    assert times(simulated.timelines)["vm"] == {"P1": 10, "P2": 155, "P3": 175}


def test_a_vm_fails_with_its_host(tmp_path: Path) -> None:
    """F24: what runs is killed, the barrier goes on without it if so asked."""
    failure = happens(30, "event_machine_unavailable", [0])
    simulated = TimelineSimulation(tmp_path, {**TWO, "on_failed": "exclude"}, events=[failure])
    web = simulated.timelines.vms["web"]
    assert (web.state, web.failure) == (VmState.FAILED, "host 0 failed")
    assert {name: record.outcome for name, record in web.records.items()} == {
        "install": "done",
        "serve": "not run",
        "test": "not run",
    }
    assert times(simulated.timelines)["db"] == {"load": 5}


@pytest.mark.parametrize("sharing", [True, False])
def test_an_entry_that_ends_as_its_host_fails_is_done(sharing: bool, tmp_path: Path) -> None:
    """Its end and the loss of its VM come in the same message, whether it is a job or is booked."""
    document = {"vms": {"a": [{"at": -10, "run": "install", "takes": 5}], "b": [{"at": 1, "run": "r"}]}}
    settings = Settings(dynamic_jobs=sharing, compute_sharing=sharing)
    failure = [happens(5, "event_machine_unavailable", [0])]
    found = TimelineSimulation(tmp_path, document, settings, events=failure).timelines
    assert found.vms["a"].records["install"].outcome == "done"
    assert (found.vms["a"].state.value, found.vms["a"].failure) == ("failed", "host 0 failed")


def test_an_experiment_is_aborted_by_a_host(tmp_path: Path) -> None:
    """Its programs on other hosts are killed, too."""
    failure = happens(40, "event_machine_unavailable", [0])
    simulated = TimelineSimulation(tmp_path, {**TWO, "on_failed": "abort"}, events=[failure])
    assert simulated.timelines.failed == "web failed: host 0 failed"
    ends = {job.job.id: (job.state, job.finish) for job in simulated.jobs}
    assert ends["timelines!1:db:load@5=5"] == ("COMPLETED_KILLED", 40)
    assert simulated.timelines.vms["db"].records["load"].outcome == "killed"


def test_a_vm_without_a_host_fails(tmp_path: Path) -> None:
    """Its lease is refused, with the reason."""
    simulated = TimelineSimulation(tmp_path, {**TWO, "on_failed": "exclude"}, hosts=1)
    assert simulated.timelines.vms["db"].failure == "no lease: not enough resources in the interval"
    assert times(simulated.timelines)["web"] == {"install": -5, "serve": 10, "test": 15}


def test_vms_wait_for_hosts_if_they_may(tmp_path: Path) -> None:
    """The second is launched when the job before it has ended; the barrier counts it from the beginning (F24)."""
    first = Job.create("1", size=1, walltime=100, profile="d")
    jobs = Workload("w", 2, (first,), {"d": parse_profile("d", delay(100))})
    document = {**TWO, "vms": {**TWO["vms"], "db": {"launch": 5, "entries": TWO["vms"]["db"]}}}
    simulated = TimelineSimulation(tmp_path, document, workload=jobs, vm_leases="queued")
    launched = {name: vm.launched for name, vm in simulated.timelines.vms.items()}
    assert launched == {"web": 0, "db": 100}
    assert simulated.timelines.start == 110


def test_a_suspended_vm_makes_its_entries_late(tmp_path: Path) -> None:
    """F24: what runs goes on afterwards, what is due waits; both are flagged, and no work is done twice."""
    urgent = Job.create("1", size=1, submit_time=20, walltime=50, profile="d", extra={"lease": {"start": 35}})
    jobs = Workload("w", 1, (urgent,), {"d": parse_profile("d", delay(50))})
    document = {"buffer": 0, "vms": {"vm": [run("a", 10, takes=60), run("b", 40, takes=5)]}}
    simulated = TimelineSimulation(
        tmp_path,
        document,
        workload=jobs,
        vm_leases="preemptible",
        policy_preemption="ar-preempts-everything",
        override_suspend_time=5,
        override_resume_time=5,
    )
    records = simulated.timelines.vms["vm"].records
    # It is suspended from 30 to 90: a has run for 20 s then, b is due at 40.
    assert (records["a"].spans[0].begin, records["a"].spans[0].end, records["a"].late) == (10, 130, 0)
    assert (records["b"].spans[0].begin, records["b"].late, records["b"].time) == (90, 50, 90)
    segments = [(job.start, job.finish, job.state) for job in simulated.jobs if ":vm:a@" in job.job.id]
    assert segments == [(10, 30, "COMPLETED_KILLED"), (90, 130, "COMPLETED_SUCCESSFULLY")]


def test_a_vm_does_not_give_way_unless_so_asked(tmp_path: Path) -> None:
    """F24: a reservation that would suspend it is rejected, and no entry is late."""
    urgent = Job.create("1", size=1, submit_time=20, walltime=50, profile="d", extra={"lease": {"start": 35}})
    jobs = Workload("w", 1, (urgent,), {"d": parse_profile("d", delay(50))})
    document = {"buffer": 0, "vms": {"vm": [run("a", 10, takes=60), run("b", 40, takes=5)]}}
    simulated = TimelineSimulation(tmp_path, document, workload=jobs, policy_preemption="ar-preempts-everything")
    records = simulated.timelines.vms["vm"].records
    assert [(record.spans[0].begin, record.spans[0].end, record.late) for record in records.values()] == [
        (10, 70, 0),
        (40, 45, 0),
    ]
    assert {job.job.id: job.state for job in simulated.jobs}["w0!1"] == "REJECTED"


@pytest.mark.parametrize(("peer", "ended"), [("v4", ("COMPLETED_FAILED", 3)), ("v5", ("COMPLETED_SUCCESSFULLY", 0))])
def test_exit_codes_come_from_batsim(peer: str, ended: tuple[str, int], tmp_path: Path) -> None:
    """The job of an entry fails with its exit code, and the VM with it if so asked.

    Batsim 5 takes no exit codes with dynamic jobs: there the VM fails though the job succeeds.
    """
    document = {"on_exit": "fail", **one(run("a", -10, takes=20, exit=3), run("p", 5))}
    simulated = TimelineSimulation(tmp_path, document, SETTINGS[peer])
    assert [(job.state, job.return_code) for job in simulated.jobs] == [ended]
    assert simulated.timelines.vms["vm"].failure == "a exited with 3"
    assert simulated.warnings == ["t=20: no start: the barrier is kept closed by vm (a exited with 3)"]


def test_entries_end_with_the_lease(tmp_path: Path) -> None:
    """FA-41: what runs is killed at its end, what comes later is not run."""
    document = {"buffer": 0, "vms": {"vm": {"lease": 30, "entries": [run("A", 10, takes=50), run("B", 100)]}}}
    simulated = TimelineSimulation(tmp_path, document)
    assert [(job.state, job.finish) for job in simulated.jobs] == [("COMPLETED_KILLED", 30)]
    assert {record.reason for record in simulated.timelines.vms["vm"].records.values()} == {"lease ended"}


#: Document, events and settings of recorded conversations.
RECORDED: Mapping[str, tuple[Mapping[str, Any], list[Any]]] = {
    "FA-1": (CASES["FA-1"].document, resume_events(CASES["FA-1"])),
    "FA-15": (CASES["FA-15"].document, []),
    "FA-38": (CASES["FA-38"].document, []),
}


def test_cases_are_recorded_in_both_dialects() -> None:
    """FA-1 has an external event, which there is in one of them only."""
    assert [path.stem for path in RECORDINGS] == ["FA-1-v4", "FA-15-v1.4", "FA-15-v4", "FA-38-v1.4", "FA-38-v4"]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recorded_conversation_has_the_same_bytes(path: Path, tmp_path: Path) -> None:
    """These are the messages of the simulator in Batsim's place, and the replies."""
    name, _, dialect = path.stem.rpartition("-")
    document, events = RECORDED[name]
    simulated = TimelineSimulation(tmp_path, document, SETTINGS[dialect], events=events)
    assert simulated.exchanges == recording(path)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recorded_conversation_is_replayed_alone(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The user names the file of timelines: what a recording names is not opened."""
    timelines = path.with_name(path.stem.rpartition("-")[0] + ".json")
    assert command(["replay", str(path), "-o", f"file={timelines}"]) == 0
    assert "exchanges" in capsys.readouterr().out


def test_a_recording_names_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    """Only the user does."""
    assert command(["replay", str(RECORDINGS[0])]) != 0
    assert "option file of timelines: is set by the user alone" in capsys.readouterr().err


def test_a_lease_of_a_vm_has_no_end(tmp_path: Path) -> None:
    """It ends with the run of all; one with an end keeps its host until then."""
    document = {"vms": {"short": [run("a", 1)], "long": {"lease": 500, "entries": [run("b", 1)]}}}
    simulated = TimelineSimulation(tmp_path, document)
    ends = {row["job"]: row["end_time"] for row in simulated.tables["leases"]}
    assert (ends["short"], ends["long"]) == (61, 500)
    assert simulated.timelines.vms["short"].end == math.inf


def test_a_document_is_checked_before_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line with file, field and rule."""
    (tmp_path / "t.json").write_text('{"vms": {"vm": [{"at": 0, "run": "a"}]}}')
    platform, workload = str(ROOT / "platforms" / "tiny4.xml"), str(ROOT / "workloads" / "first.json")
    given = ["simulate", "-p", platform, "-w", workload, "-s", "timelines", "-o", f"file={tmp_path / 't.json'}"]
    assert command([*given, "--quiet"]) != 0
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.endswith("t.json: vms.vm[0].at: must not be 0: that is the global barrier\n")


def test_serialising_needs_dynamic_jobs(tmp_path: Path) -> None:
    """There would be no job that takes its turn."""
    with pytest.raises(OptionError, match="option entries of timelines: serialise needs --enable-dynamic-jobs"):
        TimelineSimulation(tmp_path, TWO, replace(SETTINGS["booked"], dynamic_jobs=False), entries="serialise")


def test_files_and_kinds_are_told_in_jobs(tmp_path: Path) -> None:
    """F27, F30: 30 s for 300 MB, then what the kind says; its second run is another job."""
    flaky = run("n", -5, kind="flaky", size=300, **{"with": {"takes": 7}})
    simulated = TimelineSimulation(tmp_path, one(flaky, preload_rate=10, reboot_delay=3))
    assert [(job.start, job.finish, job.return_code) for job in simulated.jobs] == [(30, 37, 10), (40, 47, 0)]
    assert simulated.timelines.vms["vm"].configured == 47
    kinds = [row["kind"] for row in simulated.tables["timeline"]]
    assert kinds == ["load", "run", "reboot", "run"]


def test_a_wrong_kind_is_told_before_the_run(tmp_path: Path) -> None:
    """With VM and entry; a file that is named there is not opened."""
    told = r"option file of timelines: vm: n: kind 'evil.py:Kind': unknown; there are: fixed, amount, flaky"
    with pytest.raises(OptionError, match=told):
        TimelineSimulation(tmp_path, one(run("n", 5, kind="evil.py:Kind")))

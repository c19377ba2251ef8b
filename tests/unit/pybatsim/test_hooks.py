"""Each hook of a pybatsim scheduler is called, and each call of `self.bs` becomes its command."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from batsched_py.errors import AlgorithmError
from batsched_py.plugins import load
from batsched_py.session.session import Session
from tests.builders import begins_data, completed_data, message, said, submitted_data

#: A scheduler that notes each call, its arguments in `self.seen`; tests define what else a hook does.
HEADER = """\
import json
from batsim.batsim import Batsim, BatsimScheduler, Job
from procset import ProcSet

class Mine(BatsimScheduler):
    seen = []

    def note(self, *what):
        type(self).seen.append(what)

"""
DYNAMIC = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": True, "profiles-forwarded-on-submission": True}


POWER = {"wattage_per_state": "30:30:100,30:30:90,30:30:80,9:9:9"}


class Hooked:
    """A session with a scheduler of pybatsim whose class has these methods."""

    def __init__(self, folder: Path, body: str, *, config: dict[str, Any] | None = None, **begins: Any) -> None:
        file = folder / "mine.py"
        file.write_text(HEADER + indent(dedent(body), "    "))
        self.warnings: list[str] = []
        self.session = Session(load(f"pybatsim:{file}"), warn=self.warnings.append)
        self.first = self.answer(0, ("SIMULATION_BEGINS", begins_data(config=config or {}, **begins)))

    def answer(self, now: float, *events: tuple[str, dict[str, Any]]) -> list[tuple[str, Any]]:
        """The commands of the reply to a message."""
        self.reply = self.session.answer(message(now, *events))
        return said(self.reply)

    @property
    def seen(self) -> list[tuple[Any, ...]]:
        """The calls that the scheduler has noted."""
        return list(self.session.scheduler._hooks.seen)  # type: ignore[attr-defined]


def test_a_job_is_submitted_started_and_completed(tmp_path: Path) -> None:
    """The job has pybatsim's attributes, the counters count, the hooks come in order."""
    hooked = Hooked(
        tmp_path,
        """
        def onAfterBatsimInit(self): self.note("init")
        def onSimulationBegins(self): self.note("begins", self.bs.time())
        def onBeforeEvents(self): self.note("before")
        def onNoMoreEvents(self): self.note("after")
        def onSimulationEnds(self): self.note("ends", self.bs.running_simulation, self.bs.nb_jobs_completed)
        def onNoMoreJobsInWorkloads(self): self.note("no more", self.bs.no_more_static_jobs)
        def onJobSubmission(self, job):
            assert self.bs.jobs == {job.id: job}
            self.note(job.id, job.workload, job.requested_resources, job.requested_time, job.submit_time, job.profile,
                      job.profile_dict["type"], job.json_dict["res"], job.job_state, job.finish_time, job.allocation,
                      job.metadata, job.return_code, job.progress)
            job.allocation = ProcSet((1, 2))
            self.bs.execute_jobs([job])
            self.note(self.bs.nb_jobs_scheduled, self.bs.jobs[job.id].state.name)
        def onJobCompletion(self, job):
            self.note(job.finish_time, job.job_state.name, job.return_code, str(job.allocation),
                      self.bs.nb_jobs_successful)
        """,
    )
    assert hooked.answer(1, ("JOB_SUBMITTED", submitted_data("a", 2))) == [
        ("EXECUTE_JOB", {"job_id": "w0!a", "alloc": "1-2"})
    ]
    hooked.answer(
        5, ("JOB_COMPLETED", completed_data("a", "1-2")), ("NOTIFY", {"type": "no_more_static_job_to_submit"})
    )
    hooked.answer(6, ("SIMULATION_ENDS", {}))
    state = hooked.seen[5][8]
    assert state.name == "SUBMITTED"
    assert hooked.seen == [
        ("before",),
        ("begins", 0.0),
        ("after",),
        ("init",),
        ("before",),
        ("w0!a", "w0", 2, 10, 0, "p", "delay", 2, state, None, None, None, None, None),
        (1, "RUNNING"),
        ("after",),
        ("before",),
        (5.0, "COMPLETED_SUCCESSFULLY", 0, "1-2", 1),
        ("no more", True),
        ("after",),
        ("before",),
        ("ends", False, 1),
        ("after",),
    ]


def test_what_the_first_event_says(tmp_path: Path) -> None:
    """Numbers and descriptions of hosts, the configuration, workloads, profiles."""
    hooked = Hooked(
        tmp_path,
        """
        def onSimulationBegins(self):
            bs = self.bs
            self.note(bs.nb_resources, bs.nb_compute_resources, bs.nb_storage_resources)
            self.note([host["name"] for host in bs.machines["compute"]], bs.machines["storage"])
            self.note(bs.compute_resources[1]["state"], sorted(bs.compute_resources), bs.storage_resources)
            self.note(bs.batconf["sched-config"], bs.batconf["mine"], bs.workloads, bs.profiles["w0"]["p"])
            self.note(bs.allow_compute_sharing, bs.allow_storage_sharing, bs.profiles_forwarded_on_submission)
            self.note(bs.dynamic_job_registration_enabled, bs.ack_of_dynamic_jobs, bs.forward_unknown_events)
            self.note(bs.jobs, bs.no_more_static_jobs, bs.no_more_external_events, bs.nb_jobs_submitted)
            assert bs.scheduler is self and Batsim.WORKLOAD_JOB_SEPARATOR + Batsim.ATTEMPT_JOB_SEPARATOR == "!#"
        """,
        config={**DYNAMIC, "sched-config": "hello", "mine": [1], "forward-unknown-events": True},
        hosts=2,
    )
    assert hooked.seen == [
        (2, 2, 0),
        (["n0", "n1"], []),
        ("idle", [0, 1], {}),
        ("hello", [1], {"w0": "w.json"}, {"type": "delay", "delay": 5}),
        (False, True, True),
        (True, True, True),
        ({}, False, False, 0),
    ]


def test_every_other_event_has_its_hook(tmp_path: Path) -> None:
    """Machines, energy, calls, messages of jobs, generic events, and intervals one by one."""
    hooked = Hooked(
        tmp_path,
        """
        def onJobSubmission(self, job):
            job.allocation = ProcSet(0)
            self.bs.execute_jobs([job])
            self.bs.request_consumed_energy()
            self.bs.wake_me_up_at(9)
            self.bs.set_resource_state(ProcSet((1, 2)), 3)
            self.bs.set_resource_state("3", "3")
        def onRequestedCall(self): self.note("call")
        def onReportEnergyConsumed(self, joules): self.note("joules", joules)
        def onMachinePStateChanged(self, nodes, pstate): self.note(nodes, pstate)
        def onNotifyEventMachineUnavailable(self, machines): self.note("lost", str(machines))
        def onNotifyEventMachineAvailable(self, machines): self.note("back", str(machines))
        def onNoMoreExternalEvents(self): self.note("no more events", self.bs.no_more_external_events)
        def onNotifyGenericEvent(self, data): self.note(data["type"], data["hosts"])
        def onJobMessage(self, timestamp, job, message): self.note(timestamp, job.id, message)
        """,
        config={"forward-unknown-events": True},
        compute_resources=[
            {"id": number, "name": f"n{number}", "state": "idle", "properties": POWER} for number in range(4)
        ],
    )
    assert hooked.answer(1, ("JOB_SUBMITTED", submitted_data("a"))) == [
        ("EXECUTE_JOB", {"job_id": "w0!a", "alloc": "0"}),
        ("QUERY", {"requests": {"consumed_energy": {}}}),
        ("CALL_ME_LATER", {"timestamp": 9}),
        ("SET_RESOURCE_STATE", {"resources": "1-2", "state": "3"}),
        ("SET_RESOURCE_STATE", {"resources": "3", "state": "3"}),
    ]
    hooked.answer(2, ("RESOURCE_STATE_CHANGED", {"resources": "1 2-3", "state": "3"}))
    hooked.answer(3, ("ANSWER", {"consumed_energy": 12.5}), ("FROM_JOB_MSG", {"job_id": "w0!a", "msg": {"x": 1}}))
    hooked.answer(4, ("NOTIFY", {"type": "event_machine_unavailable", "resources": "2-3"}))
    hooked.answer(5, ("NOTIFY", {"type": "event_machine_available", "resources": "2"}))
    hooked.answer(6, ("NOTIFY", {"type": "no_more_external_event_to_occur"}), ("NOTIFY", {"type": "x", "hosts": "1"}))
    hooked.answer(9, ("REQUESTED_CALL", {}))
    assert hooked.seen == [
        *[((1, 3), "3")],
        ("joules", 12.5),
        (3.0, "w0!a", {"x": 1}),
        ("lost", "2-3"),
        ("back", "2"),
        ("no more events", True),
        ("x", "1"),
        ("call",),
    ]


def test_a_job_that_is_submitted_again_has_no_id_of_another(tmp_path: Path) -> None:
    """Neither of one that was submitted, nor of one that will be, as our simulator says."""
    hooked = Hooked(
        tmp_path,
        """
        def onJobSubmission(self, job):
            if job.id == "w0!c":
                self.note(self.bs.resubmit_job(job).id)
        """,
        config=DYNAMIC,
        ids_of_later_jobs=["w0!c#2"],
    )
    hooked.answer(2, *(("JOB_SUBMITTED", submitted_data(name)) for name in ("c#1", "c")))
    assert hooked.seen == [("w0!c#3",)]


def test_every_other_command(tmp_path: Path) -> None:
    """Rejections, kills, messages, states, metadata, profiles, jobs, resubmission, registration, time."""
    hooked = Hooked(
        tmp_path,
        """
        def onJobSubmission(self, job):
            if job.id == "w0!a":
                self.bs.reject_jobs([job])
            elif job.id == "w0!b":
                self.bs.reject_jobs_by_id([job.id])
            elif job.id == "w0!c":
                self.bs.start_jobs([job], {job.id: [0, (2, 3)]})
                self.bs.send_message_to_job(job, "hello")
                self.bs.set_job_metadata(job.id, {"n": 1})
                self.bs.consume_time(0.5)
                self.bs.kill_jobs([job])
                assert job.job_state == Job.State.IN_KILLING
                assert self.bs.time() == 2.5
            elif job.id == "w0!c#1":
                assert job.metadata == {"n": 1, "nb_resubmit": 1, "parent_job": "w0!c"}
                assert self.bs.nb_jobs_submitted_from_scheduler == 1 and self.bs.nb_jobs_in_submission == 1
            else:
                assert job.profile_dict == {"type": "delay", "delay": 1}
                self.bs.change_job_state(job, Job.State.RUNNING)
                assert self.bs.jobs_manually_changed == {job}
                self.bs.notify_registration_finished()
        def onJobCompletion(self, job): self.note(job.job_state.name, self.bs.nb_jobs_killed)
        def onJobsKilled(self, jobs):
            self.note([job.id for job in jobs], jobs[0].progress)
            self.bs.resubmit_job(jobs[0])
            self.bs.register_profiles("new", {"short": {"type": "delay", "delay": 1}})
            mine = self.bs.register_job("new!1", 1, 20, "short")
            assert mine.job_state == Job.State.IN_SUBMISSON and self.bs.nb_jobs_in_submission == 2
            self.bs.notify_registration_finished()
            self.bs.notify_registration_continue()
        """,
        config=DYNAMIC,
    )
    names = [("JOB_SUBMITTED", submitted_data(name)) for name in "ab"]
    rejected = hooked.answer(1, *names)
    assert [(kind, data["job_id"]) for kind, data in rejected] == [("REJECT_JOB", "w0!a"), ("REJECT_JOB", "w0!b")]
    assert hooked.answer(2, ("JOB_SUBMITTED", submitted_data("c", 3))) == [
        ("EXECUTE_JOB", {"job_id": "w0!c", "alloc": "0 2-3"}),
        ("TO_JOB_MSG", {"job_id": "w0!c", "msg": "hello"}),
        ("SET_JOB_METADATA", {"job_id": "w0!c", "metadata": "{'n': 1}"}),
        ("KILL_JOB", {"job_ids": ["w0!c"]}),
    ]
    assert [event["timestamp"] for event in json.loads(hooked.reply)["events"]] == [2, 2, 2, 2.5]
    progress = {"profile_name": "p", "progress": 0.1}
    ended = hooked.answer(
        3,
        ("JOB_COMPLETED", completed_data("c", "0 2-3", "COMPLETED_KILLED")),
        ("JOB_KILLED", {"job_ids": ["w0!c"], "job_progress": {"w0!c": progress}}),
    )
    again = {"profile": "p", "id": "w0!c#1", "res": 3, "walltime": 10, "subtime": 3.0}
    short = {"profile": "short", "id": "new!1", "res": 1, "walltime": 20, "subtime": 3.0}
    note = "{'n': 1, 'parent_job': 'w0!c', 'nb_resubmit': 1}"
    assert ended == [
        ("REGISTER_JOB", {"job_id": "w0!c#1", "job": again}),
        ("SET_JOB_METADATA", {"job_id": "w0!c#1", "metadata": note}),
        (
            "REGISTER_PROFILE",
            {"workload_name": "new", "profile_name": "short", "profile": {"type": "delay", "delay": 1}},
        ),
        ("REGISTER_JOB", {"job_id": "new!1", "job": short}),
        ("NOTIFY", {"type": "registration_finished"}),
        ("NOTIFY", {"type": "continue_registration"}),
    ]
    assert hooked.seen == [("COMPLETED_KILLED", 1), (["w0!c"], progress)]
    hooked.answer(4, ("JOB_SUBMITTED", {"job_id": "w0!c#1", "job": again}))
    assert hooked.answer(5, ("JOB_SUBMITTED", {"job_id": "new!1", "job": short})) == [
        ("CHANGE_JOB_STATE", {"job_id": "new!1", "job_state": "RUNNING"}),
        ("NOTIFY", {"type": "registration_finished"}),
    ]


def test_input_and_output_of_jobs(tmp_path: Path) -> None:
    """A mapping of executors, one of storages, and additional input and output, each as it was given."""
    hooked = Hooked(
        tmp_path,
        """
        def onJobSubmission(self, job):
            job.allocation = ProcSet((0, 1))
            if job.id == "w0!a":
                job.mapping = {"0": 0, "1": 0}
                self.bs.execute_job(job)
            elif job.id == "w0!b":
                job.storage_mapping = {"disk": 4}
                self.bs.execute_job(job)
            else:
                profile = {"type": "parallel_homogeneous", "cpu": 0, "com": 1e6}
                self.bs.execute_jobs([job], {job.id: {"alloc": "0-1", "profile_name": "io", "profile": profile}})
        """,
        storage_resources=[{"id": 4, "name": "disk", "state": "idle", "properties": {"role": "storage"}}],
        nb_storage_resources=1,
        nb_resources=5,
        allow_compute_sharing=True,
    )
    names = [("JOB_SUBMITTED", submitted_data(name, 2)) for name in "abc"]
    first, second, third = (data for kind, data in hooked.answer(1, *names) if kind == "EXECUTE_JOB")
    assert first == {"job_id": "w0!a", "alloc": "0-1", "mapping": {"0": "0", "1": "0"}}
    assert second == {"job_id": "w0!b", "alloc": "0-1", "storage_mapping": {"disk": 4}}
    profile = {"type": "parallel_homogeneous", "cpu": 0, "com": 1e6}
    assert third["additional_io_job"] == {"alloc": "0-1", "profile_name": "io", "profile": profile}


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("self.bs.network.send({})", r"self\.bs\.network: batsched-py owns the connection \(mine\.py:12\)"),
        ("self.bs.do_next_event()", r"self\.bs\.do_next_event: batsched-py owns the loop of messages \(mine\.py:12\)"),
        ("self.bs.teleport(job)", r"self\.bs\.teleport: it is unknown here.* \(mine\.py:12\)"),
        ("job.colour", r"no attribute 'colour' \(mine\.py:12\)"),
        ("self.bs.execute_jobs([job])", r"execute_job: w0!a has no allocation \(mine\.py:12\)"),
        ("self.bs.execute_jobs([job.id])", r"execute_job: 'w0!a' is not a job \(mine\.py:12\)"),
        ("self.bs.start_jobs([job], {})", r"start_jobs: no hosts are given for w0!a \(mine\.py:12\)"),
        ("self.bs.start_jobs([job], {job.id: [9]})", r"9 not in the platform \(mine\.py:12\)"),
        ("self.bs.reject_jobs([])", r"reject_jobs: the list is empty \(mine\.py:12\)"),
        ("self.bs.reject_jobs_by_id(['w0!z'])", r"reject_jobs: no job 'w0!z' was submitted \(mine\.py:12\)"),
        ("self.bs.kill_jobs([])", r"kill_jobs: the list is empty \(mine\.py:12\)"),
        ("self.bs.kill_jobs([job])", r"kill w0!a: it does not run \(mine\.py:12\)"),
        ("self.bs.wake_me_up_at(0)", r"later than now.* \(mine\.py:12\)"),
        ("self.bs.consume_time(-1)", r"take time -1.*at least 0 \(mine\.py:12\)"),
        ("self.bs.set_resource_state('x', 0)", r"set_resource_state: hosts must be .* \(mine\.py:12\)"),
        ("self.bs.set_resource_state('0', 'off')", r"set_resource_state: .*not 'off' \(mine\.py:12\)"),
        ("self.bs.change_job_state(job, 4)", r"change_job_state: .*Job\.State.*not 4 \(mine\.py:12\)"),
        (
            "self.bs.register_job('w0!2', 1, 1, 'none')",
            r"register_job: 'w0!2' needs the profile 'none'.* \(mine\.py:12\)",
        ),
        ("self.bs.register_job('w0!2', 1, 1, 'p')", r"--enable-dynamic-jobs.* \(mine\.py:12\)"),
        ("1 / 0", r"ZeroDivisionError: division by zero \(mine\.py:12\)"),
    ],
)
def test_faults_have_their_line(tmp_path: Path, body: str, rule: str) -> None:
    """The hook, the job, the rule and the line of the user: never only a line of ours."""
    hooked = Hooked(tmp_path, f"def onJobSubmission(self, job):\n    {body}")
    with pytest.raises(AlgorithmError, match=rf"in onJobSubmission\(w0!a\): .*{rule}"):
        hooked.answer(1, ("JOB_SUBMITTED", submitted_data("a")))


def test_a_fault_names_the_hosts_of_a_change(tmp_path: Path) -> None:
    """The interval that the hook has got."""
    for hosts in ("1-3", "2"):
        hooked = Hooked(tmp_path, "def onMachinePStateChanged(self, nodes, pstate): 1 / 0")
        with pytest.raises(AlgorithmError, match=rf"in onMachinePStateChanged\({hosts}\): ZeroDivisionError"):
            hooked.answer(1, ("RESOURCE_STATE_CHANGED", {"resources": hosts, "state": "3"}))


def test_texts_of_the_logger_are_safe_to_display(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """They may quote what Batsim has sent."""
    hooked = Hooked(
        tmp_path,
        """
        def onNotifyGenericEvent(self, data):
            self.logger.warning("%s of %s", data["type"], 1)
            self.bs.logger.error(data["text"])
        """,
        config={"forward-unknown-events": True},
    )
    hooked.answer(1, ("NOTIFY", {"type": "x", "text": "100% \x1b[31m\n" + 9000 * "y"}))
    plain, long = caplog.messages
    assert plain == "x of 1"
    assert long.startswith(r"100% \x1b[31m\nyyy")
    assert len(long) < 300


def test_a_hook_that_is_not_defined_is_an_error(tmp_path: Path) -> None:
    """As in pybatsim, with its name."""
    hooked = Hooked(tmp_path, "pass")
    with pytest.raises(AlgorithmError, match=r"in onJobSubmission.*: Mine does not define onJobSubmission"):
        hooked.answer(1, ("JOB_SUBMITTED", submitted_data("a")))


def test_nothing_is_sent_after_the_first_reply(tmp_path: Path) -> None:
    """`onAfterBatsimInit` comes after it in pybatsim, too: a warning instead of a surprise."""
    hooked = Hooked(tmp_path, "def onAfterBatsimInit(self): self.bs.wake_me_up_at(5)")
    assert hooked.first == []
    hooked.answer(1)
    assert hooked.warnings == [
        "t=0: onAfterBatsimInit: wake_me_up_at has no effect here: pybatsim does not send it either"
    ]


def test_names_of_pybatsim_2(tmp_path: Path) -> None:
    """They are the same calls."""
    hooked = Hooked(
        tmp_path,
        """
        def onSimulationBegins(self):
            self.bs.submit_profiles("new", {"short": {"type": "delay", "delay": 1}})
            self.bs.submit_job("new!1", 1, 20, "short")
            self.bs.notify_submission_finished()
            self.bs.notify_submission_continue()
            self.note(self.bs.nb_res, self.bs.nb_jobs_received, self.bs.resources[0]["name"])
        """,
        config={**DYNAMIC, "dynamic-jobs-acknowledged": False},
    )
    assert [kind for kind, _ in hooked.first] == ["REGISTER_PROFILE", "REGISTER_JOB", "NOTIFY", "NOTIFY"]
    assert hooked.seen == [(4, 1, "n0")]

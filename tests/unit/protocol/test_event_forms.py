"""The data of each event: what is read, what is kept, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.hostset import HostSet
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.events import FINAL_STATES, JobCompleted, JobKilled, JobSubmitted, Progress
from batsched_py.reading.faults import FieldError

JOB = {"id": "w0!1", "subtime": 3, "res": 2, "profile": "p"}
COMPLETED = {"job_id": "w0!1", "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": "0-1"}
both_dialects = pytest.mark.parametrize("dialect", [V4, V14], ids=["v4", "v1.4"])


def read(kind: str, data: dict[str, Any], dialect: Dialect = V4) -> Any:
    """The event of this data at t=1."""
    return dialect.events.readers[kind](1, data)


def killed(**nodes: Any) -> dict[str, Any]:
    """The data of a JOB_KILLED with this progress."""
    return {"job_ids": ["w0!1"], "job_progress": nodes}


@pytest.mark.parametrize(
    ("kind", "data", "path"),
    [
        ("JOB_SUBMITTED", {}, "job_id"),
        ("JOB_SUBMITTED", {"job_id": 1}, "job_id"),
        ("JOB_SUBMITTED", {"job_id": "1"}, "job_id"),
        ("JOB_SUBMITTED", {"job_id": "w0!"}, "job_id"),
        ("JOB_SUBMITTED", {"job_id": "!1"}, "job_id"),
        ("JOB_SUBMITTED", {"job_id": "w0!1", "job": [JOB]}, "job"),
        ("JOB_SUBMITTED", {"job_id": "w0!1", "job": {}}, "job.res"),
        ("JOB_SUBMITTED", {"job_id": "w0!1", "job": JOB, "profile": "p"}, "profile"),
        ("JOB_COMPLETED", {}, "job_state"),
        ("JOB_COMPLETED", {**COMPLETED, "job_id": None}, "job_id"),
        ("JOB_COMPLETED", {**COMPLETED, "job_state": "RUNNING"}, "job_state"),
        ("JOB_COMPLETED", {**COMPLETED, "job_state": ["COMPLETED_KILLED"]}, "job_state"),
        ("JOB_COMPLETED", {**COMPLETED, "job_state": {}}, "job_state"),
        ("JOB_COMPLETED", {**COMPLETED, "return_code": 0.5}, "return_code"),
        ("JOB_COMPLETED", {**COMPLETED, "return_code": True}, "return_code"),
        ("JOB_COMPLETED", {**COMPLETED, "alloc": [0, 1]}, "alloc"),
        ("JOB_COMPLETED", {**COMPLETED, "alloc": "all"}, "alloc"),
        ("JOB_COMPLETED", {**COMPLETED, "status": 1}, "status"),
        ("JOB_COMPLETED", {**COMPLETED, "kill_reason": 1}, "kill_reason"),
        ("JOB_COMPLETED", {"job_id": "w0!1", "status": "DONE"}, "status"),
        ("JOB_COMPLETED", {"job_id": "w0!1", "status": ["SUCCESS"]}, "status"),
        ("JOB_KILLED", {}, "job_ids"),
        ("JOB_KILLED", {"job_ids": "w0!1"}, "job_ids"),
        ("JOB_KILLED", {"job_ids": [1]}, "job_ids"),
        ("JOB_KILLED", {"job_ids": [], "job_progress": []}, "job_progress"),
        ("JOB_KILLED", killed(a=0.5), "job_progress.a.a"),
        ("JOB_KILLED", killed(a={}), "job_progress.a.profile"),
        ("JOB_KILLED", killed(a={"profile_name": "p"}), "job_progress.a.progress"),
        ("JOB_KILLED", killed(a={"profile": "p", "current_task_index": "1"}), "job_progress.a.current_task_index"),
        (
            "JOB_KILLED",
            killed(a={"profile": "p", "current_task_index": 1, "current_task": {"profile": 5}}),
            "job_progress.a.current_task.profile",
        ),
        ("RESOURCE_STATE_CHANGED", {"state": "1"}, "resources"),
        ("RESOURCE_STATE_CHANGED", {"resources": 1, "state": "1"}, "resources"),
        ("RESOURCE_STATE_CHANGED", {"resources": "1", "state": 1}, "state"),
        ("RESOURCE_STATE_CHANGED", {"resources": "1", "state": "0-9999999"}, "state"),
        ("RESOURCE_STATE_CHANGED", {"resources": "1", "state": "-1"}, "state"),
        ("RESOURCE_STATE_CHANGED", {"resources": "1", "state": ""}, "state"),
        ("RESOURCE_STATE_CHANGED", {"resources": "1", "state": "9" * 5000}, "state"),
        ("FROM_JOB_MSG", {"msg": {}}, "job_id"),
        ("QUERY", {"requests": []}, "requests"),
        ("NOTIFY", {}, "type"),
        ("NOTIFY", {"type": 5}, "type"),
        ("NOTIFY", {"type": "event_machine_unavailable"}, "resources"),
        ("NOTIFY", {"type": "event_machine_available", "resources": [0]}, "resources"),
        ("NOTIFY", {"type": "event_machine_available", "resources": "all"}, "resources"),
    ],
)
def test_a_wrong_member_is_named(kind: str, data: dict[str, Any], path: str) -> None:
    """By its path inside `data`."""
    with pytest.raises(FieldError) as caught:
        read(kind, data)
    assert caught.value.path == path


@both_dialects
@pytest.mark.parametrize("alloc", ["5 2-2 1-3", "1-3 5", "1,2,3,5", " 5  3 2 1 "])
def test_hosts_are_read_in_any_spelling(alloc: str, dialect: Dialect) -> None:
    """BA-3: all of these are one set."""
    assert read("JOB_COMPLETED", {**COMPLETED, "alloc": alloc}, dialect).hosts == HostSet.of(1, 2, 3, 5)


def test_hosts_are_written_canonically() -> None:
    """BA-3: whatever spelling came in."""
    _, write = V4.events.writers[JobCompleted]
    assert write(read("JOB_COMPLETED", {**COMPLETED, "alloc": "5 2-2 1-3"}))["alloc"] == "1-3 5"


@both_dialects
@pytest.mark.parametrize("state", sorted(FINAL_STATES))
def test_every_final_state_is_read(state: str, dialect: Dialect) -> None:
    """Five of them, in both dialects."""
    assert read("JOB_COMPLETED", {**COMPLETED, "job_state": state}, dialect).state == state


@pytest.mark.parametrize(
    ("status", "state"),
    [("SUCCESS", "COMPLETED_SUCCESSFULLY"), ("TIMEOUT", "COMPLETED_WALLTIME_REACHED"), ("FAILED", "COMPLETED_FAILED")],
)
def test_a_status_stands_for_a_missing_state(status: str, state: str) -> None:
    """The seed document's deprecated member."""
    assert read("JOB_COMPLETED", {"job_id": "a!1", "status": status}, V14).state == state


def test_the_state_rules_over_the_status() -> None:
    """TIMEOUT is all that a status can say of a killed job."""
    data = {**COMPLETED, "job_state": "COMPLETED_KILLED", "status": "TIMEOUT"}
    assert read("JOB_COMPLETED", data, V14).state == "COMPLETED_KILLED"


def test_the_kill_reason_tells_that_a_walltime_was_reached() -> None:
    """The example of v1.4's document: such a job is COMPLETED_KILLED there, and by name only the reason differs."""
    data = {"job_id": "2cf8ca!10", "status": "TIMEOUT", "job_state": "COMPLETED_KILLED"}
    assert read("JOB_COMPLETED", {**data, "kill_reason": "Walltime reached"}, V14).state == "COMPLETED_WALLTIME_REACHED"
    assert read("JOB_COMPLETED", {**data, "kill_reason": "enough"}, V14).state == "COMPLETED_KILLED"


@both_dialects
def test_a_kill_without_the_member_progress_killed_all_its_jobs(dialect: Dialect) -> None:
    """The first example of v1.4's document; an empty member says that none of them was really killed."""
    event = read("JOB_KILLED", {"job_ids": ["w0!1", "w0!2"]}, dialect)
    assert list(event.killed_ids) == ["w0!1", "w0!2"]
    _, write = dialect.events.writers[JobKilled]
    assert write(event) == {"job_ids": ["w0!1", "w0!2"]}
    assert list(read("JOB_KILLED", {"job_ids": ["w0!1"], "job_progress": {}}, dialect).killed_ids) == []


@both_dialects
@pytest.mark.parametrize("key", ["profile", "profile_name"])
def test_progress_is_read_under_both_names_of_its_profile(key: str, dialect: Dialect) -> None:
    """The documents say one, the wire the other."""
    event = read("JOB_KILLED", killed(**{"w0!1": {key: "p", "progress": 1.0}}), dialect)
    assert event.progress == {"w0!1": Progress("p", 1.0)}


@pytest.mark.parametrize(("dialect", "key"), [(V4, "profile_name"), (V14, "profile")], ids=["v4", "v1.4"])
def test_progress_is_written_under_the_name_that_is_on_the_wire(dialect: Dialect, key: str) -> None:
    """Each generation has its own."""
    _, write = dialect.events.writers[JobKilled]
    data = write(JobKilled(1, ("w0!1",), {"w0!1": Progress("c", None, 2, Progress("p", 0.0))}))
    assert data["job_progress"] == {
        "w0!1": {key: "c", "current_task_index": 2, "current_task": {key: "p", "progress": 0.0}}
    }


def test_a_step_that_never_started_has_no_task() -> None:
    """Its index is -1."""
    event = read("JOB_KILLED", killed(a={"profile_name": "c", "current_task_index": -1}))
    assert event.progress == {"a": Progress("c", None, -1)}


def test_a_job_that_ended_before_its_kill_has_no_progress() -> None:
    """It is named all the same."""
    assert read("JOB_KILLED", {"job_ids": ["w0!1"], "job_progress": {}}).progress == {}


def test_members_that_nobody_describes_are_kept_apart() -> None:
    """They are written back."""
    event = read("JOB_COMPLETED", {**COMPLETED, "energy": 5, "why": None})
    assert event.extra == {"energy": 5, "why": None}


def test_a_job_keeps_the_members_of_its_author() -> None:
    """Batsim forwards them, in their order."""
    job = {**JOB, "user": "ann", "deadline": 50}
    submitted = read("JOB_SUBMITTED", {"job_id": "w0!1", "job": job})
    assert submitted.job.extra == {"user": "ann", "deadline": 50}
    _, write = V4.events.writers[JobSubmitted]
    assert repr(write(submitted)) == repr({"job_id": "w0!1", "job": job})


@pytest.mark.parametrize("resources", ["all of them", [0], {}, None, "0-1"])
def test_a_forwarded_event_may_have_any_resources(resources: Any) -> None:
    """Only those of machine events are hosts."""
    notice = read("NOTIFY", {"type": "solar_flare", "resources": resources})
    assert (notice.hosts, notice.members["resources"]) == (None, resources)


@pytest.mark.parametrize("kind", ["event_machine_available", "event_machine_unavailable"])
def test_a_machine_event_names_hosts(kind: str) -> None:
    """As an interval set."""
    assert read("NOTIFY", {"type": kind, "resources": "0-1 3"}).hosts == HostSet.of(0, 1, 3)


@both_dialects
def test_facts_spelled_in_either_dialect_are_equal(dialect: Dialect) -> None:
    """BA-2: but for what one of them does not carry, v1.4 and v4 give the same typed events."""
    completed = {"job_id": "w0!1", "job_state": "COMPLETED_WALLTIME_REACHED", "return_code": -1}
    said = {
        "v4": [
            ("JOB_SUBMITTED", {"job_id": "w0!1", "job": JOB}),
            ("JOB_COMPLETED", completed),
            ("JOB_KILLED", killed(a={"profile_name": "p", "progress": 0.5})),
            ("RESOURCE_STATE_CHANGED", {"resources": "0 1", "state": "1"}),
            ("ANSWER", {"consumed_energy": 12.5}),
        ],
        "v1.4": [
            ("JOB_SUBMITTED", {"job_id": "w0!1", "job": JOB}),
            ("JOB_COMPLETED", completed),
            ("JOB_KILLED", killed(a={"profile": "p", "progress": 0.5})),
            ("RESOURCE_STATE_CHANGED", {"resources": "0-1", "state": "1"}),
            ("QUERY_REPLY", {"consumed_energy": 12.5}),
        ],
    }  # type: dict[str, list[tuple[str, dict[str, Any]]]]
    events = [read(kind, data, dialect) for kind, data in said[dialect.name]]
    assert events == [read(kind, data) for kind, data in said["v4"]]

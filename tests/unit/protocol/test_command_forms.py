"""Commands that real Batsim refuses are refused at both ends, naming the member."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import pytest

from batsched_py.errors import LocalProtocolError, RemoteProtocolError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.protocol.codec import Message, decode, encode
from batsched_py.protocol.commands import (
    AdditionalIo,
    CallMeLater,
    ChangeJobState,
    ExecuteJob,
    KillJob,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetJobMetadata,
    SetResourceState,
)
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.events import Answer, Notify, Query
from batsched_py.protocol.fields import read_job

JOB = {"id": "w0!1", "subtime": 0, "res": 2, "profile": "p"}
HOSTS = HostSet.of(0, 1)
DELAY = {"type": "delay", "delay": 5}


def read(kind: str, data: dict[str, Any], dialect: Dialect = V4) -> Any:
    """The command of this data, as Batsim's end reads it."""
    raw = json.dumps({"now": 1, "events": [{"timestamp": 1, "type": kind, "data": data}]}).encode()
    (command,) = decode(raw, dialect.commands, keep_unknown=False).events
    return command


def write(command: Any, dialect: Dialect = V4) -> dict[str, Any]:
    """The data of this command, as our end writes it."""
    raw = encode(Message(1, (command,)), dialect.commands, dialect.name, keep_unknown=False)
    data: dict[str, Any] = json.loads(raw)["events"][0]["data"]
    return data


def executed(**changes: Any) -> dict[str, Any]:
    """The data of an EXECUTE_JOB; a change to None leaves the member out."""
    data = {"job_id": "w0!1", "alloc": "0-1", **changes}
    return {key: value for key, value in data.items() if value is not None}


def registered(**changes: Any) -> dict[str, Any]:
    """The data of a REGISTER_JOB with its job changed; a change to None leaves the member out."""
    job = {**JOB, **changes}
    return {"job_id": "w0!1", "job": {key: value for key, value in job.items() if value is not None}}


@pytest.mark.parametrize(
    ("kind", "data", "path"),
    [
        ("EXECUTE_JOB", executed(mapping={"0": "0"}, storage_mapping={}), ""),
        ("EXECUTE_JOB", executed(a=1, b=2), ""),
        ("EXECUTE_JOB", executed(job_id=None), ".job_id"),
        ("EXECUTE_JOB", executed(job_id=1), ".job_id"),
        ("EXECUTE_JOB", executed(alloc=None), ".alloc"),
        ("EXECUTE_JOB", executed(alloc=""), ".alloc"),
        ("EXECUTE_JOB", executed(alloc=[0, 1]), ".alloc"),
        ("EXECUTE_JOB", executed(alloc=0), ".alloc"),
        ("EXECUTE_JOB", executed(alloc="0  1"), ".alloc"),
        ("EXECUTE_JOB", executed(alloc="1-0"), ".alloc"),
        ("EXECUTE_JOB", executed(alloc="-1"), ".alloc"),
        ("EXECUTE_JOB", executed(alloc="all"), ".alloc"),
        ("EXECUTE_JOB", executed(mapping=[0, 1]), ".mapping"),
        ("EXECUTE_JOB", executed(mapping={"0": "0", "2": "1"}), ".mapping"),
        ("EXECUTE_JOB", executed(mapping={"1": "0"}), ".mapping"),
        ("EXECUTE_JOB", executed(mapping={"0": "one"}), ".mapping.0"),
        ("EXECUTE_JOB", executed(mapping={"0": 0.5}), ".mapping.0"),
        ("EXECUTE_JOB", executed(mapping={"0": True}), ".mapping.0"),
        ("EXECUTE_JOB", executed(mapping={"0": "-1"}), ".mapping.0"),
        ("EXECUTE_JOB", executed(mapping={"0": "9" * 5000}), ".mapping.0"),
        ("EXECUTE_JOB", executed(mapping={"zero": "0"}), ".mapping.zero"),
        ("EXECUTE_JOB", executed(storage_mapping={"disk": "4"}), ".storage_mapping.disk"),
        ("EXECUTE_JOB", executed(additional_io_job={"profile_name": "p", "profile": {}}), ".additional_io_job.alloc"),
        ("REJECT_JOB", {}, ".job_id"),
        ("REJECT_JOB", {"job_id": "w0!1", "why": "big"}, ".why"),
        ("KILL_JOB", {"job_ids": []}, ".job_ids"),
        ("KILL_JOB", {"job_ids": "w0!1"}, ".job_ids"),
        ("KILL_JOB", {"job_ids": [1]}, ".job_ids"),
        ("KILL_JOB", {"job_ids": ["w0!1"], "why": "late"}, ".why"),
        ("CALL_ME_LATER", {}, ".timestamp"),
        ("CALL_ME_LATER", {"timestamp": "5"}, ".timestamp"),
        ("REGISTER_JOB", {"job": JOB}, ".job_id"),
        ("REGISTER_JOB", {"job_id": "1", "job": JOB}, ".job_id"),
        ("REGISTER_JOB", {"job_id": "w0!1", "job": 5}, ".job"),
        ("REGISTER_JOB", registered(subtime=None), ".job.subtime"),
        ("REGISTER_JOB", registered(subtime="now"), ".job.subtime"),
        ("REGISTER_JOB", registered(res=None), ".job.res"),
        ("REGISTER_JOB", registered(res=1.5), ".job.res"),
        ("REGISTER_JOB", registered(profile=None), ".job.profile"),
        ("REGISTER_JOB", registered(walltime=0), ".job.walltime"),
        ("REGISTER_PROFILE", {"profile_name": "p", "profile": {}}, ".workload_name"),
        ("REGISTER_PROFILE", {"workload_name": "w", "profile": {}}, ".profile_name"),
        ("REGISTER_PROFILE", {"workload_name": "w", "profile_name": "p", "profile": "{}"}, ".profile"),
        ("SET_RESOURCE_STATE", {"resources": "0", "state": 13}, ".state"),
        ("SET_RESOURCE_STATE", {"resources": "0", "state": "asleep"}, ".state"),
        ("SET_RESOURCE_STATE", {"resources": "0", "state": "-1"}, ".state"),
        ("SET_RESOURCE_STATE", {"resources": "", "state": "1"}, ".resources"),
        ("SET_RESOURCE_STATE", {"resources": [0], "state": "1"}, ".resources"),
        ("SET_JOB_METADATA", {"job_id": "w0!1", "metadata": 'a "b"'}, ".metadata"),
        ("SET_JOB_METADATA", {"job_id": "w0!1", "metadata": {}}, ".metadata"),
        ("CHANGE_JOB_STATE", {"job_id": "w0!1", "job_state": "COMPLETED_FAILED"}, ".job_state"),
        ("CHANGE_JOB_STATE", {"job_id": "w0!1", "job_state": "SUBMITTED"}, ".job_state"),
        ("CHANGE_JOB_STATE", {"job_id": "w0!1", "job_state": ["RUNNING"]}, ".job_state"),
        ("TO_JOB_MSG", {"job_id": "w0!1", "msg": {}}, ".msg"),
        ("QUERY", {"consumed_energy": {}}, ".consumed_energy"),
        ("QUERY", {"requests": {"consumed_energy": {}}, "why": 1}, ".why"),
        ("QUERY", {"requests": []}, ".requests"),
        ("QUERY", {}, ".requests"),
        ("NOTIFY", {}, ".type"),
        ("NOTIFY", {"type": "submission_finished"}, ".type"),
        ("NOTIFY", {"type": "continue_submission"}, ".type"),
        ("NOTIFY", {"type": "no_more_static_job_to_submit"}, ".type"),
        ("NOTIFY", {"type": ["registration_finished"]}, ".type"),
    ],
)
def test_what_batsim_aborts_on_is_refused_when_read(kind: str, data: dict[str, Any], path: str) -> None:
    """As real Batsim 4.2.1 does, but with the path of the member and the rule."""
    with pytest.raises(RemoteProtocolError) as caught:
        read(kind, data)
    assert caught.value.path == f"events[0].data{path}"
    assert f"({kind})" in caught.value.rule


@pytest.mark.parametrize("kind", ["SUBMIT_JOB", "SUBMIT_PROFILE", "QUERY_REQUEST", "QUERY_REPLY", "NOP", "RUN", ""])
def test_names_that_batsim_4_does_not_have_are_refused(kind: str) -> None:
    """Most are names of v1.4."""
    with pytest.raises(RemoteProtocolError, match=r"^events\[0\]\.type: must be a known event"):
        read(kind, {})


@pytest.mark.parametrize("kind", ["registration_finished", "continue_registration"])
def test_notices_that_v14_does_not_have_are_refused(kind: str) -> None:
    """It spells them with submission."""
    with pytest.raises(RemoteProtocolError, match=r"^events\[0\]\.data\.type: "):
        read("NOTIFY", {"type": kind}, V14)


@pytest.mark.parametrize(
    ("alloc", "hosts"),
    [("5 2-2 1-3", "1-3 5"), ("0,1", "0-1"), ("0-1 1", "0-1"), ("1 0", "0-1"), ("0-0", "0")],
)
def test_an_allocation_is_read_in_any_spelling(alloc: str, hosts: str) -> None:
    """Real Batsim accepts commas and pieces that overlap."""
    assert str(read("EXECUTE_JOB", executed(alloc=alloc)).hosts) == hosts


def test_an_allocation_is_written_canonically() -> None:
    """{1, 2, 3, 5} is 1-3 5 (BA-3)."""
    assert write(ExecuteJob(1, "w0!1", HostSet.of(5, 2, 1, 3)))["alloc"] == "1-3 5"


@pytest.mark.parametrize("mapping", [{"0": 1, "1": 0}, {"0": "1", "1": "0"}, {"1": 0, "0": 1}])
def test_a_mapping_is_read_as_numbers_or_texts(mapping: dict[str, Any]) -> None:
    """Real Batsim reads both."""
    assert read("EXECUTE_JOB", executed(mapping=mapping)).mapping == {0: 1, 1: 0}


def test_an_unknown_third_member_of_an_execution_is_ignored() -> None:
    """Only a fourth one makes Batsim abort."""
    assert read("EXECUTE_JOB", executed(priority=3)) == ExecuteJob(1, "w0!1", HOSTS)


def test_a_profile_beside_a_registered_job_is_not_read() -> None:
    """Real Batsim 4 does not look at it, whatever it is."""
    command = read("REGISTER_JOB", {"job_id": "w0!1", "job": JOB, "profile": "anything"})
    assert command == RegisterJob(1, "w0!1", Job("w0!1", 0, 2, None, "p", JOB))


@pytest.mark.parametrize(("kind", "dialect"), [("REGISTER_JOB", V4), ("SUBMIT_JOB", V14)], ids=["v4", "v1.4"])
def test_the_submission_time_may_not_be_left_out(kind: str, dialect: Dialect) -> None:
    """Real Batsim aborts, although the examples of its documents lack it."""
    job = {key: value for key, value in JOB.items() if key != "subtime"}
    with pytest.raises(RemoteProtocolError, match=r"job\.subtime: is missing; Batsim needs it"):
        read(kind, {"job_id": "w0!1", "job": job}, dialect)


def test_v14_is_asked_without_the_level_of_its_document() -> None:
    """Real Batsim 1.4 crashes on `requests`, which the example of its document has."""
    assert read("QUERY_REQUEST", {"consumed_energy": {}}, V14) == Query(1, {"consumed_energy": {}})
    with pytest.raises(RemoteProtocolError, match="requests: is not allowed here"):
        read("QUERY_REQUEST", {"requests": {"consumed_energy": {}}}, V14)


@dataclass(frozen=True)
class Wrong:
    """A command that may not be sent, and where it is wrong."""

    command: Any
    path: str
    dialect: Dialect = V4


def unsent(command: Any, path: str, dialect: Dialect = V4) -> Any:
    """A case for the test below."""
    return pytest.param(Wrong(command, path, dialect), id=f"{type(command).__name__}{path}")


def job(**changes: Any) -> Job:
    """A job whose members are changed after it was made; a change to None takes the member away."""
    members = {key: value for key, value in {**JOB, **changes}.items() if value is not None}
    return Job("w0!1", 0, 2, None, "p", members)


@pytest.mark.parametrize(
    "case",
    [
        unsent(ExecuteJob(1, "w0!1", HostSet()), ".alloc"),
        unsent(ExecuteJob(1, "w0!1", HOSTS, {0: 0}, {"disk": 4}), ""),
        unsent(ExecuteJob(1, "w0!1", HOSTS, {0: 0}, None, AdditionalIo(HOSTS, "p", DELAY)), ""),
        unsent(ExecuteJob(1, "w0!1", HOSTS, {1: 0}), ".mapping"),
        unsent(ExecuteJob(1, "w0!1", HOSTS, {0: 2}), ".mapping.0"),
        unsent(ExecuteJob(1, "w0!1", HOSTS, {0: -1}), ".mapping.0"),
        unsent(
            ExecuteJob(1, "w0!1", HOSTS, None, None, AdditionalIo(HOSTS, "p", {"com": math.inf})),
            ".additional_io_job.profile.com",
        ),
        unsent(KillJob(1, ()), ".job_ids"),
        unsent(CallMeLater(1, math.inf), ".timestamp"),
        unsent(CallMeLater(1, math.nan), ".timestamp"),
        unsent(RegisterJob(1, "1", None), ".job_id"),
        unsent(RegisterJob(1, "!1", None), ".job_id"),
        unsent(RegisterJob(1, "w0!", None), ".job_id"),
        unsent(RegisterJob(1, "w0!1", job(subtime=None)), ".job.subtime"),
        unsent(RegisterJob(1, "w0!1", job(subtime=None)), ".job.subtime", V14),
        unsent(RegisterJob(1, "w0!1", job(res=-1)), ".job.res"),
        unsent(RegisterJob(1, "w0!1", job(walltime=0)), ".job.walltime"),
        unsent(RegisterJob(1, "w0!1", job(walltime=math.inf)), ".job.walltime"),
        unsent(RegisterJob(1, "w0!1", job(mine={"x": [math.nan]})), ".job.mine.x[0]"),
        unsent(RegisterJob(1, "w0!1", job(), DELAY), ".profile"),
        unsent(RegisterJob(1, "w0!1", job(), {"delay": math.inf}), ".profile.delay", V14),
        unsent(RegisterProfile(1, "w", "p", {"delay": math.nan}), ".profile.delay"),
        unsent(SetResourceState(1, HostSet(), "1"), ".resources"),
        unsent(SetResourceState(1, HOSTS, ""), ".state"),
        unsent(SetResourceState(1, HOSTS, "on"), ".state"),
        unsent(SetJobMetadata(1, "w0!1", '"'), ".metadata"),
        unsent(ChangeJobState(1, "w0!1", "COMPLETED_FAILED"), ".job_state"),
        unsent(ChangeJobState(1, "w0!1", "SUBMITTED"), ".job_state"),
        unsent(Query(1, {"estimate_waiting_time": {}}), ".requests"),
        unsent(Query(1, {"consumed_energy": {"of": "0"}}), ".requests"),
        unsent(Query(1, {}), ".requests", V14),
        unsent(
            Answer(1, {"estimate_waiting_time": {"estimated_waiting_time": math.inf}}),
            ".estimate_waiting_time.estimated_waiting_time",
        ),
        unsent(Notify(1, "submission_finished"), ".type"),
        unsent(Notify(1, "no_more_static_job_to_submit"), ".type", V14),
    ],
)
def test_what_batsim_aborts_on_is_not_sent(case: Wrong) -> None:
    """The error names the member, and nothing has been said."""
    with pytest.raises(LocalProtocolError) as caught:
        write(case.command, case.dialect)
    assert caught.value.path == f"events[0].data{case.path}"


def test_a_call_in_more_seconds_than_json_can_say_is_our_error() -> None:
    """Python's integers have no end, JSON's writers do."""
    with pytest.raises(LocalProtocolError):
        write(CallMeLater(1, 10**400))


def test_several_executors_may_share_a_host() -> None:
    """Four one-host nodes on two hosts (BA-18)."""
    data = write(ExecuteJob(1, "w0!1", HOSTS, {0: 0, 1: 0, 2: 1, 3: 1}))
    assert data == {"job_id": "w0!1", "alloc": "0-1", "mapping": {"0": "0", "1": "0", "2": "1", "3": "1"}}


def test_a_job_made_here_is_registered_with_its_submission_time() -> None:
    """Batsim's own examples leave it out, and Batsim aborts (BA-10)."""
    made = Job.create("dyn!1", size=2, profile="p", submit_time=4.5, extra={"lease": 7})
    assert write(RegisterJob(1, "dyn!1", made)) == {
        "job_id": "dyn!1",
        "job": {"id": "dyn!1", "subtime": 4.5, "res": 2, "profile": "p", "lease": 7},
    }


def test_members_of_a_registered_job_are_read_back_as_the_same_job() -> None:
    """The other end believes what we send."""
    made = Job.create("dyn!1", size=2, profile="p", submit_time=0.0, walltime=9)
    assert read_job("dyn!1", write(RegisterJob(1, "dyn!1", made))["job"]) == made


def test_a_rejection_has_nothing_but_the_job() -> None:
    """Batsim refuses any other member."""
    assert write(RejectJob(1, "w0!1")) == {"job_id": "w0!1"}


@pytest.mark.parametrize(
    ("profile", "sent"),
    [
        (
            {"type": "parallel", "cpu": [1], "com": [0], "mine": 1},
            {"type": "msg_par", "cpu": [1], "com": [0], "mine": 1},
        ),
        ({"type": "parallel_homogeneous", "cpu": 1}, {"type": "msg_par_hg", "cpu": 1}),
        ({"type": "parallel_homogeneous_total", "cpu": 1}, {"type": "msg_par_hg_tot", "cpu": 1}),
        ({"type": "composed", "seq": ["p"], "repeat": 3}, {"type": "composed", "seq": ["p"], "nb": 3}),
        ({"type": "composed", "seq": ["p"]}, {"type": "composed", "seq": ["p"], "nb": 1}),
        ({"type": "composed", "seq": ["p"], "nb": 2}, {"type": "composed", "seq": ["p"], "nb": 2}),
        ({"type": "msg_par_hg", "cpu": 1}, {"type": "msg_par_hg", "cpu": 1}),
        ({"type": ["odd"]}, {"type": ["odd"]}),
    ],
)
def test_a_profile_is_sent_to_batsim_1_in_its_words(profile: dict[str, Any], sent: dict[str, Any]) -> None:
    """In SUBMIT_PROFILE and in SUBMIT_JOB; v4 has it as it is."""
    registered = RegisterProfile(1, "dyn", "n", profile)
    assert write(registered, V14)["profile"] == sent
    assert write(RegisterJob(1, "w0!1", job(), profile), V14)["profile"] == sent
    assert write(registered)["profile"] == profile

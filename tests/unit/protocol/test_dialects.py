"""Each row of the protocol's tables: wire names, and both directions of both dialects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    ToJobMessage,
)
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.dialects import V5, dialect_of
from batsched_py.protocol.events import (
    Answer,
    FromJobMessage,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Nop,
    Notify,
    Progress,
    Query,
    RequestedCall,
    ResourceStateChanged,
    SimulationEnds,
)
from batsched_py.protocol.forms import Forms
from tests.unit.protocol.strategies import COMMANDS_V4, COMMANDS_V14, EVENTS_V4, EVENTS_V14, Values
from tests.unit.protocol.strategies_v5 import COMMANDS_V5, EVENTS_V5

#: dialect and direction -> class -> values that it can say.
TABLES = {
    ("v4", "events"): (V4, V4.events, EVENTS_V4),
    ("v4", "commands"): (V4, V4.commands, COMMANDS_V4),
    ("v5", "events"): (V5, V5.events, EVENTS_V5),
    ("v5", "commands"): (V5, V5.commands, COMMANDS_V5),
    ("v1.4", "events"): (V14, V14.events, EVENTS_V14),
    ("v1.4", "commands"): (V14, V14.commands, COMMANDS_V14),
}
#: direction, class and the values that it can say -> the dialects that can say just these.
SPEAKERS: dict[tuple[str, type, Values], list[tuple[Dialect, Forms]]] = {}
for (_, _direction), (_dialect, _forms, _table) in TABLES.items():
    for _kind, _strategy in _table.items():
        SPEAKERS.setdefault((_direction, _kind, _strategy), []).append((_dialect, _forms))
ROWS = [
    pytest.param(speakers, values, id="-".join([*(dialect.name for dialect, _ in speakers), direction, kind.__name__]))
    for (direction, kind, values), speakers in SPEAKERS.items()
]

JOB = {"id": "w0!1", "subtime": 3, "res": 2, "profile": "p", "walltime": 10.5}
DELAY = {"type": "delay", "delay": 5}
READ_JOB = Job("w0!1", 3, 2, 10.5, "p", JOB)
TREE = Progress("c", None, 1, Progress("p", 0.5))

#: Type, typed value at t=1 and data: as real Batsim of each generation writes and reads it.
EVENTS: list[tuple[str, Any, dict[str, Any]]] = [
    ("SIMULATION_ENDS", SimulationEnds(1), {}),
    ("JOB_SUBMITTED", JobSubmitted(1, "w0!1", READ_JOB), {"job_id": "w0!1", "job": JOB}),
    ("JOB_SUBMITTED", JobSubmitted(1, "w0!1", None), {"job_id": "w0!1"}),
    (
        "JOB_SUBMITTED",
        JobSubmitted(1, "w0!1", READ_JOB, DELAY),
        {"job_id": "w0!1", "job": JOB, "profile": DELAY},
    ),
    ("REQUESTED_CALL", RequestedCall(1), {}),
    (
        "RESOURCE_STATE_CHANGED",
        ResourceStateChanged(1, HostSet.of(7, 9), "13"),
        {"resources": "7 9", "state": "13"},
    ),
    ("FROM_JOB_MSG", FromJobMessage(1, "w0!1", {"a": 1}), {"job_id": "w0!1", "msg": {"a": 1}}),
    (
        "NOTIFY",
        Notify(1, "no_more_static_job_to_submit", None, {"type": "no_more_static_job_to_submit"}),
        {"type": "no_more_static_job_to_submit"},
    ),
    (
        "NOTIFY",
        Notify(
            1,
            "event_machine_unavailable",
            HostSet.of(0, 1, 3),
            {"type": "event_machine_unavailable", "resources": "0-1 3"},
        ),
        {"type": "event_machine_unavailable", "resources": "0-1 3"},
    ),
]
EVENTS_OF_V4: list[tuple[str, Any, dict[str, Any]]] = [
    (
        "JOB_COMPLETED",
        JobCompleted(1, "w0!1", "COMPLETED_FAILED", 3, HostSet.of(0, 1)),
        {"job_id": "w0!1", "job_state": "COMPLETED_FAILED", "return_code": 3, "alloc": "0-1"},
    ),
    (
        "JOB_KILLED",
        JobKilled(1, ("w0!1", "w0!2"), {"w0!1": TREE}),
        {
            "job_ids": ["w0!1", "w0!2"],
            "job_progress": {
                "w0!1": {
                    "profile_name": "c",
                    "current_task_index": 1,
                    "current_task": {"profile_name": "p", "progress": 0.5},
                }
            },
        },
    ),
    ("QUERY", Query(1, {"estimate_waiting_time": {}}), {"requests": {"estimate_waiting_time": {}}}),
    ("ANSWER", Answer(1, {"consumed_energy": 188480.0}), {"consumed_energy": 188480.0}),
]
EVENTS_OF_V14: list[tuple[str, Any, dict[str, Any]]] = [
    (
        "JOB_COMPLETED",
        JobCompleted(1, "a!1", "COMPLETED_WALLTIME_REACHED", -1, None, "TIMEOUT", "Walltime reached"),
        {
            "job_id": "a!1",
            "status": "TIMEOUT",
            "job_state": "COMPLETED_WALLTIME_REACHED",
            "return_code": -1,
            "kill_reason": "Walltime reached",
        },
    ),
    (
        "JOB_KILLED",
        JobKilled(1, ("a!1",), {"a!1": Progress("p", 1.0)}),
        {"job_ids": ["a!1"], "job_progress": {"a!1": {"profile": "p", "progress": 1.0}}},
    ),
    ("QUERY_REPLY", Answer(1, {"energy_consumed": 1174656.0}), {"energy_consumed": 1174656.0}),
]
COMMANDS: list[tuple[str, Any, dict[str, Any]]] = [
    ("EXECUTE_JOB", ExecuteJob(1, "w0!1", HostSet.of(0, 1)), {"job_id": "w0!1", "alloc": "0-1"}),
    (
        "EXECUTE_JOB",
        ExecuteJob(1, "w0!1", HostSet.of(0, 1), {0: 0, 1: 0, 2: 1, 3: 1}),
        {"job_id": "w0!1", "alloc": "0-1", "mapping": {"0": "0", "1": "0", "2": "1", "3": "1"}},
    ),
    (
        "EXECUTE_JOB",
        ExecuteJob(1, "w0!1", HostSet.of(0), None, {"disk": 4}),
        {"job_id": "w0!1", "alloc": "0", "storage_mapping": {"disk": 4}},
    ),
    (
        "EXECUTE_JOB",
        ExecuteJob(1, "w0!1", HostSet.of(0), additional_io=AdditionalIo(HostSet.of(4), "io", DELAY)),
        {
            "job_id": "w0!1",
            "alloc": "0",
            "additional_io_job": {"alloc": "4", "profile_name": "io", "profile": DELAY},
        },
    ),
    ("REJECT_JOB", RejectJob(1, "w0!1"), {"job_id": "w0!1"}),
    ("KILL_JOB", KillJob(1, ("w0!1", "w0!2")), {"job_ids": ["w0!1", "w0!2"]}),
    ("CALL_ME_LATER", CallMeLater(1, 5.5), {"timestamp": 5.5}),
    (
        "SET_RESOURCE_STATE",
        SetResourceState(1, HostSet.of(7, 9), "13"),
        {"resources": "7 9", "state": "13"},
    ),
    ("CHANGE_JOB_STATE", ChangeJobState(1, "w0!1", "RUNNING"), {"job_id": "w0!1", "job_state": "RUNNING"}),
    (
        "CHANGE_JOB_STATE",
        ChangeJobState(1, "w0!1", "COMPLETED_KILLED", "why"),
        {"job_id": "w0!1", "job_state": "COMPLETED_KILLED", "kill_reason": "why"},
    ),
    ("TO_JOB_MSG", ToJobMessage(1, "w0!1", "go"), {"job_id": "w0!1", "msg": "go"}),
]
COMMANDS_OF_V4: list[tuple[str, Any, dict[str, Any]]] = [
    ("REGISTER_JOB", RegisterJob(1, "w0!1", READ_JOB), {"job_id": "w0!1", "job": JOB}),
    ("REGISTER_JOB", RegisterJob(1, "w0!1", None), {"job_id": "w0!1"}),
    (
        "REGISTER_PROFILE",
        RegisterProfile(1, "dyn", "p", DELAY),
        {"workload_name": "dyn", "profile_name": "p", "profile": DELAY},
    ),
    ("SET_JOB_METADATA", SetJobMetadata(1, "w0!1", "because"), {"job_id": "w0!1", "metadata": "because"}),
    ("QUERY", Query(1, {"consumed_energy": {}}), {"requests": {"consumed_energy": {}}}),
    ("NOTIFY", Notify(1, "registration_finished"), {"type": "registration_finished"}),
    ("NOTIFY", Notify(1, "continue_registration"), {"type": "continue_registration"}),
    (
        "ANSWER",
        Answer(1, {"estimate_waiting_time": {"job_id": "w0!1", "estimated_waiting_time": 56}}),
        {"estimate_waiting_time": {"job_id": "w0!1", "estimated_waiting_time": 56}},
    ),
]
COMMANDS_OF_V14: list[tuple[str, Any, dict[str, Any]]] = [
    ("SUBMIT_JOB", RegisterJob(1, "w0!1", READ_JOB), {"job_id": "w0!1", "job": JOB}),
    (
        "SUBMIT_JOB",
        RegisterJob(1, "w0!1", READ_JOB, DELAY),
        {"job_id": "w0!1", "job": JOB, "profile": DELAY},
    ),
    (
        "SUBMIT_PROFILE",
        RegisterProfile(1, "dyn", "p", DELAY),
        {"workload_name": "dyn", "profile_name": "p", "profile": DELAY},
    ),
    ("QUERY_REQUEST", Query(1, {"consumed_energy": {}}), {"consumed_energy": {}}),
    ("NOTIFY", Notify(1, "registration_finished"), {"type": "submission_finished"}),
    ("NOTIFY", Notify(1, "continue_registration"), {"type": "continue_submission"}),
]
EXAMPLES = [
    pytest.param(dialect, forms, *row, id=f"{dialect.name}-{direction}-{row[0]}-{number}")
    for dialect, forms, direction, rows in [
        (V4, V4.events, "events", EVENTS + EVENTS_OF_V4),
        (V14, V14.events, "events", EVENTS + EVENTS_OF_V14),
        (V4, V4.commands, "commands", COMMANDS + COMMANDS_OF_V4),
        (V14, V14.commands, "commands", COMMANDS + COMMANDS_OF_V14),
    ]
    for number, row in enumerate(rows)
]


@pytest.mark.parametrize(("dialect", "forms", "kind", "value", "data"), EXAMPLES)
def test_a_row_is_written_with_its_name_and_its_members_in_order(
    dialect: Dialect, forms: Forms, kind: str, value: Any, data: dict[str, Any]
) -> None:
    """The result is what real Batsim of that generation writes or reads, member by member."""
    name, write = forms.writers[type(value)]
    assert (name, repr(write(value))) == (kind, repr(data))


@pytest.mark.parametrize(("dialect", "forms", "kind", "value", "data"), EXAMPLES)
def test_a_row_is_read_as_its_typed_value(
    dialect: Dialect, forms: Forms, kind: str, value: Any, data: dict[str, Any]
) -> None:
    """A message of real Batsim of that generation becomes the class of its row."""
    assert forms.readers[kind](1, data) == value


@pytest.mark.parametrize(("speakers", "values"), ROWS)
@settings(max_examples=20)
@given(data=st.data())
def test_what_is_written_is_read_back_equal(
    speakers: list[tuple[Dialect, Forms]], values: Values, data: st.DataObject
) -> None:
    """Typed value, bytes, typed value: nothing is lost, the members that nobody describes neither."""
    message = Message(8, (data.draw(values),))
    for dialect, forms in speakers:
        raw = encode(message, forms, dialect.name, keep_unknown=False)
        assert decode(raw, forms, keep_unknown=False) == message


@pytest.mark.parametrize(("dialect", "forms", "table"), TABLES.values(), ids=map("-".join, TABLES))
def test_every_class_that_can_be_written_is_tried(dialect: Dialect, forms: Forms, table: dict[type, Values]) -> None:
    """A new row without a strategy here is noticed."""
    assert set(table) == set(forms.writers)


@pytest.mark.parametrize(
    ("forms", "names"),
    [
        (
            V4.events,
            "ANSWER FROM_JOB_MSG JOB_COMPLETED JOB_KILLED JOB_SUBMITTED NOP NOTIFY QUERY REQUESTED_CALL"
            " RESOURCE_STATE_CHANGED SIMULATION_BEGINS SIMULATION_ENDS",
        ),
        (
            V14.events,
            "FROM_JOB_MSG JOB_COMPLETED JOB_KILLED JOB_SUBMITTED NOP NOTIFY QUERY_REPLY QUERY_REQUEST REQUESTED_CALL"
            " RESOURCE_STATE_CHANGED SIMULATION_BEGINS SIMULATION_ENDS",
        ),
        (
            V4.commands,
            "ANSWER CALL_ME_LATER CHANGE_JOB_STATE EXECUTE_JOB KILL_JOB NOTIFY QUERY REGISTER_JOB REGISTER_PROFILE"
            " REJECT_JOB SET_JOB_METADATA SET_RESOURCE_STATE TO_JOB_MSG",
        ),
        (
            V14.commands,
            "CALL_ME_LATER CHANGE_JOB_STATE EXECUTE_JOB KILL_JOB NOP NOTIFY QUERY_REPLY QUERY_REQUEST REJECT_JOB"
            " SET_RESOURCE_STATE SUBMIT_JOB SUBMIT_PROFILE TO_JOB_MSG",
        ),
        (
            V5.events,
            "AllStaticExternalEventsHaveBeenInjectedEvent AllStaticJobsHaveBeenSubmittedEvent"
            " ExternalEventOccurredEvent HostsPStateChangedEvent HostsTurnedOnOffEvent JobCompletedEvent"
            " JobSubmittedEvent JobsKilledEvent ProbeDataEmittedEvent RequestedCallEvent SimulationBeginsEvent"
            " SimulationEndsEvent",
        ),
        (
            V5.commands,
            "CallMeLaterEvent ChangeHostsPStateEvent CreateProbeEvent ExecuteJobEvent FinishRegistrationEvent"
            " ForceSimulationStopEvent KillJobsEvent RegisterJobEvent RegisterProfileEvent RejectJobEvent"
            " StopCallMeLaterEvent StopProbeEvent TurnOnOffHostsEvent",
        ),
    ],
)
def test_a_dialect_reads_these_names_and_no_others(forms: Forms, names: str) -> None:
    """Batsim 4 aborts on the names of 1.4, so a dialect must not know the other's."""
    assert sorted(forms.readers) == names.split()


@pytest.mark.parametrize("forms", [V4.events, V14.events, V14.commands])
def test_nop_is_read_and_never_written(forms: Forms) -> None:
    """The seed document's word for nothing: an empty list says it on the wire."""
    assert forms.readers["NOP"](1, {}) == Nop(1)
    assert Nop not in forms.writers


def test_v14_has_no_metadata() -> None:
    """SET_JOB_METADATA came with Batsim 2."""
    assert SetJobMetadata not in V14.commands.writers


def test_only_v14_has_resources_data() -> None:
    """The first message tells its dialect by that member."""
    assert dialect_of({"resources_data": []}) is V14


def test_any_other_beginning_is_v4() -> None:
    """So that a broken one is reported in the words of today's protocol."""
    assert dialect_of({}) is V4


@pytest.mark.parametrize(("dialect", "keeps"), [(V14, False), (V4, True), (V5, False)])
def test_texts_of_jobs_are_kept_by_batsim_4(dialect: Dialect, keeps: bool) -> None:
    """Algorithms ask before they attach a reason to a job."""
    assert dialect.keeps_metadata is keeps

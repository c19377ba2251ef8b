"""The two spellings of the protocol as tables: wire name, reader and writer of each event and command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.protocol import begins, command_forms, event_forms
from batsched_py.protocol.commands import (
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
from batsched_py.protocol.events import (
    Answer,
    FromJobMessage,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Nop,
    Notify,
    Query,
    RequestedCall,
    ResourceStateChanged,
    SimulationBegins,
    SimulationEnds,
)
from batsched_py.protocol.fields import Data

#: (timestamp, data) -> the typed value; raises FieldError. Those that read host sets take the highest number a host
#: may have, too.
Reader = Callable[..., Any]
#: The typed value -> data; raises FieldError.
Writer = Callable[[Any], dict[str, Any]]


class Form(Struct, frozen=True):
    """How one class stands on the wire. A form without a writer is only read; `names_hosts` if it holds host sets."""

    kind: type
    name: str
    read: Reader
    write: Writer | None
    names_hosts: bool = False


class Forms:
    """One direction of one dialect: forms by wire name for reading, by class for writing."""

    __slots__ = ("_forms", "readers", "writers")

    def __init__(self, *forms: Form) -> None:
        self._forms = forms
        #: Wire name -> reader.
        self.readers: Mapping[str, Reader] = {form.name: form.read for form in forms}
        #: Class -> (wire name, writer); what a dialect cannot say is absent.
        self.writers: Mapping[type, tuple[str, Writer]] = {
            form.kind: (form.name, form.write) for form in forms if form.write is not None
        }

    def within(self, highest: int) -> Forms:
        """The same, but that host sets with a host above `highest` are refused, before bits are made of them."""
        bounded = [
            replace(form, read=partial(form.read, highest=highest)) if form.names_hosts else form
            for form in self._forms
        ]
        return Forms(*bounded)


class Dialect(Struct, frozen=True):
    """A version of the protocol: its name and both directions."""

    name: str
    events: Forms
    commands: Forms

    def within(self, highest: int) -> Dialect:
        """The same version, but that host sets with a host above `highest` are refused."""
        return Dialect(self.name, self.events.within(highest), self.commands.within(highest))


_COMMON_EVENTS: Final = (
    Form(SimulationEnds, "SIMULATION_ENDS", event_forms.read_simulation_ends, event_forms.write_simulation_ends),
    Form(JobSubmitted, "JOB_SUBMITTED", event_forms.read_job_submitted, event_forms.write_job_submitted),
    Form(
        JobCompleted,
        "JOB_COMPLETED",
        event_forms.read_job_completed,
        event_forms.write_job_completed,
        names_hosts=True,
    ),
    Form(
        ResourceStateChanged,
        "RESOURCE_STATE_CHANGED",
        event_forms.read_resource_state_changed,
        event_forms.write_resource_state_changed,
        names_hosts=True,
    ),
    Form(RequestedCall, "REQUESTED_CALL", event_forms.read_requested_call, event_forms.write_requested_call),
    Form(FromJobMessage, "FROM_JOB_MSG", event_forms.read_from_job_message, event_forms.write_from_job_message),
    Form(Notify, "NOTIFY", event_forms.read_notify, event_forms.write_notify, names_hosts=True),
    Form(Nop, "NOP", event_forms.read_nop, None),
)

_COMMON_COMMANDS: Final = (
    Form(ExecuteJob, "EXECUTE_JOB", command_forms.read_execute_job, command_forms.write_execute_job, names_hosts=True),
    Form(RejectJob, "REJECT_JOB", command_forms.read_reject_job, command_forms.write_reject_job),
    Form(KillJob, "KILL_JOB", command_forms.read_kill_job, command_forms.write_kill_job),
    Form(CallMeLater, "CALL_ME_LATER", command_forms.read_call_me_later, command_forms.write_call_me_later),
    Form(
        SetResourceState,
        "SET_RESOURCE_STATE",
        command_forms.read_set_resource_state,
        command_forms.write_set_resource_state,
        names_hosts=True,
    ),
    Form(ToJobMessage, "TO_JOB_MSG", command_forms.read_to_job_message, command_forms.write_to_job_message),
)

#: Batsim 3 and 4.
V4: Final = Dialect(
    "v4",
    Forms(
        Form(SimulationBegins, "SIMULATION_BEGINS", begins.read_v4, begins.write_v4),
        Form(JobKilled, "JOB_KILLED", event_forms.read_job_killed, event_forms.write_job_killed_v4),
        Form(Query, "QUERY", event_forms.read_query, event_forms.write_query_v4),
        Form(Answer, "ANSWER", event_forms.read_answer, event_forms.write_answer),
        *_COMMON_EVENTS,
    ),
    Forms(
        Form(RegisterJob, "REGISTER_JOB", command_forms.read_register_job, command_forms.write_register_job),
        Form(
            RegisterProfile,
            "REGISTER_PROFILE",
            command_forms.read_register_profile,
            command_forms.write_register_profile,
        ),
        Form(
            SetJobMetadata,
            "SET_JOB_METADATA",
            command_forms.read_set_job_metadata,
            command_forms.write_set_job_metadata,
        ),
        Form(Query, "QUERY", command_forms.read_question_v4, command_forms.write_question_v4),
        Form(Answer, "ANSWER", event_forms.read_answer, event_forms.write_answer),
        Form(Notify, "NOTIFY", command_forms.read_notice_v4, command_forms.write_notice_v4),
        Form(
            ChangeJobState,
            "CHANGE_JOB_STATE",
            command_forms.read_change_job_state_v4,
            command_forms.write_change_job_state_v4,
        ),
        *_COMMON_COMMANDS,
    ),
)

#: The seed document's protocol, spoken by Batsim 1.
V14: Final = Dialect(
    "v1.4",
    Forms(
        Form(SimulationBegins, "SIMULATION_BEGINS", begins.read_v14, begins.write_v14),
        Form(JobKilled, "JOB_KILLED", event_forms.read_job_killed, event_forms.write_job_killed_v14),
        Form(Query, "QUERY_REQUEST", event_forms.read_query, event_forms.write_query_v14),
        Form(Answer, "QUERY_REPLY", event_forms.read_answer, event_forms.write_answer),
        *_COMMON_EVENTS,
    ),
    Forms(
        Form(RegisterJob, "SUBMIT_JOB", command_forms.read_submit_job, command_forms.write_submit_job),
        Form(
            RegisterProfile,
            "SUBMIT_PROFILE",
            command_forms.read_register_profile,
            command_forms.write_submit_profile,
        ),
        Form(Query, "QUERY_REQUEST", command_forms.read_question_v14, command_forms.write_question_v14),
        Form(Answer, "QUERY_REPLY", event_forms.read_answer, event_forms.write_answer),
        Form(Notify, "NOTIFY", command_forms.read_notice_v14, command_forms.write_notice_v14),
        Form(
            ChangeJobState,
            "CHANGE_JOB_STATE",
            command_forms.read_change_job_state_v14,
            command_forms.write_change_job_state_v14,
        ),
        Form(Nop, "NOP", event_forms.read_nop, None),
        *_COMMON_COMMANDS,
    ),
)

#: Name -> dialect.
DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in (V4, V14)}


def dialect_of(begins_data: Data) -> Dialect:
    """The dialect in which this SIMULATION_BEGINS is written: only v1.4 has `resources_data`."""
    return V14 if "resources_data" in begins_data else V4


def highest_host(begins_data: Data) -> int:
    """The highest number that a host of this SIMULATION_BEGINS may have, whether it was checked or not.

    Batsim counts hosts from 0 without a gap; gaps are legal, but a few hosts cannot make host sets large.
    """
    return begins.highest_of(begins.count_resources(begins_data))

"""Commands on the wire: a reader and a writer of the data of each, and the tables of both dialects at the end.

Readers and writers are as strict as real Batsim, which aborts or crashes on what they refuse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sized
from functools import partial
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.bits import MAX_HOST, format_bits
from batsched_py.hostset import HostSet
from batsched_py.model.profile import FORMER_NAMES
from batsched_py.protocol.codec import PLAIN
from batsched_py.protocol.commands import (
    SETTABLE_STATES,
    SETTABLE_STATES_V14,
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
from batsched_py.protocol.events import CONTINUE_REGISTRATION, REGISTRATION_FINISHED, Answer, Nop, Notify, Query
from batsched_py.protocol.fields import (
    Data,
    check_job_id,
    check_pstate,
    finite,
    hosts,
    mapping,
    number,
    optional_mapping,
    read_job,
    rest,
    text,
    texts,
)
from batsched_py.protocol.forms import Form, Forms
from batsched_py.protocol.task_gpus import TASK_GPUS, read_task_gpus, write_task_gpus
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

# What Batsim would abort on is refused at both ends by rules that they share: the writer refuses it before it is sent,
# so that an algorithm's error has a name and a place, and the reader of the simulator refuses it as Batsim does, so
# that it is found without Batsim. Many rules look arbitrary (the number of members, single blanks between intervals):
# they are those of Batsim's parser.
#
# An algorithm may put anything into a command, so writers check finite numbers and depth, which JSON or orjson would
# turn into something else. A command of an algorithm that is unusual in any way is never handed over unwritten
# (`*_as_read`).

#: The two notices that a decision process may send -> their names in each dialect.
_NOTICES: Final = {REGISTRATION_FINISHED: REGISTRATION_FINISHED, CONTINUE_REGISTRATION: CONTINUE_REGISTRATION}
_TASK_MEMBERS: Final = frozenset({TASK_GPUS})
_NOTICES_V14: Final = {REGISTRATION_FINISHED: "submission_finished", CONTINUE_REGISTRATION: "continue_submission"}


def _read_execute_job(timestamp: float, data: Data, highest: int = MAX_HOST) -> ExecuteJob:
    if TASK_GPUS in data:
        command = _read_execute_job(timestamp, rest(data, _TASK_MEMBERS), highest)
        return replace(command, places=read_task_gpus(data[TASK_GPUS], command.hosts, command.mapping))
    if len(data) > 3:
        raise FieldError("", f"must have 2 or 3 members, not {len(data)}")
    alloc = text(data, "alloc")
    if "  " in alloc:
        raise FieldError("alloc", f"must have single blanks between intervals, not {shown(alloc)}")
    allocated = hosts(data, "alloc", highest)
    _check_some(allocated, "alloc", "host")
    if len(data) == 2:
        return ExecuteJob(timestamp, text(data, "job_id"), allocated)
    extra_io = optional_mapping(data, "additional_io_job")
    return ExecuteJob(
        timestamp,
        text(data, "job_id"),
        allocated,
        _read_mapping(optional_mapping(data, "mapping")),
        _read_storage_mapping(optional_mapping(data, "storage_mapping")),
        None if extra_io is None else _read_additional_io(extra_io, highest),
    )


def _write_execute_job(command: ExecuteJob) -> dict[str, Any]:
    if not command.hosts.bits:
        raise FieldError("alloc", "must name at least one host")
    if command.overrides or command.placement != "spread":
        raise FieldError("", "cannot place profiles of a sequence, nor fill hosts: Batsim 5 alone does")
    data: dict[str, Any] = {"job_id": command.job_id, "alloc": format_bits(command.hosts.bits)}
    if command.mapping is not None:
        _check_mapping(command.mapping, len(command.hosts))
        data["mapping"] = {str(executor): str(position) for executor, position in command.mapping.items()}
    if command.storage_mapping is not None:
        _check_storages(command.storage_mapping)
        data["storage_mapping"] = dict(command.storage_mapping)
    if command.additional_io is not None:
        data["additional_io_job"] = _write_additional_io(command.additional_io)
    if len(data) > 3:
        raise FieldError("", "may have one of mapping, storage_mapping and additional_io_job, not more")
    if command.places:
        data[TASK_GPUS] = write_task_gpus(command.places)
    return data


def _execute_job_as_read(command: ExecuteJob) -> ExecuteJob | None:
    plain = command.mapping is None and command.storage_mapping is None and command.additional_io is None
    spread = command.placement == "spread" and not command.overrides
    named = type(command.job_id) is str  # a job of the algorithm may have an id of another type
    return command if plain and spread and named and command.hosts.bits and not command.places else None


def _read_reject_job(timestamp: float, data: Data) -> RejectJob:
    _only(data, {"job_id"})
    return RejectJob(timestamp, text(data, "job_id"))


def _read_kill_job(timestamp: float, data: Data) -> KillJob:
    _only(data, {"job_ids"})
    job_ids = texts(data, "job_ids")
    _check_some(job_ids, "job_ids", "job")
    return KillJob(timestamp, job_ids)


def _write_kill_job(command: KillJob) -> dict[str, Any]:
    _check_some(command.job_ids, "job_ids", "job")
    return {"job_ids": list(command.job_ids)}


def _read_call_me_later(timestamp: float, data: Data) -> CallMeLater:
    return CallMeLater(timestamp, number(data, "timestamp"))


def _write_call_me_later(command: CallMeLater) -> dict[str, Any]:
    at: Any = attrgetter("at")(command)  # an algorithm may give an integer that is too large for a float
    if not -math.inf < at < math.inf:
        raise FieldError("timestamp", f"must be a finite time, not {at!r}")
    return {"timestamp": at}


def _call_me_later_as_read(command: CallMeLater) -> CallMeLater | None:
    at: Any = attrgetter("at")(command)
    return command if type(at) is float and -math.inf < at < math.inf and not command.call_id else None


def _read_register_job(timestamp: float, data: Data) -> RegisterJob:
    """Ignore a `profile`, as real Batsim 4 does."""
    job_id = text(data, "job_id")
    check_job_id(job_id)
    described = optional_mapping(data, "job")
    if described is not None and "subtime" not in described:
        raise FieldError("job.subtime", "is missing; Batsim needs it")
    return RegisterJob(timestamp, job_id, None if described is None else read_job(job_id, described))


def _read_submit_job(timestamp: float, data: Data) -> RegisterJob:
    """Read v1.4's form, which may contain the profile. `subtime` is required, unlike in the document's examples."""
    profile = optional_mapping(data, "profile")
    return replace(_read_register_job(timestamp, data), profile=profile)


def _write_register_job(command: RegisterJob) -> dict[str, Any]:
    if command.profile is not None:
        check_job_id(command.job_id)
        raise FieldError("profile", "must be registered first with REGISTER_PROFILE; v4 does not read it here")
    return _write_job(command)


def _write_submit_job(command: RegisterJob) -> dict[str, Any]:
    data = _write_job(command)
    if command.profile is None:
        return data
    return {**data, "profile": former_profile(finite(command.profile, "profile"))}


def _write_job(command: RegisterJob) -> dict[str, Any]:
    check_job_id(command.job_id)
    if command.job is None:
        return {"job_id": command.job_id}
    if "subtime" not in command.job.members:
        raise FieldError("job.subtime", "is missing; Batsim needs it")
    members = finite(command.job.members, "job")
    read_job(command.job_id, members)
    return {"job_id": command.job_id, "job": members}


def _read_register_profile(timestamp: float, data: Data) -> RegisterProfile:
    return RegisterProfile(timestamp, text(data, "workload_name"), text(data, "profile_name"), mapping(data, "profile"))


def _write_submit_profile(command: RegisterProfile) -> dict[str, Any]:
    """Write the same as `_write_register_profile` with Batsim 1's names."""
    data = _write_register_profile(command)
    return {**data, "profile": former_profile(command.profile)}


def _write_register_profile(command: RegisterProfile) -> dict[str, Any]:
    profile = finite(command.profile, "profile")
    return {"workload_name": command.workload, "profile_name": command.name, "profile": profile}


def _read_set_resource_state(timestamp: float, data: Data, highest: int = MAX_HOST) -> SetResourceState:
    switched = hosts(data, "resources", highest)
    _check_some(switched, "resources", "host")
    state = text(data, "state")
    check_pstate(state)
    return SetResourceState(timestamp, switched, state)


def _write_set_resource_state(command: SetResourceState) -> dict[str, Any]:
    _check_some(command.hosts, "resources", "host")
    check_pstate(command.state)
    return {"resources": str(command.hosts), "state": command.state}


def _read_set_job_metadata(timestamp: float, data: Data) -> SetJobMetadata:
    metadata = text(data, "metadata")
    _check_metadata(metadata)
    return SetJobMetadata(timestamp, text(data, "job_id"), metadata)


def _write_set_job_metadata(command: SetJobMetadata) -> dict[str, Any]:
    _check_metadata(command.metadata)
    return {"job_id": command.job_id, "metadata": command.metadata}


def _read_change_job_state(timestamp: float, data: Data, settable: frozenset[str]) -> ChangeJobState:
    state = text(data, "job_state")
    _check_settable(state, settable)
    reason = text(data, "kill_reason") if "kill_reason" in data else None
    return ChangeJobState(timestamp, text(data, "job_id"), state, reason)


def _write_change_job_state(command: ChangeJobState, settable: frozenset[str]) -> dict[str, Any]:
    _check_settable(command.state, settable)
    data = {"job_id": command.job_id, "job_state": command.state}
    return data if command.kill_reason is None else {**data, "kill_reason": command.kill_reason}


def _read_to_job_message(timestamp: float, data: Data) -> ToJobMessage:
    return ToJobMessage(timestamp, text(data, "job_id"), text(data, "msg"))


def _write_to_job_message(command: ToJobMessage) -> dict[str, Any]:
    return {"job_id": command.job_id, "msg": command.message}


def _read_question_v4(timestamp: float, data: Data) -> Query:
    """Read a query more strictly than in an event: Batsim aborts on any member except `requests`."""
    _only(data, {"requests"})
    return Query(timestamp, mapping(data, "requests"))


def _read_question_v14(timestamp: float, data: Data) -> Query:
    """Refuse the level `requests` of the document: real Batsim 1.4 crashes on it."""
    if "requests" in data:
        raise FieldError("requests", "is not allowed here: Batsim 1.4 has the questions themselves in data")
    return Query(timestamp, data)


def _write_question_v4(command: Query) -> dict[str, Any]:
    _check_question(command)
    return {"requests": {"consumed_energy": {}}}


def _write_question_v14(command: Query) -> dict[str, Any]:
    """Omit the `requests` level, as `_read_question_v14` requires."""
    _check_question(command)
    return {"consumed_energy": {}}


def _read_notice(timestamp: float, data: Data, *, spelled: Mapping[str, str]) -> Notify:
    spelling = text(data, "type")
    for kind in _NOTICES:
        if spelled[kind] == spelling:
            return Notify(timestamp, kind)
    raise FieldError("type", f"must be {' or '.join(sorted(spelled.values()))}, not {shown(spelling)}")


def _write_notice(command: Notify, *, spelled: Mapping[str, str]) -> dict[str, Any]:
    if command.kind not in spelled:
        raise FieldError("type", f"must be {' or '.join(sorted(spelled))}, not {shown(command.kind)}")
    return {"type": spelled[command.kind]}


def former_profile(profile: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the profile with Batsim 1's names of its type and of `repeat`: `nb`, which a composed profile requires."""
    kind = profile.get("type")
    if isinstance(kind, str) and kind in FORMER_NAMES:
        return {**profile, "type": FORMER_NAMES[kind]}
    if kind == "composed" and "nb" not in profile:
        return {**rest(profile, frozenset({"repeat"})), "nb": profile.get("repeat", 1)}
    return profile


def _read_mapping(data: Data | None) -> Mapping[int, int] | None:
    if data is None:
        return None
    placed = {}
    for executor, position in data.items():
        try:
            placed[_counted(executor)] = _counted(position)
        except ValueError:
            raise FieldError(f"mapping.{executor}", f"must place a number on a number, not {shown(position)}") from None
    _check_executors(placed)
    return placed


def _counted(value: object) -> int:
    """Read a non-negative integer, as a number or as digits; ValueError otherwise."""
    if type(value) is int and value >= 0:
        return value
    if type(value) is str and value.isascii() and value.isdecimal():
        return int(value)
    raise ValueError


def _check_executors(placed: Mapping[int, int]) -> None:
    if not placed or sorted(placed) != list(range(len(placed))):
        raise FieldError("mapping", "must place the executors 0, 1, 2... without a gap")


def _check_mapping(placed: Mapping[int, int], host_count: int) -> None:
    _check_executors(placed)
    for executor, position in placed.items():
        if not 0 <= position < host_count:
            rule = f"must be a position in the allocation, from 0 to {host_count - 1}, not {position}"
            raise FieldError(f"mapping.{executor}", rule)


def _read_storage_mapping(data: Data | None) -> Mapping[str, int] | None:
    if data is None:
        return None
    _check_storages(data)
    for label, host in data.items():
        if type(host) is not int:
            raise FieldError(f"storage_mapping.{label}", f"must be a host's number, not {shown(host)}")
    return data


def _check_storages(storages: Mapping[str, Any]) -> None:
    if not storages:
        raise FieldError("storage_mapping", "must give at least one label its host")


def _read_additional_io(data: Data, highest: int) -> AdditionalIo:
    try:
        allocated: HostSet = hosts(data, "alloc", highest)
        return AdditionalIo(allocated, text(data, "profile_name"), optional_mapping(data, "profile"))
    except FieldError as error:
        raise FieldError(f"additional_io_job.{error.path}", error.rule) from None


def _write_additional_io(extra: AdditionalIo) -> dict[str, Any]:
    data: dict[str, Any] = {"alloc": str(extra.hosts), "profile_name": extra.profile_name}
    if extra.profile is None:
        return data
    return {**data, "profile": finite(extra.profile, "additional_io_job.profile")}


def _only(data: Data, names: set[str]) -> None:
    for name in rest(data, frozenset(names)):
        raise FieldError(name, "is not allowed here")


def _check_question(command: Query) -> None:
    if dict(command.requests) != {"consumed_energy": {}}:
        raise FieldError("requests", 'must be {"consumed_energy": {}}, the one question that Batsim answers')


def _check_some(named: Sized, path: str, what: str) -> None:
    if not named:
        raise FieldError(path, f"must name at least one {what}")


def _check_metadata(metadata: str) -> None:
    if '"' in metadata:
        raise FieldError("metadata", "must not hold a double quote")


def _check_settable(state: str, settable: frozenset[str]) -> None:
    if state not in settable:
        raise FieldError("job_state", f"must be one of {', '.join(sorted(settable))}, not {shown(state)}")


def _notice_form(spelled: Mapping[str, str]) -> Form:
    return Form(Notify, "NOTIFY", partial(_read_notice, spelled=spelled), partial(_write_notice, spelled=spelled))


def _state_form(settable: frozenset[str]) -> Form:
    read, write = _read_change_job_state, _write_change_job_state
    return Form(ChangeJobState, "CHANGE_JOB_STATE", partial(read, settable=settable), partial(write, settable=settable))


_COMMON: Final = (
    Form(
        ExecuteJob, "EXECUTE_JOB", _read_execute_job, _write_execute_job, names_hosts=True, as_read=_execute_job_as_read
    ),
    Form(
        RejectJob,
        "REJECT_JOB",
        _read_reject_job,
        lambda command: {"job_id": command.job_id},
        as_read=lambda command: command if type(command.job_id) is str else None,
    ),
    Form(KillJob, "KILL_JOB", _read_kill_job, _write_kill_job),
    Form(CallMeLater, "CALL_ME_LATER", _read_call_me_later, _write_call_me_later, as_read=_call_me_later_as_read),
    Form(SetResourceState, "SET_RESOURCE_STATE", _read_set_resource_state, _write_set_resource_state, names_hosts=True),
    Form(ToJobMessage, "TO_JOB_MSG", _read_to_job_message, _write_to_job_message),
)
#: Commands of Batsim 3 and 4.
V4: Final[Forms] = Forms(
    Form(RegisterJob, "REGISTER_JOB", _read_register_job, _write_register_job),
    Form(RegisterProfile, "REGISTER_PROFILE", _read_register_profile, _write_register_profile),
    Form(SetJobMetadata, "SET_JOB_METADATA", _read_set_job_metadata, _write_set_job_metadata),
    Form(Query, "QUERY", _read_question_v4, _write_question_v4),
    Form(Answer, "ANSWER", Answer, lambda command: finite(command.values, "")),
    _notice_form(_NOTICES),
    _state_form(SETTABLE_STATES),
    *_COMMON,
    envelope=PLAIN,
)
#: Commands of Batsim 1.
V14: Final[Forms] = Forms(
    Form(RegisterJob, "SUBMIT_JOB", _read_submit_job, _write_submit_job),
    Form(RegisterProfile, "SUBMIT_PROFILE", _read_register_profile, _write_submit_profile),
    Form(Query, "QUERY_REQUEST", _read_question_v14, _write_question_v14),
    Form(Answer, "QUERY_REPLY", Answer, lambda command: finite(command.values, "")),
    _notice_form(_NOTICES_V14),
    _state_form(SETTABLE_STATES_V14),
    Form(Nop, "NOP", lambda timestamp, _: Nop(timestamp), None),
    *_COMMON,
    envelope=PLAIN,
)

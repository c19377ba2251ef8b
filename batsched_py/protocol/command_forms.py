"""Reading and writing the data of each command, as strictly as real Batsim reads it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from batsched_py.hostset import MAX_HOST, HostSet, format_bits
from batsched_py.model.profile import FORMER_NAMES
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
from batsched_py.protocol.events import CONTINUE_REGISTRATION, REGISTRATION_FINISHED, Notify, Query
from batsched_py.protocol.fields import (
    Data,
    FieldError,
    check_finite,
    check_pstate,
    hosts,
    mapping,
    number,
    optional_mapping,
    rest,
    shown,
    text,
    texts,
)
from batsched_py.protocol.jobs import check_job_id, read_job

#: v4's names of the two notices a decision process may send -> v1.4's.
_NOTICES_V14: Final = {REGISTRATION_FINISHED: "submission_finished", CONTINUE_REGISTRATION: "continue_submission"}
_NOTICES_V4: Final = {old: new for new, old in _NOTICES_V14.items()}


def read_execute_job(timestamp: float, data: Data, highest: int = MAX_HOST) -> ExecuteJob:
    if len(data) > 3:
        raise FieldError("", f"must have 2 or 3 members, not {len(data)}")
    alloc = text(data, "alloc")
    if "  " in alloc:
        raise FieldError("alloc", f"must have single blanks between intervals, not {shown(alloc)}")
    allocated = hosts(data, "alloc", highest)
    if not allocated.bits:
        raise FieldError("alloc", "must name at least one host")
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


def write_execute_job(command: ExecuteJob) -> dict[str, Any]:
    if not command.hosts.bits:
        raise FieldError("alloc", "must name at least one host")
    data: dict[str, Any] = {"job_id": command.job_id, "alloc": format_bits(command.hosts.bits)}
    extras = 0
    if command.mapping is not None:
        extras += 1
        _check_mapping(command.mapping, len(command.hosts))
        data["mapping"] = {str(executor): str(position) for executor, position in command.mapping.items()}
    if command.storage_mapping is not None:
        extras += 1
        _check_storages(command.storage_mapping)
        data["storage_mapping"] = dict(command.storage_mapping)
    if command.additional_io is not None:
        extras += 1
        data["additional_io_job"] = _write_additional_io(command.additional_io)
    if extras > 1:
        raise FieldError("", "may have one of mapping, storage_mapping and additional_io_job, not more")
    return data


def read_reject_job(timestamp: float, data: Data) -> RejectJob:
    _only(data, {"job_id"})
    return RejectJob(timestamp, text(data, "job_id"))


def write_reject_job(command: RejectJob) -> dict[str, Any]:
    return {"job_id": command.job_id}


def read_kill_job(timestamp: float, data: Data) -> KillJob:
    _only(data, {"job_ids"})
    job_ids = texts(data, "job_ids")
    _check_some(job_ids)
    return KillJob(timestamp, job_ids)


def write_kill_job(command: KillJob) -> dict[str, Any]:
    _check_some(command.job_ids)
    return {"job_ids": list(command.job_ids)}


def read_call_me_later(timestamp: float, data: Data) -> CallMeLater:
    return CallMeLater(timestamp, number(data, "timestamp"))


def write_call_me_later(command: CallMeLater) -> dict[str, Any]:
    if not -math.inf < command.at < math.inf:
        raise FieldError("timestamp", f"must be a finite time, not {command.at!r}")
    return {"timestamp": command.at}


def read_register_job(timestamp: float, data: Data) -> RegisterJob:
    """Real Batsim does not look at a `profile` here, nor do we."""
    return _read_registered(timestamp, data, None)


def read_submit_job(timestamp: float, data: Data) -> RegisterJob:
    """v1.4: the profile may travel along. `subtime` is needed, although the document's examples lack it."""
    return _read_registered(timestamp, data, optional_mapping(data, "profile"))


def _read_registered(timestamp: float, data: Data, profile: Data | None) -> RegisterJob:
    job_id = text(data, "job_id")
    check_job_id(job_id)
    described = optional_mapping(data, "job")
    if described is not None and "subtime" not in described:
        raise FieldError("job.subtime", "is missing; Batsim needs it")
    return RegisterJob(timestamp, job_id, None if described is None else read_job(job_id, described), profile)


def write_register_job(command: RegisterJob) -> dict[str, Any]:
    check_job_id(command.job_id)
    if command.profile is not None:
        raise FieldError("profile", "must be registered first with REGISTER_PROFILE; v4 does not read it here")
    return _write_job(command)


def write_submit_job(command: RegisterJob) -> dict[str, Any]:
    check_job_id(command.job_id)
    data = _write_job(command)
    if command.profile is None:
        return data
    check_finite(command.profile, "profile")
    return {**data, "profile": former_profile(command.profile)}


def _write_job(command: RegisterJob) -> dict[str, Any]:
    if command.job is None:
        return {"job_id": command.job_id}
    if "subtime" not in command.job.members:
        raise FieldError("job.subtime", "is missing; Batsim needs it")
    check_finite(command.job.members, "job")
    read_job(command.job_id, command.job.members)
    return {"job_id": command.job_id, "job": dict(command.job.members)}


def read_register_profile(timestamp: float, data: Data) -> RegisterProfile:
    return RegisterProfile(timestamp, text(data, "workload_name"), text(data, "profile_name"), mapping(data, "profile"))


def write_submit_profile(command: RegisterProfile) -> dict[str, Any]:
    """v1.4: as `write_register_profile`, in Batsim 1's words."""
    data = write_register_profile(command)
    return {**data, "profile": former_profile(command.profile)}


def write_register_profile(command: RegisterProfile) -> dict[str, Any]:
    check_finite(command.profile, "profile")
    return {
        "workload_name": command.workload,
        "profile_name": command.name,
        "profile": dict(command.profile),
    }


def read_set_resource_state(timestamp: float, data: Data, highest: int = MAX_HOST) -> SetResourceState:
    switched = hosts(data, "resources", highest)
    if not switched:
        raise FieldError("resources", "must name at least one host")
    state = text(data, "state")
    check_pstate(state)
    return SetResourceState(timestamp, switched, state)


def write_set_resource_state(command: SetResourceState) -> dict[str, Any]:
    if not command.hosts:
        raise FieldError("resources", "must name at least one host")
    check_pstate(command.state)
    return {"resources": str(command.hosts), "state": command.state}


def read_set_job_metadata(timestamp: float, data: Data) -> SetJobMetadata:
    metadata = text(data, "metadata")
    _check_metadata(metadata)
    return SetJobMetadata(timestamp, text(data, "job_id"), metadata)


def write_set_job_metadata(command: SetJobMetadata) -> dict[str, Any]:
    _check_metadata(command.metadata)
    return {"job_id": command.job_id, "metadata": command.metadata}


def read_change_job_state_v4(timestamp: float, data: Data) -> ChangeJobState:
    return _read_change_job_state(timestamp, data, SETTABLE_STATES)


def read_change_job_state_v14(timestamp: float, data: Data) -> ChangeJobState:
    return _read_change_job_state(timestamp, data, SETTABLE_STATES_V14)


def _read_change_job_state(timestamp: float, data: Data, settable: frozenset[str]) -> ChangeJobState:
    state = text(data, "job_state")
    _check_settable(state, settable)
    reason = text(data, "kill_reason") if "kill_reason" in data else None
    return ChangeJobState(timestamp, text(data, "job_id"), state, reason)


def write_change_job_state_v4(command: ChangeJobState) -> dict[str, Any]:
    return _write_change_job_state(command, SETTABLE_STATES)


def write_change_job_state_v14(command: ChangeJobState) -> dict[str, Any]:
    return _write_change_job_state(command, SETTABLE_STATES_V14)


def _write_change_job_state(command: ChangeJobState, settable: frozenset[str]) -> dict[str, Any]:
    _check_settable(command.state, settable)
    data = {"job_id": command.job_id, "job_state": command.state}
    return data if command.kill_reason is None else {**data, "kill_reason": command.kill_reason}


def read_to_job_message(timestamp: float, data: Data) -> ToJobMessage:
    return ToJobMessage(timestamp, text(data, "job_id"), text(data, "msg"))


def write_to_job_message(command: ToJobMessage) -> dict[str, Any]:
    return {"job_id": command.job_id, "msg": command.message}


def read_question_v4(timestamp: float, data: Data) -> Query:
    """Stricter than `read_query`: Batsim aborts on any member but `requests`."""
    _only(data, {"requests"})
    return Query(timestamp, mapping(data, "requests"))


def read_question_v14(timestamp: float, data: Data) -> Query:
    """Real Batsim 1.4 crashes on the level `requests` that its document shows."""
    if "requests" in data:
        raise FieldError("requests", "is not allowed here: Batsim 1.4 has the questions themselves in data")
    return Query(timestamp, data)


def write_question_v4(command: Query) -> dict[str, Any]:
    _check_question(command)
    return {"requests": {"consumed_energy": {}}}


def write_question_v14(command: Query) -> dict[str, Any]:
    """Without the `requests` level that the document shows: real Batsim 1.4 crashes on it."""
    _check_question(command)
    return {"consumed_energy": {}}


def read_notice_v4(timestamp: float, data: Data) -> Notify:
    kind = text(data, "type")
    _check_notice(kind, _NOTICES_V14)
    return Notify(timestamp, kind)


def write_notice_v4(command: Notify) -> dict[str, Any]:
    _check_notice(command.kind, _NOTICES_V14)
    return {"type": command.kind}


def read_notice_v14(timestamp: float, data: Data) -> Notify:
    kind = text(data, "type")
    _check_notice(kind, _NOTICES_V4)
    return Notify(timestamp, _NOTICES_V4[kind])


def write_notice_v14(command: Notify) -> dict[str, Any]:
    _check_notice(command.kind, _NOTICES_V14)
    return {"type": _NOTICES_V14[command.kind]}


def former_profile(profile: Data) -> Data:
    """The profile under Batsim 1's name of its type; its name of `repeat` is `nb`, which a composed profile needs."""
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
    """A number from 0, as a number or as digits; ValueError otherwise."""
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


def _check_storages(storages: Data) -> None:
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
    check_finite(extra.profile, "additional_io_job.profile")
    return {**data, "profile": extra.profile}


def _only(data: Data, names: set[str]) -> None:
    for name in rest(data, frozenset(names)):
        raise FieldError(name, "is not allowed here")


def _check_question(command: Query) -> None:
    if dict(command.requests) != {"consumed_energy": {}}:
        raise FieldError("requests", 'must be {"consumed_energy": {}}, the one question that Batsim answers')


def _check_some(job_ids: tuple[str, ...]) -> None:
    if not job_ids:
        raise FieldError("job_ids", "must name at least one job")


def _check_metadata(metadata: str) -> None:
    if '"' in metadata:
        raise FieldError("metadata", "must not hold a double quote")


def _check_settable(state: str, settable: frozenset[str]) -> None:
    if state not in settable:
        raise FieldError("job_state", f"must be one of {', '.join(sorted(settable))}, not {shown(state)}")


def _check_notice(kind: str, allowed: Mapping[str, str]) -> None:
    if kind not in allowed:
        raise FieldError("type", f"must be {' or '.join(sorted(allowed))}, not {shown(kind)}")

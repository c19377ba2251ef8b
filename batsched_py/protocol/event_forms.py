"""Events on the wire: a reader and a writer of the data of each, and the tables of both dialects at the end.

Where the dialects differ, each has its own function or argument. Readers accept all messages that real Batsim has been
observed to send: undocumented members are kept in `extra`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from batsched_py.bits import MAX_HOST, format_bits
from batsched_py.protocol import begins, events
from batsched_py.protocol.codec import PLAIN, dump, loads
from batsched_py.protocol.events import COMPLETED_KILLED, FINAL_STATES, NO_MEMBERS, JobCompleted, JobSubmitted
from batsched_py.protocol.fields import (
    Data,
    check_job_id,
    check_pstate,
    finite,
    hosts,
    integer,
    mapping,
    optional_mapping,
    read_job,
    rest,
    text,
    texts,
)
from batsched_py.protocol.forms import Form, Forms
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

_SUBMITTED_MEMBERS: Final = frozenset({"job_id", "job", "profile"})
_COMPLETED_MEMBERS: Final = frozenset({"job_id", "job_state", "return_code", "alloc", "status", "kill_reason"})
#: v1.4's `status`, for the messages without `job_state`.
_STATE_OF_STATUS: Final = {
    "SUCCESS": events.COMPLETED_SUCCESSFULLY,
    "TIMEOUT": events.COMPLETED_WALLTIME_REACHED,
    "FAILED": events.COMPLETED_FAILED,
}
#: v1.4's `kill_reason` of a job that reached its walltime; its document gives this job the state COMPLETED_KILLED.
_WALLTIME_REASON: Final = "Walltime reached"
_KILLED_MEMBERS: Final = frozenset({"job_ids", "job_progress"})
#: Deeper progress trees are refused: composed profiles are not nested like that, but a hostile message might be.
MAX_NESTING: Final = 100
_STATE_MEMBERS: Final = frozenset({"resources", "state"})
_MACHINE_KINDS: Final = frozenset({events.MACHINE_AVAILABLE, events.MACHINE_UNAVAILABLE})
_MESSAGE_MEMBERS: Final = frozenset({"job_id", "msg"})


def _write_extra(event: events.SimulationEnds | events.RequestedCall) -> dict[str, Any]:
    return dict(event.extra)


def _read_job_submitted(timestamp: float, data: Data) -> JobSubmitted:
    job_id = text(data, "job_id")
    check_job_id(job_id)
    described = data.get("job")
    if described is None:
        job = None
    elif type(described) is dict:
        job = read_job(job_id, described, timestamp)
    else:
        raise FieldError("job", f"must be an object, not {shown(described)}")
    known = 1 + ("job" in data)
    if len(data) == known:
        return JobSubmitted(timestamp, job_id, job)
    return JobSubmitted(timestamp, job_id, job, optional_mapping(data, "profile"), rest(data, _SUBMITTED_MEMBERS))


def _write_job_submitted(event: JobSubmitted) -> dict[str, Any]:
    data: dict[str, Any] = {"job_id": event.job_id}
    if event.job is not None:
        data["job"] = event.job.members
    if event.profile is not None:
        data["profile"] = event.profile
    return {**data, **event.extra} if event.extra else data


def _job_submitted_as_read(event: JobSubmitted) -> JobSubmitted | None:
    """Read the job again from its members, for a copy with the same precision as in a message."""
    job = event.job
    if job is None or event.profile is not None or event.extra:
        return None
    try:
        check_job_id(event.job_id)
        read = read_job(event.job_id, loads(dump(job.members)), event.timestamp)
        return JobSubmitted(event.timestamp, event.job_id, read)
    except (TypeError, FieldError):
        return None


def _read_job_completed(timestamp: float, data: Data, highest: int = MAX_HOST) -> JobCompleted:
    """Read both dialects: v1.4 has `status` and `kill_reason`, v3 and later `alloc`.

    The state takes precedence over `status`, and the reason in v1.4's document over COMPLETED_KILLED: the walltime was
    reached.
    """
    state = data.get("job_state")
    if state is None and "status" in data:
        state = _STATE_OF_STATUS.get(text(data, "status"))
        if state is None:
            raise FieldError("status", f"must be {' or '.join(_STATE_OF_STATUS)}, not {shown(data['status'])}")
    if type(state) is not str or state not in FINAL_STATES:
        raise FieldError("job_state", f"must be a final state of a job, not {shown(state)}")
    known = ("job_state" in data) + ("return_code" in data) + ("alloc" in data) + 1
    plain = len(data) == known
    if not plain and state == COMPLETED_KILLED and data.get("kill_reason") == _WALLTIME_REASON:
        state = events.COMPLETED_WALLTIME_REACHED
    return JobCompleted(
        timestamp,
        text(data, "job_id"),
        state,
        integer(data, "return_code") if "return_code" in data else None,
        hosts(data, "alloc", highest) if "alloc" in data else None,
        None if plain or "status" not in data else text(data, "status"),
        None if plain or "kill_reason" not in data else text(data, "kill_reason"),
        NO_MEMBERS if plain else rest(data, _COMPLETED_MEMBERS),
    )


def _write_job_completed(event: JobCompleted) -> dict[str, Any]:
    data: dict[str, Any] = {"job_id": event.job_id}
    if event.status is not None:
        data["status"] = event.status
    data["job_state"] = event.state
    if event.return_code is not None:
        data["return_code"] = event.return_code
    if event.kill_reason is not None:
        data["kill_reason"] = event.kill_reason
    if event.hosts is not None:
        data["alloc"] = format_bits(event.hosts.bits)
    return {**data, **event.extra} if event.extra else data


def _job_completed_as_read(event: JobCompleted) -> JobCompleted | None:
    if event.hosts is None or not event.hosts.bits or event.state not in FINAL_STATES:
        return None
    return event if event.status is None and event.kill_reason is None and event.extra is NO_MEMBERS else None


def _call_as_read(event: events.RequestedCall) -> events.RequestedCall | None:
    return None if event.extra or event.call_id or event.last else events.RequestedCall(event.timestamp, {})


def read_progress(data: Data, depth: int = 0) -> events.Progress:
    """Read one node of `job_progress`, under either name of its profile member (E9)."""
    if depth == MAX_NESTING:
        raise FieldError("current_task", f"must not nest deeper than {MAX_NESTING}")
    profile = text(data, "profile_name" if "profile_name" in data else "profile")
    if "current_task_index" not in data:
        progress = data.get("progress")
        if type(progress) is not float and type(progress) is not int:
            raise FieldError("progress", f"must be a number, not {shown(progress)}")
        return events.Progress(profile, progress)
    step = integer(data, "current_task_index")
    if "current_task" not in data:
        return events.Progress(profile, None, step)
    task = mapping(data, "current_task")
    try:
        return events.Progress(profile, None, step, read_progress(task, depth + 1))
    except FieldError as error:
        raise FieldError(f"current_task.{error.path}", error.rule) from None


def write_progress(progress: events.Progress, profile_key: str) -> dict[str, Any]:
    """Write the form that `read_progress` reads; dialects differ in the name of the profile member."""
    node: dict[str, Any] = {profile_key: progress.profile}
    if progress.step is None:
        node["progress"] = progress.progress
        return node
    node["current_task_index"] = progress.step
    if progress.current is not None:
        node["current_task"] = write_progress(progress.current, profile_key)
    if progress.repetition is not None:
        node["current_repetition"] = progress.repetition
    return node


def _read_job_killed(timestamp: float, data: Data) -> events.JobKilled:
    job_ids = texts(data, "job_ids")
    nodes = optional_mapping(data, "job_progress") or {}
    progress = {}
    for job_id in nodes:
        try:
            progress[job_id] = read_progress(mapping(nodes, job_id))
        except FieldError as error:
            raise FieldError(f"job_progress.{job_id}.{error.path}", error.rule) from None
    return events.JobKilled(timestamp, job_ids, progress, rest(data, _KILLED_MEMBERS), "job_progress" in data)


def _write_job_killed(event: events.JobKilled, *, profile_key: str) -> dict[str, Any]:
    if not event.has_progress:
        return {"job_ids": list(event.job_ids), **event.extra}
    progress = {job_id: write_progress(node, profile_key) for job_id, node in event.progress.items()}
    return {"job_ids": list(event.job_ids), "job_progress": progress, **event.extra}


def _read_resource_state_changed(timestamp: float, data: Data, highest: int = MAX_HOST) -> events.ResourceStateChanged:
    changed, state = hosts(data, "resources", highest), text(data, "state")
    check_pstate(state)
    return events.ResourceStateChanged(timestamp, changed, state, rest(data, _STATE_MEMBERS))


def _write_resource_state_changed(event: events.ResourceStateChanged) -> dict[str, Any]:
    return {"resources": str(event.hosts), "state": event.state, **event.extra}


def _read_from_job_message(timestamp: float, data: Data) -> events.FromJobMessage:
    return events.FromJobMessage(timestamp, text(data, "job_id"), data.get("msg"), rest(data, _MESSAGE_MEMBERS))


def _write_from_job_message(event: events.FromJobMessage) -> dict[str, Any]:
    return {"job_id": event.job_id, "msg": event.message, **event.extra}


def _read_query(timestamp: float, data: Data) -> events.Query:
    """Read `{"requests": {...}}`; real v1.4 has the requests without that level."""
    return events.Query(timestamp, mapping(data, "requests") if "requests" in data else data)


def _write_query_v4(event: events.Query) -> dict[str, Any]:
    return {"requests": finite(event.requests, "requests")}


def _write_query_v14(event: events.Query) -> dict[str, Any]:
    """Omit the `requests` level of the document: real Batsim 1.4 crashes on it."""
    return finite(event.requests, "")


def _read_notify(timestamp: float, data: Data, highest: int = MAX_HOST) -> events.Notify:
    """Accept any kind; a forwarded unknown event is the event object itself, and its `resources` may be of any type."""
    kind = text(data, "type")
    return events.Notify(timestamp, kind, hosts(data, "resources", highest) if kind in _MACHINE_KINDS else None, data)


def _write_notify(event: events.Notify) -> dict[str, Any]:
    if event.members:
        return dict(event.members)
    data: dict[str, Any] = {"type": event.kind}
    if event.hosts is not None:
        data["resources"] = str(event.hosts)
    return data


_COMMON: Final = (
    Form(events.SimulationEnds, "SIMULATION_ENDS", events.SimulationEnds, _write_extra),
    Form(JobSubmitted, "JOB_SUBMITTED", _read_job_submitted, _write_job_submitted, as_read=_job_submitted_as_read),
    Form(
        JobCompleted,
        "JOB_COMPLETED",
        _read_job_completed,
        _write_job_completed,
        names_hosts=True,
        as_read=_job_completed_as_read,
    ),
    Form(
        events.ResourceStateChanged,
        "RESOURCE_STATE_CHANGED",
        _read_resource_state_changed,
        _write_resource_state_changed,
        names_hosts=True,
    ),
    Form(events.RequestedCall, "REQUESTED_CALL", events.RequestedCall, _write_extra, as_read=_call_as_read),
    Form(events.FromJobMessage, "FROM_JOB_MSG", _read_from_job_message, _write_from_job_message),
    Form(events.Notify, "NOTIFY", _read_notify, _write_notify, names_hosts=True),
    Form(events.Nop, "NOP", lambda timestamp, _: events.Nop(timestamp), None),
)
#: Events of Batsim 3 and 4.
V4: Final[Forms] = Forms(
    Form(events.SimulationBegins, "SIMULATION_BEGINS", begins.read_v4, begins.write_v4),
    Form(events.JobKilled, "JOB_KILLED", _read_job_killed, partial(_write_job_killed, profile_key="profile_name")),
    Form(events.Query, "QUERY", _read_query, _write_query_v4),
    Form(events.Answer, "ANSWER", events.Answer, lambda event: finite(event.values, "")),
    *_COMMON,
    envelope=PLAIN,
)
#: Events of Batsim 1.
V14: Final[Forms] = Forms(
    Form(events.SimulationBegins, "SIMULATION_BEGINS", begins.read_v14, begins.write_v14),
    Form(events.JobKilled, "JOB_KILLED", _read_job_killed, partial(_write_job_killed, profile_key="profile")),
    Form(events.Query, "QUERY_REQUEST", _read_query, _write_query_v14),
    Form(events.Answer, "QUERY_REPLY", events.Answer, lambda event: finite(event.values, "")),
    *_COMMON,
    envelope=PLAIN,
)

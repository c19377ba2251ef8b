"""Events of Batsim 5: a reader and a writer of each, and the table."""

from __future__ import annotations

from typing import Any, Final

import orjson

from batsched_py.bits import MAX_HOST
from batsched_py.protocol import events
from batsched_py.protocol.batsim5.begins import read_begins, write_begins
from batsched_py.protocol.batsim5.envelope import ENVELOPE
from batsched_py.protocol.batsim5.jobs import read_job, write_job
from batsched_py.protocol.batsim5.profiles import read_profile, write_profile
from batsched_py.protocol.batsim5.progress import read_killed, write_killed
from batsched_py.protocol.events import JobCompleted, JobSubmitted, Notify
from batsched_py.protocol.fields import (
    Data,
    array,
    boolean,
    check_job_id,
    hosts,
    integer,
    mapping,
    number,
    rest,
    text,
)
from batsched_py.protocol.forms import Form, Forms
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

_SUBMITTED_MEMBERS: Final = frozenset({"job_id", "job", "submission_time", "profile"})
_COMPLETED_MEMBERS: Final = frozenset({"job_id", "state", "return_code"})
_CALL_MEMBERS: Final = frozenset({"call_me_later_id", "last_periodic_call"})
_PROBE_MEMBERS: Final = frozenset({"probe_id", "resources_type", "resources", "data_type", "data"})
#: Return codes are unsigned on the wire: -1 is 4294967295.
_WRAP: Final = 2**32
#: The type in the text of an external event -> the notice of Batsim 4. Batsim 5 itself has no failures.
MACHINES: Final = {
    "machine_available": events.MACHINE_AVAILABLE,
    "machine_unavailable": events.MACHINE_UNAVAILABLE,
    events.MACHINE_AVAILABLE: events.MACHINE_AVAILABLE,
    events.MACHINE_UNAVAILABLE: events.MACHINE_UNAVAILABLE,
}
#: Kind of a notice whose external event has no type.
GENERIC: Final = "generic"


def _read_submitted(timestamp: float, data: Data) -> JobSubmitted:
    job_id = text(data, "job_id")
    check_job_id(job_id)
    submit_time = data.get("submission_time", 0.0)
    if (type(submit_time) is not float and type(submit_time) is not int) or submit_time < 0:
        raise FieldError("submission_time", f"must be a number of seconds from 0, not {shown(submit_time)}")
    job = read_job(job_id, mapping(data, "job"), submit_time)
    if len(data) == 3:
        return JobSubmitted(timestamp, job_id, job)
    members = read_profile(data["profile"], "profile")[2] if "profile" in data else None
    return JobSubmitted(timestamp, job_id, job, members, rest(data, _SUBMITTED_MEMBERS))


def _write_submitted(event: JobSubmitted) -> dict[str, Any]:
    job = event.job
    if job is None:
        raise FieldError("job", "is missing, and Batsim 5 has no Redis to keep it in")
    # Batsim 5 writes floats, and compiled wheels read a float where a workload has an integer.
    submitted = float(job.submit_time)
    data = {"job_id": event.job_id, "job": write_job(job, always=True), "submission_time": submitted}
    if event.profile is not None:
        data["profile"] = write_profile(job.workload, job.profile, event.profile)
    return {**data, **event.extra} if event.extra else data


def _read_completed(timestamp: float, data: Data) -> JobCompleted:
    state = data.get("state", events.COMPLETED_SUCCESSFULLY)
    if type(state) is not str or state not in events.FINAL_STATES:
        raise FieldError("state", f"must be a final state of a job, not {shown(state)}")
    code = integer(data, "return_code") if "return_code" in data else 0
    if code >= _WRAP // 2:
        code -= _WRAP
    extra = events.NO_MEMBERS if len(data) == 3 else rest(data, _COMPLETED_MEMBERS)
    return JobCompleted(timestamp, text(data, "job_id"), state, code, extra=extra)


def _write_completed(event: JobCompleted) -> dict[str, Any]:
    code = event.return_code or 0
    data = {"job_id": event.job_id, "state": event.state, "return_code": code % _WRAP}
    return {**data, **event.extra} if event.extra else data


def _read_pstate_changed(timestamp: float, data: Data, highest: int = MAX_HOST) -> events.ResourceStateChanged:
    changed, extra = hosts(data, "host_ids", highest), rest(data, frozenset({"host_ids", "pstate"}))
    return events.ResourceStateChanged(timestamp, changed, _pstate(data, "pstate"), extra)


def _read_turned(timestamp: float, data: Data, highest: int = MAX_HOST) -> events.ResourceStateChanged:
    turned, extra = hosts(data, "host_ids", highest), rest(data, frozenset({"host_ids", "state"}))
    return events.ResourceStateChanged(timestamp, turned, _pstate(data, "state"), extra, turned=True)


def _write_state_changed(event: events.ResourceStateChanged) -> dict[str, Any]:
    member = "state" if event.turned else "pstate"
    return {"host_ids": str(event.hosts), member: int(event.state), **event.extra}


def _pstate(data: Data, key: str) -> str:
    value = data.get(key, 0)
    if type(value) is not int or not 0 <= value < 10**9:
        raise FieldError(key, f"must be the number of a pstate, not {shown(value)}")
    return str(value)


def _read_call(timestamp: float, data: Data) -> events.RequestedCall:
    extra, last = rest(data, _CALL_MEMBERS), boolean(data, "last_periodic_call", False)
    return events.RequestedCall(timestamp, extra, text(data, "call_me_later_id"), last)


def _write_call(event: events.RequestedCall) -> dict[str, Any]:
    return {"call_me_later_id": event.call_id, "last_periodic_call": event.last, **event.extra}


def _read_external(timestamp: float, data: Data, highest: int = MAX_HOST) -> Notify:
    """Read an external event, whose text is free. A text that is a JSON object with a `type` gives the notice."""
    about = mapping(data, "external_event")
    content = text(about, "data")
    source = events.EventSource(text(data, "id"), content)
    members = _object(content)
    kind = members.get("type")
    if type(kind) is not str:
        return Notify(timestamp, GENERIC, None, {"type": GENERIC, "data": content}, source)
    if kind not in MACHINES:
        return Notify(timestamp, kind, None, members, source)
    try:
        concerned = hosts(members, "resources", highest)
    except FieldError as error:
        raise FieldError(f"external_event.data.{error.path}", error.rule) from None
    return Notify(timestamp, MACHINES[kind], concerned, members, source)


def _object(content: str) -> dict[str, Any]:
    """Return the JSON object in a text, or an empty one."""
    try:
        members = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return members if type(members) is dict else {}


def _write_notify(event: Notify) -> dict[str, Any]:
    if event.source is None:
        if event.kind in _NOTICES:
            return {}
        raise FieldError("type", f"{event.kind} needs an external event, which has an id and a text")
    about = {"data": event.source.text}
    return {"id": event.source.id, "external_event_type": "GenericExternalEvent", "external_event": about}


def _notice_name(event: Notify) -> str:
    return _NOTICES.get(event.kind, _EXTERNAL) if event.source is None else _EXTERNAL


def _read_probe_data(timestamp: float, data: Data, highest: int = MAX_HOST) -> events.ProbeData:
    content, kind = mapping(data, "data"), text(data, "data_type")
    watched = hosts(mapping(data, "resources"), "host_ids", highest)
    extra, aggregated = rest(data, _PROBE_MEMBERS), kind == "AggregatedProbeData"
    if aggregated:
        values: tuple[float, ...] = (number(content, "data"),)
    else:
        listed = array(content, "data")
        values = tuple(number({"data": value}, "data") for value in listed)
    return events.ProbeData(timestamp, text(data, "probe_id"), watched, values, aggregated, extra)


def _write_probe_data(event: events.ProbeData) -> dict[str, Any]:
    content: Any = event.values[0] if event.aggregated else list(event.values)
    return {
        "probe_id": event.probe_id,
        "resources_type": "HostResources",
        "resources": {"host_ids": str(event.hosts)},
        "data_type": "AggregatedProbeData" if event.aggregated else "VectorialProbeData",
        "data": {"data": content},
        **event.extra,
    }


_EXTERNAL: Final = "ExternalEventOccurredEvent"
_ALL_SUBMITTED: Final = "AllStaticJobsHaveBeenSubmittedEvent"
_ALL_INJECTED: Final = "AllStaticExternalEventsHaveBeenInjectedEvent"
#: Notices that are events of their own.
_NOTICES: Final = {events.NO_MORE_STATIC_JOB: _ALL_SUBMITTED, events.NO_MORE_EXTERNAL_EVENT: _ALL_INJECTED}


def _all_submitted(timestamp: float, _: Data) -> Notify:
    return Notify(timestamp, events.NO_MORE_STATIC_JOB)


def _all_injected(timestamp: float, _: Data) -> Notify:
    return Notify(timestamp, events.NO_MORE_EXTERNAL_EVENT)


#: Events of Batsim 5.
V5: Final[Forms] = Forms(
    Form(events.SimulationBegins, "SimulationBeginsEvent", read_begins, write_begins),
    Form(events.SimulationEnds, "SimulationEndsEvent", events.SimulationEnds, lambda event: dict(event.extra)),
    Form(JobSubmitted, "JobSubmittedEvent", _read_submitted, _write_submitted),
    Form(JobCompleted, "JobCompletedEvent", _read_completed, _write_completed),
    Form(events.JobKilled, "JobsKilledEvent", read_killed, write_killed),
    Form(
        events.ResourceStateChanged,
        "HostsPStateChangedEvent",
        _read_pstate_changed,
        _write_state_changed,
        names_hosts=True,
        choose=lambda event: "HostsTurnedOnOffEvent" if event.turned else "HostsPStateChangedEvent",
    ),
    Form(events.ResourceStateChanged, "HostsTurnedOnOffEvent", _read_turned, None, names_hosts=True),
    Form(events.RequestedCall, "RequestedCallEvent", _read_call, _write_call),
    Form(Notify, _EXTERNAL, _read_external, _write_notify, names_hosts=True, choose=_notice_name),
    Form(Notify, _ALL_SUBMITTED, _all_submitted, None),
    Form(Notify, _ALL_INJECTED, _all_injected, None),
    Form(events.ProbeData, "ProbeDataEmittedEvent", _read_probe_data, _write_probe_data, names_hosts=True),
    envelope=ENVELOPE,
)

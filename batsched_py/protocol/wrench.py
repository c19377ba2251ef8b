"""WRENCH's form of the protocol: the messages of a simulator that starts `batsched` for its batch services.

WRENCH writes members of several versions: the resources of Batsim 1, the configuration and queries of Batsim 3 and 4.
Its hosts have numbers as texts, its jobs have no workload, no profile and no submission time, and an estimate is the
date of a start instead of a wait. Inside this program its jobs are those of a workload `wrench`, so that files and
recordings have ids as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from batsched_py.hostset import HostSet
from batsched_py.protocol import begins, command_forms, events
from batsched_py.protocol.codec import PLAIN
from batsched_py.protocol.commands import CallMeLater, ExecuteJob
from batsched_py.protocol.events import (
    Answer,
    DescribedHost,
    JobCompleted,
    JobSubmitted,
    Query,
    SimulationBegins,
    SimulationEnds,
)
from batsched_py.protocol.fields import Data, array, boolean, finite, mapping, read_job, rest, text
from batsched_py.protocol.forms import Envelope, Form, Forms
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

# Only the commands that WRENCH obeys have a form, and CALL_ME_LATER: it ignores all others without a message, so that a
# job which is rejected or to be killed would wait or run on. CALL_ME_LATER is ignored, too, but an algorithm loses
# nothing by it that an end of a job does not make up for.

#: The workload of all jobs, and the profile of each.
WORKLOAD: Final = "wrench"
PROFILE: Final = "unknown"
_PREFIX: Final = f"{WORKLOAD}!"
#: The status of a job that has reached its walltime; its state is COMPLETED_FAILED.
_TIMEOUT: Final = "TIMEOUT"
_BEGINS_MEMBERS: Final = frozenset({"nb_resources", "allow_time_sharing", "config", "resources_data"})
_HOST_MEMBERS: Final = frozenset({"id", "name", "state"})
_SUBMITTED_MEMBERS: Final = frozenset({"job_id", "job"})
_COMPLETED_MEMBERS: Final = frozenset({"job_id", "job_state", "status", "kill_reason"})
#: Maximum number of digits of a host's number.
_MOST_DIGITS: Final = 9


def is_from_wrench(begins_data: Data) -> bool:
    """Return whether this SIMULATION_BEGINS is WRENCH's: the numbers of its hosts are texts."""
    listed = begins_data.get("resources_data")
    first = listed[0] if type(listed) is list and listed else None
    return type(first) is dict and type(first.get("id")) is str


def _read_begins(timestamp: float, data: Data) -> SimulationBegins:
    listed = [_numbered(item, position) for position, item in enumerate(array(data, "resources_data"))]
    numbered = {"resources_data": listed}
    resources = begins.read_numbered(numbered, "resources_data", len(listed), _read_host)
    begins.check_count(data, "nb_resources", len(resources))
    return SimulationBegins(
        timestamp,
        resources,
        compute_sharing=boolean(data, "allow_time_sharing", False),
        config=begins.read_flat_config(mapping(data, "config")),
        extra=rest(data, _BEGINS_MEMBERS),
    )


def _numbered(item: Any, position: int) -> Any:
    """Return a host with its number as an integer."""
    number = item.get("id") if type(item) is dict else None
    if type(number) is str and number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS:
        return {**item, "id": int(number)}
    raise FieldError(f"resources_data[{position}].id", f"must be a number as a text, not {shown(number)}")


def _read_host(number: int, item: Data) -> DescribedHost:
    """Read a host. Its name becomes its number: WRENCH sends names in another order than that of its hosts."""
    text(item, "name")
    return DescribedHost(number, str(number), text(item, "state"), {}, extra=rest(item, _HOST_MEMBERS))


def _write_begins(event: SimulationBegins) -> dict[str, Any]:
    resources = [{"id": str(one.id), "name": one.name, "state": one.state, **one.extra} for one in event.resources]
    return {
        "allow_time_sharing": event.compute_sharing,
        "config": event.config.members or begins.write_flat_config(event.config),
        "nb_resources": len(event.resources),
        "resources_data": resources,
        **event.extra,
    }


def _read_job_id(data: Data) -> str:
    job_id = text(data, "job_id")
    if not job_id:
        raise FieldError("job_id", "must not be empty")
    return _PREFIX + job_id


def _written_id(job_id: str) -> str:
    if not job_id.startswith(_PREFIX):
        raise FieldError("job_id", f"must be {_PREFIX}name, not {shown(job_id)}")
    return job_id.removeprefix(_PREFIX)


def _described(described: Data) -> Data:
    """Return a description of a job with the profile that this program requires."""
    return {**described, "profile": PROFILE}


def _read_job_submitted(timestamp: float, data: Data) -> JobSubmitted:
    job_id = _read_job_id(data)
    job = read_job(job_id, _described(mapping(data, "job")), timestamp)
    extra = rest(data, _SUBMITTED_MEMBERS) if len(data) > len(_SUBMITTED_MEMBERS) else events.NO_MEMBERS
    return JobSubmitted(timestamp, job_id, job, None, extra)


def _write_job_submitted(event: JobSubmitted) -> dict[str, Any]:
    if event.job is None:
        raise FieldError("job", "is missing")
    described = {name: value for name, value in event.job.members.items() if name != "profile"}
    return {"job": described, "job_id": _written_id(event.job_id), **event.extra}


def _read_job_completed(timestamp: float, data: Data) -> JobCompleted:
    """Read an end: reached walltimes have a status of their own, and cancelled jobs may have waited."""
    state, status = text(data, "job_state"), text(data, "status")
    if state not in events.FINAL_STATES:
        raise FieldError("job_state", f"must be a final state of a job, not {shown(state)}")
    if status == _TIMEOUT:
        state = events.COMPLETED_WALLTIME_REACHED
    extra = rest(data, _COMPLETED_MEMBERS) if len(data) > len(_COMPLETED_MEMBERS) else events.NO_MEMBERS
    return JobCompleted(timestamp, _read_job_id(data), state, None, None, status, text(data, "kill_reason"), extra)


def _write_job_completed(event: JobCompleted) -> dict[str, Any]:
    late = event.state == events.COMPLETED_WALLTIME_REACHED
    return {
        "job_id": _written_id(event.job_id),
        "job_state": events.COMPLETED_FAILED if late else event.state,
        "kill_reason": event.kill_reason or "",
        "status": _TIMEOUT if late else event.status or "SUCCESS",
        **event.extra,
    }


def _read_query(timestamp: float, data: Data) -> Query:
    """Read a query; its id is a text of the user, which may be that of a job: only ids of jobs get the workload."""
    requests = mapping(data, "requests")
    asked = requests.get("estimate_waiting_time")
    if type(asked) is not dict or type(asked.get("job")) is not dict:
        return Query(timestamp, requests)
    return Query(timestamp, {**requests, "estimate_waiting_time": {**asked, "job": _described(asked["job"])}})


def _write_query(event: Query) -> dict[str, Any]:
    requests = finite(event.requests, "requests")
    asked = requests.get("estimate_waiting_time")
    if isinstance(asked, Mapping) and isinstance(asked.get("job"), Mapping):
        described = {name: value for name, value in asked["job"].items() if name != "profile"}
        requests["estimate_waiting_time"] = {**asked, "job": described}
    return {"requests": requests}


def _complete_end(event: Any, readers: Mapping[str, Any]) -> tuple[float, str, dict[str, Any]] | None:  # noqa: ARG001
    """Complete a SIMULATION_ENDS, whose data are null."""
    known = type(event) is dict and event.get("type") == "SIMULATION_ENDS" and event.get("data") is None
    if known and type(event.get("timestamp")) in (float, int):
        return event["timestamp"], "SIMULATION_ENDS", {}
    return None


def _read_execute_job(timestamp: float, data: Data, **bounds: int) -> ExecuteJob:
    named = {**data, "job_id": _read_job_id(data)}
    command: ExecuteJob = command_forms.V4.readers["EXECUTE_JOB"](timestamp, named, **bounds)
    return command


def _write_execute_job(command: ExecuteJob) -> dict[str, Any]:
    hosts: HostSet = command.hosts
    return {"job_id": _written_id(command.job_id), "alloc": str(hosts)}


_ENVELOPE: Final = Envelope(PLAIN.kind, PLAIN.data, PLAIN.parse, PLAIN.dump, _complete_end)
#: Events of WRENCH.
EVENTS: Final[Forms] = Forms(
    Form(SimulationBegins, "SIMULATION_BEGINS", _read_begins, _write_begins),
    Form(SimulationEnds, "SIMULATION_ENDS", SimulationEnds, lambda event: dict(event.extra)),
    Form(JobSubmitted, "JOB_SUBMITTED", _read_job_submitted, _write_job_submitted),
    Form(JobCompleted, "JOB_COMPLETED", _read_job_completed, _write_job_completed),
    Form(Query, "QUERY", _read_query, _write_query),
    envelope=_ENVELOPE,
)
#: Commands that WRENCH obeys, and calls.
COMMANDS: Final[Forms] = Forms(
    Form(ExecuteJob, "EXECUTE_JOB", _read_execute_job, _write_execute_job, names_hosts=True),
    Form(Answer, "ANSWER", Answer, lambda command: finite(command.values, "")),
    Form(
        CallMeLater,
        "CALL_ME_LATER",
        command_forms.V4.readers["CALL_ME_LATER"],
        command_forms.V4.writers[CallMeLater][1],
    ),
    envelope=_ENVELOPE,
)

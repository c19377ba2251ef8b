"""A run as facts: one for each job, host or thing that a message is about, however it is spelled.

A fact has an identity (its speaker, its kind, its subject), a time and details. The split of an instant into messages,
the order inside of them, the spelling and the dialect are gone. What is left out: the decided CALL_ME_LATER
(the calls that Batsim makes are facts), and what Batsim 1.4 ignores, a reply to SIMULATION_ENDS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct, field

from batsched_py.errors import RemoteProtocolError
from batsched_py.model.job import Job
from batsched_py.protocol import commands, events
from batsched_py.protocol.codec import decode
from batsched_py.protocol.conversation import STOP_EVENT
from batsched_py.protocol.dialects import V14, Dialect
from batsched_py.protocol.event_forms import write_progress
from batsched_py.protocol.events import Members
from batsched_py.text.display import shown
from batsched_py.text.representation import Brief
from batsched_py.transcripts.decisions import plain_command
from batsched_py.transcripts.transcript import Exchange


class FactKind(StrEnum):
    """Kinds of facts; the words of `diff --ignore`."""

    HOSTS = "hosts"
    CONFIGURATION = "configuration"
    PROFILES = "profiles"
    SUBMISSIONS = "submissions"
    REGISTRATIONS = "registrations"
    STARTS = "starts"
    ENDS = "ends"
    KILLS = "kills"
    REJECTIONS = "rejections"
    STATES = "states"
    METADATA = "metadata"
    MESSAGES = "messages"
    POWER = "power"
    MACHINES = "machines"
    CALLS = "calls"
    QUESTIONS = "questions"
    ANSWERS = "answers"
    NOTICES = "notices"
    CLOSING = "closing"
    UNKNOWN = "unknown"
    UNREADABLE = "unreadable"


#: Facts whose subject is a job.
JOB_KINDS: Final = frozenset(
    {
        FactKind.SUBMISSIONS,
        FactKind.REGISTRATIONS,
        FactKind.STARTS,
        FactKind.ENDS,
        FactKind.KILLS,
        FactKind.REJECTIONS,
        FactKind.STATES,
        FactKind.METADATA,
        FactKind.MESSAGES,
    }
)
#: Facts whose subject is a host's number.
HOST_KINDS: Final = frozenset({FactKind.HOSTS, FactKind.POWER, FactKind.MACHINES})
#: Details that are times.
TIMES: Final = frozenset({"submit_time"})
_AVAILABILITY: Final = {events.MACHINE_AVAILABLE: "available", events.MACHINE_UNAVAILABLE: "unavailable"}
_NO_DETAILS: Final[Members] = {}


class Fact(Struct, frozen=True):
    """One thing that happened or was decided.

    Attributes:
        told: True if it comes from Batsim, False if it was decided.
        kind: what it is about.
        subject: a job's id, a host's number as text, a name; "" where a kind has one subject only.
        time: when it happened, or when Batsim obeys; seconds.
        details: name -> value; None for what the dialect does not have.
    """

    told: bool
    kind: FactKind
    subject: str
    time: float
    details: Mapping[str, Any] = field(default_factory=dict)


class ExchangeFacts(Brief, frozen=True):
    """The facts of one exchange, and `now` of its request."""

    now: float
    facts: tuple[Fact, ...]


def read_facts(exchanges: Iterable[Exchange], dialect: Dialect) -> Iterator[ExchangeFacts]:
    """Yield the facts of each exchange, in the order of the messages."""
    now = 0.0
    for exchange in exchanges:
        try:
            message = decode(exchange.request, dialect.events, keep_unknown=True)
        except RemoteProtocolError:
            raw = exchange.request
            facts = [Fact(True, FactKind.UNREADABLE, "", now, {"bytes": shown(raw)})]
            ends = False
        else:
            now = message.now
            facts = [fact for event in message.events for fact in EVENT_FACTS[type(event)](event, dialect)]
            ends = any(type(event) is events.SimulationEnds for event in message.events)
        if not (ends and dialect.name == V14.name):
            facts += _decided(exchange.reply, now, dialect)
        yield ExchangeFacts(now, tuple(facts))


def _decided(reply: bytes, now: float, dialect: Dialect) -> Iterator[Fact]:
    try:
        message = decode(reply, dialect.commands, keep_unknown=True)
    except RemoteProtocolError:
        yield Fact(False, FactKind.UNREADABLE, "", now, {"bytes": shown(reply)})
        return
    for command in message.events:
        # Batsim waits for a time to come, and obeys at once if it is past.
        time = max(now, command.timestamp)
        yield from COMMAND_FACTS[type(command)](plain_command(command), time)


def _opening(event: events.SimulationBegins, dialect: Dialect) -> Iterator[Fact]:
    config, time = event.config, event.timestamp
    yield Fact(
        True,
        FactKind.CONFIGURATION,
        "",
        time,
        {
            "compute_sharing": event.compute_sharing,
            "dynamic_jobs": config.dynamic_jobs,
            "acknowledged": config.dynamic_jobs and config.dynamic_jobs_acknowledged,
            "profile_reuse": None if dialect.name == V14.name else config.profile_reuse,
            "scheduler_config": None if dialect.name == V14.name else config.scheduler_config,
        },
    )
    for resource in event.resources:
        yield _host(resource, "compute", time)
    for resource in event.storages:
        yield _host(resource, "storage", time)
    for workload, profiles in event.profiles.items():
        for name, profile in profiles.items():
            yield Fact(True, FactKind.PROFILES, f"{workload}!{name}", time, {"profile": profile})


def _host(resource: events.Resource, use: str, time: float) -> Fact:
    """Describe a host; a role that repeats `use` is no property, as only some versions write it."""
    properties = {key: value for key, value in resource.properties.items() if key != "role" or value not in ("", use)}
    details = {"name": resource.name, "use": use, "state": resource.state, "properties": properties}
    return Fact(True, FactKind.HOSTS, str(resource.id), time, {**details, "zone": resource.zone_properties})


def _closing(event: events.SimulationEnds, _: Dialect) -> Iterator[Fact]:
    yield Fact(True, FactKind.CLOSING, "", event.timestamp)


def _submission(event: events.JobSubmitted, _: Dialect) -> Iterator[Fact]:
    details = {**_job(event.job), "forwarded": event.profile}
    yield Fact(True, FactKind.SUBMISSIONS, event.job_id, event.timestamp, details)


def _job(job: Job | None) -> Members:
    """Describe a job; without details if it is described in Redis only."""
    if job is None:
        return _NO_DETAILS
    details = {"size": job.size, "walltime": job.walltime or "none", "profile": job.profile}
    return {**details, "submit_time": job.submit_time, "extra": dict(job.extra)}


def _end(event: events.JobCompleted, _: Dialect) -> Iterator[Fact]:
    details = {"state": event.state, "return_code": event.return_code, "hosts": event.hosts}
    yield Fact(True, FactKind.ENDS, event.job_id, event.timestamp, details)


def _kill_done(event: events.JobKilled, dialect: Dialect) -> Iterator[Fact]:
    """Yield the kills, and in v1.4 the ends, which it does not announce in any other way."""
    for job_id in event.job_ids:
        node = event.progress.get(job_id)
        if job_id in event.killed_ids and dialect.name == V14.name:
            yield Fact(True, FactKind.ENDS, job_id, event.timestamp, {"state": events.COMPLETED_KILLED})
        unknown = "ended before" if event.progress_told else "not told"
        progress = unknown if node is None else write_progress(node, "profile")
        yield Fact(True, FactKind.KILLS, job_id, event.timestamp, {"progress": progress})


def _power_reached(event: events.ResourceStateChanged, _: Dialect) -> Iterator[Fact]:
    for host in event.hosts:
        yield Fact(True, FactKind.POWER, str(host), event.timestamp, {"pstate": event.state})


def _call(event: events.RequestedCall, _: Dialect) -> Iterator[Fact]:
    yield Fact(True, FactKind.CALLS, "", event.timestamp)


def _job_said(event: events.FromJobMessage, _: Dialect) -> Iterator[Fact]:
    yield Fact(True, FactKind.MESSAGES, event.job_id, event.timestamp, {"message": event.message})


def _questions(event: events.Query, time: float, *, told: bool) -> Iterator[Fact]:
    for name, arguments in event.requests.items():
        yield Fact(told, FactKind.QUESTIONS, name, time, {"arguments": arguments})


def _answers(event: events.Answer, time: float, *, told: bool) -> Iterator[Fact]:
    joules = event.consumed_energy
    if joules is not None:
        yield Fact(told, FactKind.ANSWERS, "consumed_energy", time, {"answer": joules})
        return
    for name, value in event.values.items():
        yield Fact(told, FactKind.ANSWERS, name, time, {"answer": value})


def _notice(event: events.Notify, time: float, *, told: bool) -> Iterator[Fact]:
    if event.hosts is not None and event.kind in _AVAILABILITY:
        for host in event.hosts:
            yield Fact(told, FactKind.MACHINES, str(host), time, {"machine": _AVAILABILITY[event.kind]})
        return
    members = {name: value for name, value in event.members.items() if name != "type"}
    yield Fact(told, FactKind.NOTICES, event.kind, time, {"members": members})


def _nothing(*_: object) -> Iterator[Fact]:
    return iter(())


def _unknown(event: events.Unknown, time: float, *, told: bool) -> Iterator[Fact]:
    """Leave out the reason of a decision process that stops: files and lines of code are no facts of the run."""
    data = "(stopped)" if event.type == STOP_EVENT and not told else event.data
    yield Fact(told, FactKind.UNKNOWN, event.type, time, {"data": data})


def _start(command: commands.ExecuteJob, time: float) -> Iterator[Fact]:
    extras = {"storage": command.storage_mapping or "none", "additional_io": command.additional_io or "none"}
    details = {"hosts": command.hosts, "mapping": command.mapping or "usual", **extras}
    yield Fact(False, FactKind.STARTS, command.job_id, time, details)


def _rejection(command: commands.RejectJob, time: float) -> Iterator[Fact]:
    yield Fact(False, FactKind.REJECTIONS, command.job_id, time)


def _kill(command: commands.KillJob, time: float) -> Iterator[Fact]:
    for job_id in command.job_ids:
        yield Fact(False, FactKind.KILLS, job_id, time)


def _registration(command: commands.RegisterJob, time: float) -> Iterator[Fact]:
    """Yield the registration, and in v1.4 that of the profile that travels along."""
    if command.profile is not None and command.job is not None:
        name = f"{command.job.workload}!{command.job.profile}"
        yield Fact(False, FactKind.PROFILES, name, time, {"profile": command.profile})
    yield Fact(False, FactKind.REGISTRATIONS, command.job_id, time, _job(command.job))


def _profile(command: commands.RegisterProfile, time: float) -> Iterator[Fact]:
    yield Fact(False, FactKind.PROFILES, f"{command.workload}!{command.name}", time, {"profile": command.profile})


def _power(command: commands.SetResourceState, time: float) -> Iterator[Fact]:
    for host in command.hosts:
        yield Fact(False, FactKind.POWER, str(host), time, {"pstate": command.state})


def _metadata(command: commands.SetJobMetadata, time: float) -> Iterator[Fact]:
    yield Fact(False, FactKind.METADATA, command.job_id, time, {"metadata": command.metadata})


def _state(command: commands.ChangeJobState, time: float) -> Iterator[Fact]:
    """Leave out the reason, which Batsim 4 ignores."""
    yield Fact(False, FactKind.STATES, command.job_id, time, {"state": command.state})


def _message(command: commands.ToJobMessage, time: float) -> Iterator[Fact]:
    yield Fact(False, FactKind.MESSAGES, command.job_id, time, {"message": command.message})


#: Class of an event -> its facts.
EVENT_FACTS: Final[Mapping[type, Callable[[Any, Dialect], Iterator[Fact]]]] = {
    events.SimulationBegins: _opening,
    events.SimulationEnds: _closing,
    events.JobSubmitted: _submission,
    events.JobCompleted: _end,
    events.JobKilled: _kill_done,
    events.ResourceStateChanged: _power_reached,
    events.RequestedCall: _call,
    events.FromJobMessage: _job_said,
    events.Query: lambda event, _: _questions(event, event.timestamp, told=True),
    events.Answer: lambda event, _: _answers(event, event.timestamp, told=True),
    events.Notify: lambda event, _: _notice(event, event.timestamp, told=True),
    events.Nop: _nothing,
    events.Unknown: lambda event, _: _unknown(event, event.timestamp, told=True),
}

#: Class of a command -> its facts; the time is that at which Batsim obeys.
COMMAND_FACTS: Final[Mapping[type, Callable[[Any, float], Iterator[Fact]]]] = {
    commands.ExecuteJob: _start,
    commands.RejectJob: _rejection,
    commands.KillJob: _kill,
    commands.CallMeLater: _nothing,
    commands.RegisterJob: _registration,
    commands.RegisterProfile: _profile,
    commands.SetResourceState: _power,
    commands.SetJobMetadata: _metadata,
    commands.ChangeJobState: _state,
    commands.ToJobMessage: _message,
    events.Query: lambda command, time: _questions(command, time, told=False),
    events.Answer: lambda command, time: _answers(command, time, told=False),
    events.Notify: lambda command, time: _notice(command, time, told=False),
    events.Nop: _nothing,
    events.Unknown: lambda command, time: _unknown(command, time, told=False),
}

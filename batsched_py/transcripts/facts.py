"""A run as facts: one for each job, host or other subject of a message, independent of the encoding.

A fact has an identity (its speaker, its kind, its subject), a time and details, independent of the split of an instant
into messages, the order within messages, the encoding and the dialect. Excluded are the decided CALL_ME_LATER (calls by
Batsim are facts), and a reply to SIMULATION_ENDS, which Batsim 1.4 ignores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct, field

from batsched_py.errors import RemoteProtocolError
from batsched_py.model.job import Job
from batsched_py.protocol import commands, events
from batsched_py.protocol.batsim5.greeting import is_greeting, read_greeting, read_hello
from batsched_py.protocol.codec import decode
from batsched_py.protocol.dialect import V14, Dialect
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.event_forms import write_progress
from batsched_py.protocol.events import Members
from batsched_py.protocol.stopping import STOP_EVENT
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

#: (kind, subject, details) of a fact; its time and speaker are those of the event or command.
_About = tuple[FactKind, str, Members]
_Describe = Callable[[Any, Dialect], Iterable[_About]]


class Fact(Struct, frozen=True):
    """An event or a decision.

    Attributes:
        `is_event`: True for an event of Batsim, False for a decision.
        kind: kind of its subject.
        subject: a job's id, a host's number as text, a name; "" where a kind has one subject only.
        time: time of the event, or of the execution of the command by Batsim; seconds.
        details: name -> value; None for a detail that the dialect does not have.
    """

    is_event: bool
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
        if is_greeting(exchange.request):
            yield ExchangeFacts(now, _greeting(exchange))
            continue
        try:
            message = decode(exchange.request, dialect.events, keep_unknown=True)
        except RemoteProtocolError:
            facts = [Fact(True, FactKind.UNREADABLE, "", now, {"bytes": shown(exchange.request)})]
            ends = False
        else:
            now = message.now
            facts = [
                Fact(True, kind, subject, _time(event, now, dialect), details)
                for event in message.events
                for kind, subject, details in EVENT_FACTS[type(event)](event, dialect)
            ]
            ends = any(type(event) is events.SimulationEnds for event in message.events)
        if not (ends and dialect.name == V14.name):
            facts += _decided(exchange.reply, now, dialect)
        yield ExchangeFacts(now, tuple(facts))


def _time(event: events.Event, now: float, dialect: Dialect) -> float:
    """Return the time of an event; Batsim 5 gives some events the time of the previous one."""
    stale = type(event) is events.Notify and event.source is not None
    if stale or (dialect.name == V5.name and type(event) in (events.ResourceStateChanged, events.JobKilled)):
        return now
    return event.timestamp


def _decided(reply: bytes, now: float, dialect: Dialect) -> Iterator[Fact]:
    try:
        message = decode(reply, dialect.commands, keep_unknown=True)
    except RemoteProtocolError:
        yield Fact(False, FactKind.UNREADABLE, "", now, {"bytes": shown(reply)})
        return
    for command in message.events:
        # Batsim waits until the time of a command, and executes it at once if that is in the past.
        time = max(now, command.timestamp)
        for kind, subject, details in COMMAND_FACTS[type(command)](plain_command(command), dialect):
            yield Fact(False, kind, subject, time, details)


def _greeting(exchange: Exchange) -> tuple[Fact, ...]:
    """Return the features requested in the answer to Batsim 5's greeting, which are configuration in other versions."""
    try:
        words, asked = read_greeting(exchange.request), read_hello(exchange.reply).features
    except RemoteProtocolError:
        return (Fact(False, FactKind.UNREADABLE, "", 0.0, {"bytes": shown(exchange.reply)}),)
    details = {
        "compute_sharing": None,
        "dynamic_jobs": asked.dynamic_registration,
        "acknowledged": asked.dynamic_registration and asked.acknowledge_dynamic_jobs,
        "profile_reuse": asked.profile_reuse,
        "scheduler_config": words,
    }
    return (Fact(True, FactKind.CONFIGURATION, "", 0.0, details),)


def _opening(event: events.SimulationBegins, dialect: Dialect) -> Iterator[_About]:
    config, former = event.config, dialect.name == V14.name
    details = {
        "compute_sharing": event.compute_sharing,
        "dynamic_jobs": config.dynamic_jobs,
        "acknowledged": config.dynamic_jobs and config.dynamic_jobs_acknowledged,
        "profile_reuse": None if former else config.profile_reuse,
        "scheduler_config": None if former else config.scheduler_config,
    }
    if dialect.name != V5.name:  # v5 is configured by the greeting
        yield FactKind.CONFIGURATION, "", details
    for use, resources in (("compute", event.resources), ("storage", event.storages)):
        for resource in resources:
            yield FactKind.HOSTS, str(resource.id), _host(resource, use)
    for workload, profiles in event.profiles.items():
        for name, profile in profiles.items():
            yield FactKind.PROFILES, f"{workload}!{name}", {"profile": profile}


def _host(resource: events.DescribedHost, use: str) -> Members:
    """Describe a host without a role that repeats `use`, which only some versions write."""
    properties = {key: value for key, value in resource.properties.items() if key != "role" or value not in ("", use)}
    details = {"name": resource.name, "use": use, "state": resource.state, "properties": properties}
    return {**details, "zone": resource.zone_properties}


def _submission(event: events.JobSubmitted, _: Dialect) -> Iterator[_About]:
    yield FactKind.SUBMISSIONS, event.job_id, {**_job(event.job), "forwarded": event.profile}


def _job(job: Job | None) -> Members:
    """Describe a job; without details if it is described in Redis only."""
    if job is None:
        return _NO_DETAILS
    details = {"size": job.size, "walltime": job.walltime or "none", "profile": job.profile}
    return {**details, "submit_time": job.submit_time, "extra": dict(job.extra)}


def _kill_done(event: events.JobKilled, dialect: Dialect) -> Iterator[_About]:
    """Yield the kills, and in v1.4 the ends of the jobs, which it does not announce otherwise."""
    for job_id in event.job_ids:
        node = event.progress.get(job_id)
        if job_id in event.killed_ids and dialect.name == V14.name:
            yield FactKind.ENDS, job_id, {"state": events.COMPLETED_KILLED}
        unknown = "ended before" if event.has_progress else "not reported"
        yield FactKind.KILLS, job_id, {"progress": unknown if node is None else write_progress(node, "profile")}


def _power(item: events.ResourceStateChanged | commands.SetResourceState, _: Dialect) -> Iterator[_About]:
    for host in item.hosts:
        yield FactKind.POWER, str(host), {"pstate": item.state}


def _questions(item: events.Query, _: Dialect) -> Iterator[_About]:
    for name, arguments in item.requests.items():
        yield FactKind.QUESTIONS, name, {"arguments": arguments}


def _answers(item: events.Answer, _: Dialect) -> Iterator[_About]:
    joules = item.consumed_energy
    values = item.values if joules is None else {"consumed_energy": joules}
    for name, value in values.items():
        yield FactKind.ANSWERS, name, {"answer": value}


def _notice(item: events.Notify, _: Dialect) -> Iterator[_About]:
    if item.hosts is not None and item.kind in _AVAILABILITY:
        for host in item.hosts:
            yield FactKind.MACHINES, str(host), {"machine": _AVAILABILITY[item.kind]}
        return
    members = {name: value for name, value in item.members.items() if name != "type"}
    yield FactKind.NOTICES, item.kind, {"members": members}


def _measured(event: events.ProbeData, _: Dialect) -> Iterator[_About]:
    yield FactKind.ANSWERS, f"probe {event.probe_id}", {"hosts": event.hosts, "answer": event.values}


def _probe(command: commands.CreateProbe, _: Dialect) -> Iterator[_About]:
    about = {"hosts": command.hosts, "summary": command.summary, "period": command.period}
    yield FactKind.QUESTIONS, f"probe {command.probe_id}", about


def _nothing(*_: object) -> Iterable[_About]:
    return ()


def _unknown(event: events.Unknown, _: Dialect) -> Iterator[_About]:
    yield FactKind.UNKNOWN, event.type, {"data": event.data}


def _unknown_command(command: events.Unknown, _: Dialect) -> Iterator[_About]:
    """Omit the reason of a decision process that stops: files and lines of code are not facts of the run."""
    yield FactKind.UNKNOWN, command.type, {"data": "(stopped)" if command.type == STOP_EVENT else command.data}


def _start(command: commands.ExecuteJob, _: Dialect) -> Iterator[_About]:
    extras = {"storage": command.storage_mapping or "none", "additional_io": command.additional_io or "none"}
    yield FactKind.STARTS, command.job_id, {"hosts": command.hosts, "mapping": command.mapping or "usual", **extras}


def _kill(command: commands.KillJob, _: Dialect) -> Iterator[_About]:
    for job_id in command.job_ids:
        yield FactKind.KILLS, job_id, _NO_DETAILS


def _registration(command: commands.RegisterJob, _: Dialect) -> Iterator[_About]:
    """Yield the registration of a job, and in v1.4 that of the profile in the same command."""
    if command.profile is not None and command.job is not None:
        yield FactKind.PROFILES, f"{command.job.workload}!{command.job.profile}", {"profile": command.profile}
    yield FactKind.REGISTRATIONS, command.job_id, _job(command.job)


def _profile(command: commands.RegisterProfile, _: Dialect) -> Iterator[_About]:
    yield FactKind.PROFILES, f"{command.workload}!{command.name}", {"profile": command.profile}


def _one(kind: FactKind) -> _Describe:
    """Describe an event or command without a subject and details."""
    return lambda _item, _dialect: ((kind, "", _NO_DETAILS),)


def _of_job(kind: FactKind, *names: str) -> _Describe:
    """Describe an event or command of one job by attributes of these names."""
    return lambda item, _: ((kind, item.job_id, {name: getattr(item, name) for name in names}),)


_BOTH: Final[Mapping[type, _Describe]] = {
    events.Query: _questions,
    events.Answer: _answers,
    events.Notify: _notice,
    events.Nop: _nothing,
}

#: Class of an event -> the function that describes its facts.
EVENT_FACTS: Final[Mapping[type, _Describe]] = {
    **_BOTH,
    events.SimulationBegins: _opening,
    events.SimulationEnds: _one(FactKind.CLOSING),
    events.JobSubmitted: _submission,
    events.JobCompleted: _of_job(FactKind.ENDS, "state", "return_code", "hosts"),
    events.JobKilled: _kill_done,
    events.ResourceStateChanged: _power,
    events.RequestedCall: _one(FactKind.CALLS),
    events.ProbeData: _measured,
    events.FromJobMessage: _of_job(FactKind.MESSAGES, "message"),
    events.Unknown: _unknown,
}

#: Class of a command -> the function that describes its facts.
COMMAND_FACTS: Final[Mapping[type, _Describe]] = {
    **_BOTH,
    commands.ExecuteJob: _start,
    commands.RejectJob: _of_job(FactKind.REJECTIONS),
    commands.KillJob: _kill,
    commands.CallMeLater: _nothing,
    commands.CallPeriodically: _nothing,
    commands.StopCalls: _nothing,
    commands.CreateProbe: _probe,
    commands.StopProbe: _nothing,
    commands.StopSimulation: _one(FactKind.CLOSING),
    commands.RegisterJob: _registration,
    commands.RegisterProfile: _profile,
    commands.SetResourceState: _power,
    commands.SetJobMetadata: _of_job(FactKind.METADATA, "metadata"),
    commands.ChangeJobState: _of_job(FactKind.STATES, "state"),  # Batsim 4 ignores the reason
    commands.ToJobMessage: _of_job(FactKind.MESSAGES, "message"),
    events.Unknown: _unknown_command,
}

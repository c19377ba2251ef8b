"""Descriptions of messages: the events of a request, the decision of a reply."""

from __future__ import annotations

from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import RemoteProtocolError
from batsched_py.protocol.batsim5.envelope import parse
from batsched_py.protocol.batsim5.greeting import is_greeting
from batsched_py.protocol.codec import decode
from batsched_py.protocol.commands import CallMeLater, ExecuteJob, KillJob, RejectJob
from batsched_py.protocol.dialect import V4, Dialect
from batsched_py.protocol.dialects import V5, dialect_of, highest_host
from batsched_py.protocol.events import Nop, Unknown
from batsched_py.protocol.stopping import STOP_EVENT
from batsched_py.text.display import shown

#: Number of events of a request that are listed; others are only counted.
_MOST_EVENTS: Final = 4


class ReplyDecision(Struct, frozen=True):
    """The content of a reply, independent of its encoding; two replies are the same decision if these are equal.

    The order of commands matters. Batsim applies them one after the other, each to the state that the previous ones
    have left and, on a platform with a network, a latency later: another order is another schedule, if only by
    microseconds. `now` and the timestamps matter, too, because Batsim waits for them.

    Attributes:
        now: `now` of the reply; None if the reply cannot be read.
        commands: typed, in their order; () for a reply that cannot be read.
        stopped: True if the decision process stopped Batsim: neither the commands nor the reason matter then.
        unreadable: the bytes of a reply that is not a message, else b"".
    """

    now: float | None
    commands: tuple[Any, ...]
    stopped: bool = False
    unreadable: bytes = b""


def dialect_of_run(first_request: bytes) -> Dialect:
    """Return the dialect of a conversation that begins with this request; v4 if it cannot be determined.

    Its forms accept host sets within the platform of the request; for Batsim 5, whose greeting does not contain the
    hosts, of any size.
    """
    if is_greeting(first_request):
        return V5
    try:
        begins = parse(first_request)["events"][0]["data"]
        return dialect_of(begins).within(highest_host(begins))
    except (RemoteProtocolError, LookupError, TypeError, AttributeError):
        return V4.within(highest_host({}))


def read_decision(reply: bytes, dialect: Dialect, *, timed: bool = True) -> ReplyDecision:
    """Read the decision of a reply, also of one that Batsim would refuse; without `timed`, all its times are 0."""
    try:
        message = decode(reply, dialect.commands, keep_unknown=True)
    except RemoteProtocolError:
        return ReplyDecision(None, (), unreadable=reply)
    if any(type(command) is Unknown and command.type == STOP_EVENT for command in message.events):
        return ReplyDecision(message.now, (), stopped=True)
    commands = tuple(plain_command(command) for command in message.events if type(command) is not Nop)
    if timed:
        return ReplyDecision(message.now, commands)
    return ReplyDecision(0.0, tuple(replace(command, timestamp=0.0) for command in commands))


def reply_lines(reply: bytes, dialect: Dialect, asked_at: float | None) -> tuple[str, ...]:
    """Describe a reply, a line for each command; times other than `asked_at` are named, none if that is None."""
    decision = read_decision(reply, dialect)
    if decision.now is None:
        return (f"(no message: {shown(reply)})",)
    events = parse(reply)["events"]
    if decision.stopped:
        return tuple(f"(stopped: {_data(event).get('reason')})" for event in events if _type(event) == STOP_EVENT)
    written = [event for event in events if _type(event) != "NOP"]
    lines = [
        _command_line(command, event) + _when(command.timestamp, asked_at)
        for command, event in zip(decision.commands, written, strict=True)
    ]
    if asked_at is not None and decision.now != asked_at:
        lines.append(f"(the reply is sent at t={number_text(decision.now)})")
    return tuple(lines)


def request_time(request: bytes) -> float | None:
    """Return `now` of a request; None if it is not a message."""
    try:
        return float(parse(request)["now"])
    except RemoteProtocolError:
        return None


def request_line(request: bytes) -> str:
    """Describe a request on one line: the types of its events and the jobs they are about."""
    try:
        events = parse(request)["events"]
    except RemoteProtocolError:
        return f"(no message: {shown(request[:60])})"
    texts = [_event_text(event) for event in events[:_MOST_EVENTS]]
    if len(events) > _MOST_EVENTS:
        texts.append(f"{len(events) - _MOST_EVENTS} more")
    return ", ".join(texts) or "nothing"


def plain_command(command: Any) -> Any:
    """Remove a mapping equal to Batsim's default, executor i on the i-th host, which batsched always writes."""
    if type(command) is not ExecuteJob or command.mapping is None:
        return command
    anyhow = {position: position for position in range(len(command.hosts))}
    return replace(command, mapping=None) if command.mapping == anyhow else command


def number_text(number: float) -> str:
    """Return the shortest spelling that keeps the value: 10, 10.5, 0.1."""
    value = float(number)
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)


def _type(event: dict[str, Any]) -> Any:
    """Return the type of an event in either envelope."""
    return event["event_type"] if "event_type" in event else event.get("type")


def _data(event: dict[str, Any]) -> Any:
    """Return the data of an event in either envelope."""
    return event.get("event", {}) if "event_type" in event else event.get("data")


def _event_text(event: Any) -> str:
    if not isinstance(event, dict) or not isinstance(_data(event), dict):
        return shown(event)
    data = _data(event)
    members = ("job_id", "job_ids", "type", "resources", "host_ids", "call_me_later_id", "probe_id")
    about = next((data[member] for member in members if member in data), "")
    return f"{_type(event)} {', '.join(map(str, about)) if isinstance(about, list) else about}".rstrip()


def _command_line(command: Any, event: dict[str, Any]) -> str:
    """Describe the common commands; any other, and those with rare extras, by its data as it was written."""
    if _is_usual(command) and len(_data(event)) == (3 if _spelled_out(command, event) else 2):
        return f"EXECUTE_JOB {command.job_id} on {command.hosts}"
    if type(command) is RejectJob:
        return f"REJECT_JOB {command.job_id}"
    if type(command) is KillJob:
        return f"KILL_JOB {', '.join(command.job_ids)}"
    if type(command) is CallMeLater:
        return f"CALL_ME_LATER at t={number_text(command.at)}"
    return f"{_type(event)} {orjson.dumps(_data(event)).decode()}"


def _is_usual(command: Any) -> bool:
    """Return whether this starts a job without options for its executors."""
    return type(command) is ExecuteJob and command.mapping is None and command.placement == "spread"


def _spelled_out(command: ExecuteJob, event: dict[str, Any]) -> bool:
    """Return whether the mapping that was written is the usual one."""
    return command.mapping is None and "mapping" in _data(event)


def _when(timestamp: float, asked_at: float | None) -> str:
    return "" if asked_at is None or timestamp == asked_at else f" at t={number_text(timestamp)}"

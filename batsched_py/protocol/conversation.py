"""Both ends of the conversation: the strict alternation of requests and replies, and the order of their times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from batsched_py.model.features import Features
from batsched_py.protocol.batsim5.greeting import Hello, read_greeting, read_hello, write_greeting, write_hello
from batsched_py.protocol.begins import highest_of, write_flat_config
from batsched_py.protocol.codec import NONE_WRITTEN, Message, Written, as_read, decode, encode, read_document
from batsched_py.protocol.commands import CallMeLater, Command
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.dialects import V5, dialect_of, highest_host
from batsched_py.protocol.events import Config, Event, SimulationBegins, SimulationEnds, Unknown
from batsched_py.protocol.fields import Data
from batsched_py.protocol.forms import Envelope, Forms
from batsched_py.protocol.stopping import STOP_EVENT, text_without_end
from batsched_py.protocol.unread import UnreadMembers
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds

# Batsim and the decision process take turns, and all that may happen next is one table (`TURNS`), used by both ends: a
# simulator in which decision processes are tested must not accept what the other end would refuse. The two ends differ
# where real Batsim does: `DecisionSide` checks everything, `BatsimSide` accepts and refuses what Batsim accepts and
# refuses.
#
# Between two calls `turn` names who speaks next, `now` is the time of the latest request and never moves back, and
# `dialect` is fixed once SIMULATION_BEGINS was read. Turn and time change last, when a message has passed all checks.
# So a request that breaks a rule counts as not received, nothing of a wrong reply is sent, and an error can still be
# answered by `refusal`, which skips the checks on purpose: a reply that no Batsim accepts is the only way to stop it
# (ADR 7).
#
# Reading is ordered so that a hostile message costs little: its size is checked before it is parsed, and the highest
# host of the platform is known before any set of hosts is made. A few hundred kilobytes with large host numbers once
# took gigabytes.
#
# Messages inside one process need not be written (ADR 40). The end that sends them checks them, since the other end is
# this program, too.
#
# Cost: O(events) for each message, 3.5 us to read a request and to write its reply. Events that open or end a run are
# recognized by their class, so that all others are visited once.


class Turn(StrEnum):
    """State of the conversation, as the caller sees it."""

    BEFORE = "before SIMULATION_BEGINS"
    GREETED = "the greeting was answered, before SIMULATION_BEGINS"
    DECIDING = "the decision process decides"
    SIMULATING = "Batsim simulates"
    LAST_REPLY = "SIMULATION_ENDS awaits its empty reply"
    OVER = "over"

    #: Enum's own hash is a Python call for each lookup in a table.
    __hash__ = str.__hash__


#: (turn, action) -> next turn; an absent pair breaks the alternation.
TURNS: Final = {
    (Turn.BEFORE, "begin"): Turn.DECIDING,
    (Turn.BEFORE, "greeting"): Turn.GREETED,
    (Turn.GREETED, "begin"): Turn.DECIDING,
    (Turn.DECIDING, "reply"): Turn.SIMULATING,
    (Turn.SIMULATING, "request"): Turn.DECIDING,
    (Turn.SIMULATING, "end"): Turn.LAST_REPLY,
    (Turn.LAST_REPLY, "reply"): Turn.OVER,
}

_NEVER: Final = math.inf
#: SIMULATION_ENDS was received: there is nothing left to stop.
_ENDING: Final = frozenset({Turn.LAST_REPLY, Turn.OVER})
#: SIMULATION_BEGINS comes next.
_OPENING: Final = frozenset({Turn.BEFORE, Turn.GREETED})
#: The name of the member with an event's type -> the type of the first event.
_OPENS: Final = {"type": "SIMULATION_BEGINS", "event_type": "SimulationBeginsEvent"}
#: Events that need a second check of their message.
_NOTABLE: Final = frozenset({SimulationBegins, SimulationEnds, Unknown})


class DecisionSide:
    """The decision process's end: reads requests, writes replies, in the dialect of SIMULATION_BEGINS."""

    __slots__ = ("_config", "_events", "_limits", "_sharing", "_unread", "_warn", "dialect", "now", "turn")

    def __init__(self, warn: Callable[[str], None] | None = None, limits: Limits = LIMITS) -> None:
        """Begin a conversation; `warn`, if given, is called with each warning, one line."""
        self._limits = limits
        self.turn = Turn.BEFORE
        self.dialect: Dialect = V4
        #: Forms of events; they refuse host sets outside of the platform once that is known.
        self._events: Forms = V4.events
        #: The features requested from Batsim 5, as the configuration that other versions send.
        self._config: Config | None = None
        self._sharing = False
        #: `now` of the latest request.
        self.now = 0.0
        self._warn = warn
        self._unread = None if warn is None else UnreadMembers(warn)

    def receive(self, raw: bytes) -> Message:
        """Read a request. RemoteProtocolError if it breaks a rule; the state does not change then."""
        if len(raw) > self._limits.message_size:
            raise RemoteProtocolError("message", self._limits.rule("message_size"))
        document = self._events.envelope.parse(raw)
        opens, dialect, events = self.turn in _OPENING, self.dialect, self._events
        if opens:
            begins = _opening_data(document["events"], events.envelope)
            dialect = self.dialect if self.turn is Turn.GREETED else dialect_of(begins)
            self.dialect = dialect  # also if the message is refused: the refusal is written in it
            events = dialect.events.within(highest_host(begins))
        message = read_document(document, events, keep_unknown=True)
        if self._unread is not None:
            self._unread.look(document, message, events.envelope)
        if opens and self._config is not None:
            message = _configured(message, self._config, compute_sharing=self._sharing)
        self.turn = _checked_turn(self.turn, self.now, message, RemoteProtocolError, self._warn)
        self.now = message.now
        if opens:
            self._events = dialect.events.within(_highest_number(message.events[0]))
        return message

    def receive_unwritten(self, message: Message) -> None:
        """Receive an unencoded request from a `BatsimSide` in this process, which has checked it.

        RemoteProtocolError if it is out of turn.
        """
        turn = TURNS.get((self.turn, "request"))
        if turn is None:
            raise RemoteProtocolError("message", f"a request is out of turn; now: {self.turn.value}")
        self.turn, self.now = turn, message.now

    def greet(self, raw: bytes, hello: Hello, *, compute_sharing: bool = False) -> bytes:
        """Answer the greeting of Batsim 5, and switch to its dialect.

        Batsim 5 does not check whether jobs share hosts: `compute_sharing` says whether they may. RemoteProtocolError
        if the greeting is out of turn, or not a text.
        """
        turn = TURNS.get((self.turn, "greeting"))
        if turn is None:
            raise RemoteProtocolError("message", f"a greeting is out of turn; now: {self.turn.value}")
        words = read_greeting(raw)
        self.turn, self.dialect, self._events = turn, V5, V5.events
        self._config = _config(words, hello.features)
        self._sharing = compute_sharing
        return write_hello(hello)

    def reply(self, now: float, commands: Sequence[Command], written: Written = NONE_WRITTEN) -> bytes:
        """Write the reply to the latest request, some of whose commands may be `written` already.

        LocalProtocolError, without a change, if it breaks a rule.
        """
        turn, dialect = self._turn_after(now, commands), self.dialect
        message = Message(now, tuple(commands))
        raw = encode(message, dialect.commands, dialect.name, keep_unknown=False, written=written)
        self.turn = turn
        return raw

    def reply_unwritten(
        self, now: float, commands: Sequence[Command], written: Written = NONE_WRITTEN
    ) -> bytes | Message:
        """Reply within this process, like `reply`, without encoding if it would not change the message."""
        turn = self._turn_after(now, commands)
        message = as_read(now, commands, self.dialect.commands)
        if message is None:
            return self.reply(now, commands, written)
        self.turn = turn
        return message

    def _turn_after(self, now: float, commands: Sequence[Command]) -> Turn:
        """Return the turn after a reply; LocalProtocolError if it breaks a rule."""
        turn = TURNS.get((self.turn, "reply"))
        if turn is None:
            raise LocalProtocolError("message", f"must answer a request; now: {self.turn.value}")
        if self.turn is Turn.LAST_REPLY and commands:
            raise LocalProtocolError("events", "must be empty in the reply to SIMULATION_ENDS")
        if not self.now <= now < _NEVER:
            raise LocalProtocolError("now", f"must be at or after the request's {self.now!r}, not {now!r}")
        before = -_NEVER
        for position, command in enumerate(commands):
            timestamp = command.timestamp
            if not before <= timestamp <= now:
                raise LocalProtocolError(
                    f"events[{position}].timestamp", f"must ascend and be at most now={now!r}, not {timestamp!r}"
                )
            if type(command) is CallMeLater and not command.at > now and self.dialect is not V5:
                raise LocalProtocolError(
                    f"events[{position}].data.timestamp", f"must be later than now={now!r}, not {command.at!r}"
                )
            before = timestamp
        return turn

    def refusal(self, reason: str) -> bytes:
        """Write a reply that no version of Batsim, or WRENCH, accepts: it stops instead of waiting forever.

        After SIMULATION_ENDS it is the empty reply that Batsim expects, to complete its files.
        """
        if self.turn in _ENDING:
            return encode(Message(self.now, ()), self.dialect.commands, self.dialect.name, keep_unknown=False)
        if self.dialect.is_wrench:
            return text_without_end(reason)
        readable = reason.encode(errors="replace").decode()  # names of files may contain characters that JSON may not
        envelope = self.dialect.commands.envelope
        event = {"timestamp": self.now, envelope.kind: STOP_EVENT, envelope.data: {"reason": readable}}
        return envelope.dump({"now": self.now, "events": [event]})


class BatsimSide:
    """Batsim's end, for a simulator: writes requests, reads replies as leniently and as strictly as real Batsim."""

    __slots__ = ("_commands", "dialect", "now", "turn")

    def __init__(self, dialect: Dialect = V4) -> None:
        self.turn = Turn.BEFORE
        self.dialect = dialect
        #: Forms of commands. They refuse only host sets beyond the size of the platform: the referee checks which hosts
        #: exist.
        self._commands: Forms = dialect.commands
        #: `now` of the latest request.
        self.now = 0.0

    def greeting(self, words: str) -> bytes:
        """Write the first message of Batsim 5: a text of the user."""
        return write_greeting(words)

    def receive_hello(self, raw: bytes) -> Hello:
        """Read the answer to the greeting. RemoteProtocolError for anything that makes Batsim abort."""
        hello = read_hello(raw)
        self.turn = TURNS[self.turn, "greeting"]
        return hello

    def request(self, now: float, events: Sequence[Event]) -> bytes:
        """Write the next request. LocalProtocolError if it breaks a rule that the other end checks."""
        message = Message(now, tuple(events))
        turn = _checked_turn(self.turn, self.now, message, LocalProtocolError)
        raw = encode(message, self.dialect.events, self.dialect.name, keep_unknown=True)
        if self.turn in _OPENING:
            count = len(events[0].resources) + len(events[0].storages) if type(events[0]) is SimulationBegins else 0
            self._commands = self.dialect.commands.within(highest_of(count))
        self.turn, self.now = turn, now
        return raw

    def request_unwritten(self, now: float, events: Sequence[Event]) -> bytes | Message:
        """Return the next request for a receiver in this process, without encoding if it would not change the message.

        The first and the last request are always encoded. LocalProtocolError as from `request`.
        """
        message = as_read(now, events, self.dialect.events) if self.turn is Turn.SIMULATING else None
        if message is None:
            return self.request(now, events)
        self.turn = _checked_turn(self.turn, self.now, message, LocalProtocolError)
        self.now = now
        return message

    def receive(self, raw: bytes) -> Message:
        """Read a reply. RemoteProtocolError for anything that makes Batsim abort; times before its clock are accepted.

        The last reply must be empty, except that Batsim 1.4 accepts any content.
        """
        self._turn_after_reply()
        message = decode(raw, self._commands, keep_unknown=False, dialect_name=self.dialect.name)
        self.receive_unwritten(message)
        return message

    def receive_unwritten(self, message: Message) -> None:
        """Receive an unencoded reply; RemoteProtocolError as from `receive`."""
        turn = self._turn_after_reply()
        before = 0.0
        for position, command in enumerate(message.events):
            if command.timestamp > message.now:
                rule = f"must be at most the reply's now={message.now!r}, not {command.timestamp!r}"
                raise RemoteProtocolError(f"events[{position}].timestamp", rule)
            if command.timestamp < before and self.dialect is V5:
                rule = f"must not be before that of the event before, {before!r}, as {command.timestamp!r} is"
                raise RemoteProtocolError(f"events[{position}].timestamp", rule)
            before = command.timestamp
        if turn is Turn.OVER and message.events and self.dialect is not V14:
            raise RemoteProtocolError("events", "must be empty in the reply to SIMULATION_ENDS")
        self.turn = turn

    def _turn_after_reply(self) -> Turn:
        turn = TURNS.get((self.turn, "reply"))
        if turn is None:
            raise RemoteProtocolError("message", f"a reply is out of turn; now: {self.turn.value}")
        return turn


def _opening_data(events: list[Any], envelope: Envelope) -> Data:
    """Return the members of SIMULATION_BEGINS, which must open the first request, whatever the dialect."""
    first, name = events[0] if events else None, _OPENS[envelope.kind]
    if isinstance(first, dict) and first.get(envelope.kind) == name:
        data = first.get(envelope.data)
        if isinstance(data, dict):
            return data
    raise RemoteProtocolError(f"events[0].{envelope.kind}", f"must be {name} in the first message")


def _config(words: str, features: Features) -> Config:
    """Return the features requested from Batsim 5 as the configuration that other versions send."""
    return Config(
        profiles_forwarded=features.forward_profiles_on_job_submission,
        dynamic_jobs=features.dynamic_registration,
        dynamic_jobs_acknowledged=features.acknowledge_dynamic_jobs,
        profile_reuse=features.profile_reuse,
        scheduler_config=words,
    )


def _configured(message: Message, config: Config, *, compute_sharing: bool) -> Message:
    """Put the configuration into the first event.

    Without a workload, no event marks the last static job; without a list of external events, no event marks the last
    external event.
    """
    begins, *others = message.events
    events_come = bool(begins.extra.get("external_event_lists", True))
    config = replace(config, static_jobs=bool(begins.workloads), forward_unknown_events=events_come)
    config = replace(config, members=write_flat_config(config))
    configured = replace(begins, config=config, compute_sharing=compute_sharing)
    return Message(message.now, (configured, *others))


def _highest_number(event: SimulationBegins) -> int:
    """Return the highest number of a host or a storage."""
    return max((resource.id for resource in (*event.resources, *event.storages)), default=0)


def _checked_turn(
    turn: Turn,
    previous: float,
    message: Message,
    error: type[ProtocolError],
    warn: Callable[[str], None] | None = None,
) -> Turn:
    """Return the turn after a request; `error` if it is out of turn, out of order, or time goes back (E3)."""
    now = message.now
    if not previous <= now < _NEVER:
        raise error("now", f"must not go back: it was {previous!r}, it is {now!r}")
    before = -_NEVER
    what = "request"
    for event in message.events:
        if not before <= event.timestamp <= now:
            rule = f"must ascend and be at most now={now!r}, not {event.timestamp!r}"
            raise error(f"events[{_position(event, message)}].timestamp", rule)
        before = event.timestamp
        if type(event) in _NOTABLE:
            what = _noted(event, message, what, error, warn)
    next_turn = TURNS.get((turn, what))
    if next_turn is None:
        received = {"begin": "SIMULATION_BEGINS", "end": "SIMULATION_ENDS"}.get(what, "a request")
        raise error("message", f"{received} is out of turn; now: {turn.value}")
    return next_turn


def _noted(
    event: Event, message: Message, what: str, error: type[ProtocolError], warn: Callable[[str], None] | None
) -> str:
    """Return the kind of a message after one of its notable events: "begin", "end", or the kind before."""
    if type(event) is Unknown:
        if warn is not None:
            kind = displayed(event.type)
            warn(f"t={seconds(message.now)}: event of unknown type {kind} kept, but nothing is done with it")
        return what
    kinds = [type(other) for other in message.events]
    if SimulationBegins in kinds[1:]:
        raise error("events", "SIMULATION_BEGINS must be the first event")
    if SimulationEnds in kinds[:-1]:
        raise error("events", "SIMULATION_ENDS must be the last event")
    if type(event) is SimulationBegins:
        return "begin"
    if kinds[0] is SimulationBegins:
        raise error("events", "SIMULATION_ENDS must not be in the message of SIMULATION_BEGINS")
    return "end"


def _position(event: Event, message: Message) -> int:
    return next(position for position, other in enumerate(message.events) if other is event)

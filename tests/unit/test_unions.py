"""Tables keyed by kinds of events and commands: each has a row for every member of the union."""

from __future__ import annotations

import inspect
from typing import Any, get_args

import pytest

from batsched_py.protocol import commands, events
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.dialects import V5
from batsched_py.simulator.referee.referee import Referee
from batsched_py.state.state import CHANGES
from batsched_py.transcripts.facts import COMMAND_FACTS, EVENT_FACTS, FactKind
from batsched_py.transcripts.report import DECIDED_WORDS, EVENT_WORDS
from tests.unit.protocol.strategies import COMMANDS_V4, COMMANDS_V14, EVENTS_V4, EVENTS_V14
from tests.unit.protocol.strategies_v5 import COMMANDS_V5, EVENTS_V5

EVENTS = set(get_args(events.Event))
COMMANDS = set(get_args(commands.Command))

#: Kinds that no dialect writes: an empty list of events says Nop, and Unknown is written as it came.
UNWRITTEN = {events.Nop, events.Unknown}
#: Kinds that leave the state as it is.
WITHOUT_EFFECT = {
    events.SimulationEnds,
    events.FromJobMessage,
    events.Nop,
    events.Unknown,
    events.ProbeData,
    commands.SetJobMetadata,
    commands.ToJobMessage,
}
#: Kinds that Batsim 5 alone has; and those of earlier versions that it has not.
ONLY_V5 = {
    events.ProbeData,
    commands.CallPeriodically,
    commands.StopCalls,
    commands.CreateProbe,
    commands.StopProbe,
    commands.StopSimulation,
}
NOT_IN_V5 = {
    events.FromJobMessage,
    events.Query,
    events.Answer,
    commands.SetJobMetadata,
    commands.ChangeJobState,
    commands.ToJobMessage,
}


def test_the_unions_have_every_class_with_a_timestamp() -> None:
    """Classes with a time are events or commands; the others are parts of them."""
    defined = {
        found
        for module in (events, commands)
        for _, found in inspect.getmembers(module, inspect.isclass)
        if "timestamp" in getattr(found, "__struct_fields__", ())
    }
    assert defined == EVENTS | COMMANDS


@pytest.mark.parametrize(("dialect", "missing"), [(V4, ONLY_V5), (V14, ONLY_V5), (V5, NOT_IN_V5)])
def test_each_dialect_writes_every_event_that_it_has(dialect: Dialect, missing: set[type]) -> None:
    """A new event needs a row in `event_forms`."""
    assert dialect.events.writers.keys() == EVENTS - UNWRITTEN - missing


@pytest.mark.parametrize(
    ("dialect", "missing"), [(V4, ONLY_V5), (V14, ONLY_V5 | {commands.SetJobMetadata}), (V5, NOT_IN_V5)]
)
def test_each_dialect_writes_every_command_that_it_has(dialect: Dialect, missing: set[type]) -> None:
    """A new command needs a row in `command_forms`; Batsim 1 has no metadata of jobs."""
    assert dialect.commands.writers.keys() == COMMANDS - UNWRITTEN - missing


def test_the_state_knows_what_every_kind_changes() -> None:
    """A kind without a row changes nothing, and stands in the list above."""
    assert CHANGES.keys() == (EVENTS | COMMANDS) - WITHOUT_EFFECT


def test_the_referee_judges_every_command() -> None:
    """It can apply or refuse all that a dialect reads."""
    parts: list[Any] = [_Part()] * (len(inspect.signature(Referee).parameters))
    assert Referee(*parts)._appliers.keys() == COMMANDS


def test_every_event_and_command_of_a_run_is_a_fact_or_none() -> None:
    """A recording may hold commands of types that nobody knows."""
    assert EVENT_FACTS.keys() == EVENTS
    assert COMMAND_FACTS.keys() == COMMANDS | {events.Unknown}


def test_every_kind_of_fact_has_words() -> None:
    """Batsim told it, or it was decided."""
    assert EVENT_WORDS.keys() | DECIDED_WORDS.keys() == set(FactKind)


def test_every_event_and_command_is_drawn_by_the_properties() -> None:
    """So that round trips are tried for a new one, too."""
    assert EVENTS_V4.keys() == EVENTS_V14.keys() == EVENTS - UNWRITTEN - ONLY_V5
    assert COMMANDS_V4.keys() | COMMANDS_V14.keys() == COMMANDS - UNWRITTEN - ONLY_V5
    assert EVENTS_V5.keys() | COMMANDS_V5.keys() == (EVENTS | COMMANDS) - UNWRITTEN - NOT_IN_V5


class _Part:
    """Anything that the referee calls."""

    def __getattr__(self, name: str) -> _Part:
        return self

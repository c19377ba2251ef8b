"""Host sets of messages: what they cost, and which hosts they may name."""

from __future__ import annotations

import random
from typing import Any

import pytest

from batsched_py import bits as bit_sets
from batsched_py.bits import MAX_HOST, format_bits, parse_bits
from batsched_py.errors import RemoteProtocolError
from batsched_py.hostset import HostSet
from batsched_py.protocol.conversation import BatsimSide, DecisionSide, Turn
from batsched_py.protocol.dialect import V14
from batsched_py.protocol.events import SimulationBegins
from batsched_py.reading.limits import Limits
from batsched_py.transcripts.decisions import dialect_of_run, read_decision
from tests.builders import begins, begins_data
from tests.memory import measured
from tests.unit.protocol.messages import OPENING_V14, Document, batsim_side, decision_side, document, raw

#: An interval set of two hosts that are far apart, each spelling another one: 1.25 MB of bits each, if they are made.
FAR = [f"{number},{MAX_HOST}" for number in range(3000)]
ALL_FAIL = [("NOTIFY", {"type": "event_machine_unavailable", "resources": far}) for far in FAR]
FAILURES = raw(document(1.0, *ALL_FAIL))
STARTS = raw(document(0.0, *(("EXECUTE_JOB", {"job_id": "w0!1", "alloc": far}) for far in FAR)))
SWITCHES = raw(document(0.0, *(("SET_RESOURCE_STATE", {"resources": far, "state": "0"}) for far in FAR)))
ABOVE_ALL = f"host {MAX_HOST} is above"


def deciding(opening: Document) -> DecisionSide:
    """Our end, after the reply to this opening."""
    return decision_side(Turn.SIMULATING, opening)


@pytest.mark.parametrize("opening", [document(0.0, ("SIMULATION_BEGINS", begins_data(4))), OPENING_V14])
def test_hosts_beyond_the_platform_are_refused_before_bits_are_made(opening: Document) -> None:
    """A message of a few hundred kilobytes takes not much more than that, and nothing of it is kept."""
    side = deciding(opening)
    with measured() as memory, pytest.raises(RemoteProtocolError, match=ABOVE_ALL):
        side.receive(FAILURES)
    assert memory.peak < 20 * len(FAILURES)
    assert memory.kept < 100_000  # what the first error of a process keeps, such as compiled patterns


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("NOTIFY", {"type": "event_machine_available", "resources": "4"}),
        ("RESOURCE_STATE_CHANGED", {"resources": "0-4", "state": "1"}),
        ("JOB_COMPLETED", {"job_id": "w0!1", "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": "4"}),
    ],
)
def test_the_first_host_beyond_the_platform_is_refused(kind: str, data: dict[str, Any]) -> None:
    """The line names the member, the host and the highest one."""
    side = deciding(document(0.0, ("SIMULATION_BEGINS", begins_data(4))))
    with pytest.raises(RemoteProtocolError, match=r"^events\[0\]\.data\.\w+: host 4 is above 3, .*\(" + kind):
        side.receive(raw(document(1.0, (kind, data))))


def test_the_opening_message_itself_is_bounded() -> None:
    """By the number of hosts that it lists: which they are is not known before all are read."""
    opening = raw(document(1.0, ("SIMULATION_BEGINS", begins_data(4)), *ALL_FAIL))
    with measured() as memory, pytest.raises(RemoteProtocolError, match=ABOVE_ALL):
        DecisionSide().receive(opening)
    assert memory.peak < 20 * len(opening)


def test_few_hosts_cannot_have_high_numbers() -> None:
    """A single host numbered 10 000 000 would make all sets large."""
    data = begins_data(1)
    data["compute_resources"][0]["id"] = 1024
    with pytest.raises(RemoteProtocolError, match=r"compute_resources\[0\]\.id: must be between 0 and 1023, "):
        DecisionSide().receive(raw(document(0.0, ("SIMULATION_BEGINS", data))))


@pytest.mark.parametrize("reply", [STARTS, SWITCHES])
def test_replies_that_name_far_hosts_are_refused_before_bits_are_made(reply: bytes) -> None:
    """The simulator's referee judges hosts that might be there, not such."""
    side = batsim_side(Turn.DECIDING)
    with measured() as memory, pytest.raises(RemoteProtocolError, match=ABOVE_ALL):
        side.receive(reply)
    assert memory.peak < 20 * len(reply)


def test_a_host_just_beyond_the_platform_is_left_to_the_referee() -> None:
    """It says which job was to run there."""
    side = BatsimSide()
    opening = begins(4)
    assert type(opening) is SimulationBegins
    side.request(0.0, [opening])
    (command,) = side.receive(raw(document(0.0, ("EXECUTE_JOB", {"job_id": "w0!1", "alloc": "4"})))).events
    assert command.hosts == HostSet.of(4)


def test_recordings_are_bounded_by_their_own_platform() -> None:
    """A reply in one that names far hosts is none that could be compared."""
    dialect = dialect_of_run(raw(OPENING_V14))
    assert dialect.name == V14.name
    with measured() as memory:
        assert read_decision(STARTS, dialect).unreadable == STARTS
    assert memory.peak < 20 * len(STARTS)


def test_what_is_remembered_is_bounded_in_bytes() -> None:
    """However large the sets are, and however their texts are spelled."""
    with measured() as memory:
        for number in range(400):
            format_bits(parse_bits(f"{number} {4_000_000 + number}"))  # half a megabyte each
    assert memory.kept < 40_000_000


def test_a_long_text_costs_what_its_length_does() -> None:
    """High numbers in any order, each of which would shift the bits of a large machine."""
    numbers = list(range(0, 1_000_000, 20))
    random.Random(1).shuffle(numbers)
    text = ",".join(f"{number}-{number + 9}" for number in numbers)
    assert len(text) > bit_sets._LONG_TEXT
    with measured() as memory:
        bits = bit_sets._read_bits(text, MAX_HOST)
    assert memory.peak < 40 * len(text)
    assert bits == HostSet.parse(" ".join(f"{number}-{number + 9}" for number in sorted(numbers))).bits
    assert bits.bit_count() == 500_000
    assert bits & (1 << 40) - 1 == 0x3FF003FF


def test_a_message_above_the_limit_is_refused_unread() -> None:
    """A message of just that size is read."""
    opening = raw(document(0.0, ("SIMULATION_BEGINS", begins_data(4))))
    DecisionSide(limits=Limits(message_size=len(opening))).receive(opening)
    with pytest.raises(RemoteProtocolError, match=r"^message: must be at most 100 bytes in a .*--limit message-size=N"):
        DecisionSide(limits=Limits(message_size=100)).receive(opening)

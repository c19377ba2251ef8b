"""Each member of each message of Batsim 5, wrong: nothing but a protocol error comes out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from batsched_py.errors import RemoteProtocolError
from batsched_py.protocol.batsim5.greeting import read_hello
from batsched_py.protocol.batsim5.profiles import read_extra
from batsched_py.protocol.codec import decode
from batsched_py.protocol.dialects import V5
from tests.clone import files
from tests.fuzz.judging import limited

Place = tuple[str | int, ...]

#: One of each type, and such as are nearly right.
WRONG: tuple[Any, ...] = (None, True, 0, -1, 1.5, 2**70, "", "a!b", [], {}, [[]], [{}], {"a": []}, [1], ["a"])
#: What no recording has.
TRACE = {
    "event_type": "RegisterProfileEvent",
    "timestamp": 0,
    "event": {
        "profile": {
            "id": "w0!a",
            "profile_type": "TraceReplayProfile",
            "profile": {"trace_type": "SMPI", "filename": "a"},
        }
    },
}


def recorded(side: str) -> Iterator[dict[str, Any]]:
    """An event of each kind and set of members that one side says in the recordings."""
    found = dict[str, dict[str, Any]]()
    for path in files("tests/data/batsim5/*.jsonl"):
        for line in map(json.loads, path.read_text().splitlines()):
            said = line.get("data") if line["from"] == side else None
            for event in said.get("events") or () if isinstance(said, dict) else ():
                if isinstance(event, dict) and isinstance(event.get("event"), dict):
                    found.setdefault(f"{event.get('event_type')} {sorted(event['event'])}", event)
    yield from found.values()


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the places of all values in an event; of lists, those of the first two items."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*place, key)
        yield from places(inner, (*place, key))


def changed(event: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    """The event with this value there."""
    copy: Any = deepcopy(event)
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return copy  # type: ignore[no-any-return]


def read(event: dict[str, Any], side: str) -> None:
    """Read a message with this event alone."""
    raw = json.dumps({"now": 1e9, "events": [event]}).encode() + b"\0"
    if event.get("event_type") == "EDCHelloEvent":
        read_hello(b"\2\0\0\0" + raw)
    else:
        decode(raw, V5.events if side == "batsim" else V5.commands, keep_unknown=False)


@pytest.mark.parametrize("side", ["batsim", "edc"])
def test_a_wrong_member_is_read_or_a_protocol_error(side: str) -> None:
    """This holds for any type."""
    tried, refused = 0, list[str]()
    for event in [*recorded(side), *([TRACE] if side == "edc" else [])]:
        for place in places(event):
            for value in WRONG:
                tried += 1
                try:
                    read(changed(event, place, value), side)
                except RemoteProtocolError as error:
                    refused.append(str(error))
    assert tried > 2000
    assert all(line.isprintable() for line in refused)


@pytest.mark.parametrize("levels", [1, 250, 300, 1000, 100_000])
def test_extra_data_nests_as_deeply_as_it_likes(levels: int) -> None:
    """It is an object as long as that can be written, else a text."""
    said = '{"a":' * levels + "1" + "}" * levels
    members = read_extra(said, frozenset())
    assert list(members) == (["a"] if levels < 254 else ["extra_data"])
    assert levels < 254 or members["extra_data"] == said


def test_types_are_looked_for_once() -> None:
    """An object with a hundred thousand of them is fast: each was looked for among all before it."""
    members = {f"{number}_type": 1 for number in range(100_000)} | {str(number): 1 for number in range(100_000)}
    with limited(), pytest.raises(RemoteProtocolError, match="is not a member here"):
        read({"event_type": "ExecuteJobEvent", "timestamp": 0, "event": members}, "edc")


@pytest.mark.parametrize("members", [{"\x1b[2J": 1}, {"\x1b[2J": 1, "a": 1, "\x1b[2J_type": 1}])
def test_a_wrong_name_is_displayed(members: dict[str, int]) -> None:
    """In an event and beside it, without a command to a terminal."""
    for event in ({"event_type": "ExecuteJobEvent", "timestamp": 0, "event": members}, members):
        with pytest.raises(RemoteProtocolError) as caught:
            read(event, "edc")
        assert str(caught.value).isprintable()

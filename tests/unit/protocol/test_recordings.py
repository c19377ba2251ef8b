"""Conversations of real Batsim 4.2.1 and batsched: they are read and written back without loss."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from batsched_py.protocol.codec import Message, decode
from batsched_py.protocol.conversation import BatsimSide, DecisionSide, Turn
from batsched_py.protocol.dialect import V4
from tests.clone import files

RUNS = files("tests/data/batsim/*/transcript.jsonl")
each_run = pytest.mark.parametrize("path", RUNS, ids=lambda path: path.parent.name)


def exchanges(path: Path) -> list[tuple[bytes, bytes]]:
    """(request, reply) pairs of a recording."""
    said = {"batsim": [], "scheduler": []}  # type: dict[str, list[bytes]]
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        said[entry["from"]].append(entry["bytes"].encode())
    return list(zip(said["batsim"], said["scheduler"], strict=True))


def talked(path: Path, ours: DecisionSide, batsim: BatsimSide) -> Iterator[tuple[bytes, bytes, Message, bytes]]:
    """Both ends read and write a recording: (request, as written by Batsim's end, decision, as written by ours)."""
    for request, reply in exchanges(path):
        message = ours.receive(request)
        written = batsim.request(message.now, message.events)
        decision = batsim.receive(reply)
        yield request, written, decision, ours.reply(decision.now, decision.events)


def spelled(raw: bytes) -> str:
    """A message without the layout: order of members and types of numbers stay."""
    return json.dumps(json.loads(raw))


def test_there_are_recordings() -> None:
    """The tests below do try something."""
    assert len(RUNS) >= 13


@each_run
def test_each_request_is_written_back_as_batsim_wrote_it(path: Path) -> None:
    """Same members, same order, same number types: typed events hold all that the message said."""
    for request, written, _, _ in talked(path, DecisionSide(pytest.fail), BatsimSide()):
        assert spelled(written) == spelled(request)


@each_run
def test_each_reply_is_written_back_as_the_same_decision(path: Path) -> None:
    """A reply read by Batsim's end, written by ours and read again says the same."""
    for _, _, decision, written in talked(path, DecisionSide(pytest.fail), BatsimSide()):
        assert decode(written, V4.commands, keep_unknown=False) == decision


@each_run
def test_a_recorded_conversation_ends_at_both_ends(path: Path) -> None:
    """After the last reply nobody may say anything more."""
    ours, batsim = DecisionSide(pytest.fail), BatsimSide()
    assert len(list(talked(path, ours, batsim))) > 2
    assert (ours.turn, batsim.turn) == (Turn.OVER, Turn.OVER)


def test_the_recordings_hold_what_they_are_meant_to_try() -> None:
    """So that a run that is taken away is missed."""
    seen: Counter[str] = Counter()
    for path in RUNS:
        for request, reply in exchanges(path):
            messages: tuple[Message, ...] = (
                decode(request, V4.events, keep_unknown=False),
                decode(reply, V4.commands, keep_unknown=False),
            )
            seen.update(type(event).__name__ for message in messages for event in message.events)
    assert set(seen) == {
        "Answer",
        "ExecuteJob",
        "JobCompleted",
        "JobSubmitted",
        "Notify",
        "Query",
        "RegisterJob",
        "RegisterProfile",
        "RejectJob",
        "ResourceStateChanged",
        "SetJobMetadata",
        "SetResourceState",
        "SimulationBegins",
        "SimulationEnds",
    }

"""A replay goes as far as the decisions agree."""

from __future__ import annotations

import pytest

from batsched_py.errors import AlgorithmError, StoreError
from batsched_py.protocol.conversation import DecisionSide
from batsched_py.transcripts.replay import Replay, replay
from batsched_py.transcripts.transcript import Exchange

NOTHING = b'{"now":0.0,"events":[]}'
REJECTION = b'{"now":0.0,"events":[{"timestamp":0.0,"type":"REJECT_JOB","data":{"job_id":"w0!1"}}]}'
STOP = b'{"now":0.0,"events":[{"timestamp":0.0,"type":"BATSCHED_PY_STOPPED","data":{"reason":"t=0: it was late"}}]}'


def refusal(error: BaseException) -> bytes:
    return DecisionSide().refusal(str(error))


def recording(*replies: bytes) -> list[Exchange]:
    return [Exchange(number, b"%d" % number, reply) for number, reply in enumerate(replies)]


def test_the_same_decisions_are_counted() -> None:
    """Also those that are spelled otherwise."""
    spelled = b'{"events": [], "now": 0}'
    assert replay(recording(NOTHING, spelled, NOTHING), lambda request: NOTHING, refusal) == Replay(3, 2, None)


def test_the_first_difference_ends_the_replay() -> None:
    """The recorded requests that follow belong to another run."""
    asked = []

    def answer(request: bytes) -> bytes:
        asked.append(request)
        return REJECTION

    outcome = replay(recording(REJECTION, NOTHING, REJECTION), answer, refusal)
    assert outcome.difference is not None
    assert outcome.difference.exchange == 1
    assert (outcome.exchanges, outcome.identical, outcome.left) == (2, 1, 1)
    assert asked == [b"0", b"1"]


def test_an_error_where_the_recording_has_a_decision_is_a_difference() -> None:
    """It is told in the place of the decision."""

    def answer(request: bytes) -> bytes:
        raise AlgorithmError("t=0: it was late")

    outcome = replay(recording(NOTHING), answer, refusal)
    assert outcome.difference is not None
    assert outcome.difference.lines == (("-", "(nothing)"), ("+", "(stopped: t=0: it was late)"))


def test_a_failure_that_was_recorded_is_the_same_failure() -> None:
    """Whatever the words it is told in: they name files and lines of the code."""

    def answer(request: bytes) -> bytes:
        raise AlgorithmError("t=0: it was early")

    assert replay(recording(STOP), answer, refusal) == Replay(1, 0, None)


@pytest.mark.parametrize("recorded", [NOTHING, STOP])
def test_jobs_that_cannot_be_read_from_redis_are_no_difference(recorded: bytes) -> None:
    """The algorithm was never asked; the caller hears why."""

    def answer(request: bytes) -> bytes:
        raise StoreError("Redis 127.0.0.1:6379: connection refused")

    with pytest.raises(StoreError, match="connection refused"):
        replay(recording(recorded), answer, refusal)


def test_the_dialect_is_that_of_the_first_request() -> None:
    """v1.4 has commands that v4 does not read."""
    begins = (
        b'{"now":0,"events":[{"timestamp":0,"type":"SIMULATION_BEGINS","data":{"nb_resources":0,"resources_data":[]}}]}'
    )
    submits = '{"now":%s,"events":[{"timestamp":0,"type":"SUBMIT_JOB","data":{"job_id":"w0!1"}}]}'
    exchange = Exchange(0, begins, (submits % "0").encode())
    assert replay([exchange], lambda request: (submits % "0.0").encode(), refusal) == Replay(1, 0, None)


def test_an_empty_recording_is_no_difference() -> None:
    """A run that was interrupted before Batsim came."""
    assert replay([], lambda request: NOTHING, refusal) == Replay(0, 0, None)

"""Decisions that take long, by a clock that the test has."""

from __future__ import annotations

from typing import cast

import pytest

from batsched_py.cli.shared.slow_decisions import DecisionWatch, watched_decisions
from batsched_py.interruption import Interruption
from batsched_py.runs.choice import Choice, make_session
from batsched_py.session.session import Session


class Deciding:
    """A session, as far as it is looked at."""

    def __init__(self) -> None:
        self.messages = 0
        self.deciding = ""


def watch(session: Deciding) -> DecisionWatch:
    """A watch of it, at a place."""
    return DecisionWatch(cast(Session, session), lambda: " (mine.py:7)")


def test_a_long_decision_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """With its message and the line; a next one is told again, short ones are not."""
    session = Deciding()
    looking = watch(session)
    session.deciding = "t=5: m on JobSubmitted w0!A"
    for now in range(30):
        looking.look(float(now))
    assert looking.lasted(30.0) == 30.0
    session.messages, session.deciding = 1, ""
    for now in range(30, 60):
        looking.look(float(now))
    assert looking.lasted(60.0) == 0.0
    for now in range(60, 90):
        session.messages, session.deciding = now, "t=6: m on JobCompleted w0!A"
        looking.look(float(now))
    for now in range(90, 120):
        looking.look(float(now))
    assert capsys.readouterr().err.splitlines() == [
        "batsched-py: warning: t=5: m on JobSubmitted w0!A takes more than 10 s (mine.py:7)",
        "batsched-py: warning: t=6: m on JobCompleted w0!A takes more than 10 s (mine.py:7)",
    ]


def test_an_interruption_elsewhere_tells_no_time() -> None:
    """Such as while the simulator computes; the thread that looks has ended then."""
    with (
        pytest.raises(Interruption, match=r"^interrupted \(SIGINT\)$"),
        watched_decisions(make_session(Choice("easy"))),
    ):
        raise Interruption(2)
